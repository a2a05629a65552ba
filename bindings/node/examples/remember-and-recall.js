// Remembers a few things, and recalls them in another session of the program.
import { Store } from 'varve';

const directory = process.argv[2] ?? './memory';

const store = await Store.open(directory);
const kitchen = await store.createSession({ sessionId: 'kitchen', userId: 'ann' });
await kitchen.add({
  type: 'preference', content: 'Ann drinks tea, never coffee',
  tags: ['drinks', 'people.ann'], importance: 0.9 });
await kitchen.add({ type: 'finding', content: 'The kettle needs three minutes' });
await store.close();

const reopened = await Store.open(directory);
const session = await reopened.openSession('kitchen');
for await (const { entry } of session.results({ text: 'What does Ann drink?' })) {
  console.log(entry.content);
}
const people = await session.count({ tags: { include: ['people'] } });
console.log(`${await session.count()} entries, ${people} of them about people`);
await reopened.close();
