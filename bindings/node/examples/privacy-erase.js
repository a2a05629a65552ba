// Erases what is known about a person, and shows that no file has it any more.
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Store } from 'varve';

const directory = process.argv[2] ?? './memory';
const store = await Store.open(directory);
const session = await store.createSession({ title: 'Clinic' });
const files = join(directory, 'sessions', session.id);

async function filesWith(text) {
  const names = await readdir(files);
  const texts = await Promise.all(names.map((name) => readFile(join(files, name))));
  return names.filter((_, index) => texts[index].includes(text));
}

await session.add({
  id: 'visit', type: 'observation', content: 'Ann Miller has hay fever', tags: ['people.ann'] });
await session.add({ id: 'hours', type: 'finding', content: 'Open until six' });
await session.sync();
console.log('before:', await filesWith('hay fever'));

const erased = await session.deleteWhere(
  { tags: { include: ['people.ann'] } }, 'asked for on Monday');
const { dropped } = await session.purge();
console.log('erased:', erased, 'and dropped from the log:', dropped.deleted);
console.log('after:', await filesWith('hay fever'));
const { results } = await session.query();
console.log('still known:', results.map(({ entry }) => entry.content));
await store.close();

const audit = await readFile(join(files, 'tombstones.jsonl'), 'utf8');
console.log('the audit log has the reason:', audit.includes('asked for on Monday'));
