// Four processes add to one session at the same time; every entry is there exactly once.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Store } from 'varve';

const PROCESSES = 4;
const ENTRIES = 250;
const [directory = './memory', sessionId, number] = process.argv.slice(2);

/** Each process opens the store for itself. */
async function work() {
  const store = await Store.open(directory, { durability: 'interval' });
  const session = await store.openSession(sessionId);
  for (let step = 0; step < ENTRIES; step++) {
    await session.add({
      id: `p${number}-${step}`, type: 'observation', content: { process: Number(number), step } });
  }
  await store.close();
}

async function main() {
  const store = await Store.open(directory);
  const session = await store.createSession({ title: 'Shared' });
  const program = fileURLToPath(import.meta.url);
  await Promise.all(Array.from({ length: PROCESSES }, (_, n) =>
    once(fork(program, [directory, session.id, String(n)]), 'exit')));
  for (let n = 0; n < PROCESSES; n++) {
    console.log(`process ${n}:`, await session.count({ content: { process: n } }), 'entries');
  }
  console.log('whole:', (await session.verify()).ok);
  await store.close();
}

await (number === undefined ? main() : work());
