// Adds entries to a session and prints the id of each one once it was acknowledged.
//
//   node child.js DIRECTORY SESSION PREFIX COUNT [FIRST]
//
// Entry N, from FIRST or 0 on, has the id PREFIX-N and the content "PREFIX counts to N ☕". That it
// is there already counts as acknowledged: a worker that was killed is started again at the first
// entry that it did not tell of.
import { writeSync } from 'node:fs';
import { Store } from '../lib/index.js';

const STDOUT = 1;
const [directory, sessionId, prefix, count, first = 0] = process.argv.slice(2);

const store = await Store.open(directory, { concurrency: { lockTimeoutMs: 60000 } });
const session = await store.openSession(sessionId);
for (let number = Number(first); number < Number(count); number++) {
  const id = `${prefix}-${number}`;
  try {
    await session.add({ id, type: 'observation', content: `${prefix} counts to ${number} ☕` });
  } catch (error) {
    if (error.code !== 'VARVE_ALREADY_EXISTS') throw error;
  }
  writeSync(STDOUT, `${id}\n`);
}
await store.close();
