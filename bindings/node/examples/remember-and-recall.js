// Remembers a few things in its first run, and recalls them in that and every later one.
import { Store } from 'varve';

const store = await Store.open(process.argv[2] ?? './memory');
const session = await store.session('kitchen', { userId: 'ann' });
if (await session.count() === 0) {  // the first run
  await session.add({
    type: 'preference', content: 'Ann drinks tea, never coffee',
    tags: ['drinks', 'people.ann'], importance: 0.9 });
  await session.add({ type: 'finding', content: 'The kettle needs three minutes' });
}

for await (const { entry } of session.results({ question: 'What does Ann drink?' })) {
  console.log(entry.content);
}
const people = await session.count({ tags: { include: ['people'] } });
console.log(`${await session.count()} entries, ${people} of them about people`);
await store.close();
