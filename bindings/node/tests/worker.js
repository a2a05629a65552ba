// What the worker threads of concurrency.test.js do.
import { parentPort, workerData } from 'node:worker_threads';
import { Store } from '../lib/index.js';
import { library } from '../lib/native.js';

const { what, place, session: id, count, handle } = workerData;

async function add() {
  const store = await Store.open(place);
  const lines = [];
  store.setLog((line) => lines.push(line));
  const session = await store.createSession({ sessionId: id });
  const entries = Array.from({ length: count }, (_, n) => ({ type: 'finding', content: n }));
  await Promise.all(entries.map((entry) => session.add(entry)));
  const added = session.countSync();
  await store.close();
  return { added, logged: lines.length > 0 };
}

/** Never stops by itself: it is terminated. */
async function flood() {
  const session = (await Store.open(place)).createSessionSync({ sessionId: id });
  session.setProgress(() => {});
  for (let n = 0; ; n++) {
    const adds = Array.from({ length: 100 }, () => session.add({ type: 'finding', content: n }));
    await adds[0];
    if (n === 0) parentPort.postMessage('begun');
  }
}

/** Opens, and closes nothing; stays when it is to be terminated. */
async function leave() {
  const store = await Store.open(place);
  const session = store.createSessionSync({ sessionId: id });
  session.addSync({ type: 'finding', content: 'tea' });
  store.openMemorySync({ userId: 'ann' });
  if (count > 0) setInterval(() => {}, 1000);
  return 'open';
}

function get() {
  try {
    return library().varve_session_get(handle, workerData.id);
  } catch (failure) {
    return failure.code;
  }
}

function listen() {
  library().varve_store_set_log(handle, 0, () => {});
  library().varve_store_set_clock(handle, () => Date.parse('2026-01-05T09:00:00Z'));
  return 'listening';
}

parentPort.postMessage(await { add, flood, get, leave, listen }[what]());
