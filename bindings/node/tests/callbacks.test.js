// Functions of JavaScript that the library calls: log, clock, progress.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { finding, openSession, openStore, runModule, until } from './support.js';

const EARLY = Date.parse('2026-01-05T09:00:00Z');

/** Entries that are more than one megabyte: progress is told by the megabyte. */
const MEGABYTES = Array.from({ length: 3 }, () => finding('x'.repeat(700_000)));

test('log lines come on this thread, before the call is answered', async (t) => {
  const store = openStore(t);
  const lines = [];
  store.setLog((line, level) => lines.push([level, line]), { level: 'debug' });
  const session = await store.createSession({ sessionId: 's' });
  assert.ok(lines.some(([level, line]) => level === 1 && line.message === 'session created'));
  lines.length = 0;
  session.addSync(finding('x'));
  const lock = lines.find(([, line]) => line.message === 'lock acquired')[1];
  assert.equal(lock.sessionId, 's');
  assert.equal(typeof lock.metadata.waitMs, 'number');
  store.setLog(null, null);
  lines.length = 0;
  session.addSync(finding('y'));
  await session.add(finding('z'));
  assert.deepEqual(lines, []);
});

test('what is no function is refused where it is given, and the one before stays', (t) => {
  const store = openStore(t);
  const session = store.createSessionSync();
  let lines = 0;
  store.setLog(() => lines++, { level: 'debug' });
  for (const wrong of ['warn', 5, {}, true, '', 0, false, NaN]) {
    const refusal = { name: 'TypeError', code: 'VARVE_INVALID_ARGUMENT', message: /function or null/ };
    assert.throws(() => store.setLog(wrong), refusal);
    assert.throws(() => store.setClock(wrong), refusal);
    assert.throws(() => store.setTokenCounter(wrong), refusal);
    assert.throws(() => session.setProgress(wrong), refusal);
  }
  session.addSync(finding('x'));
  assert.ok(lines > 0);
});

test('functions of one store and session leave those of others alone', async (t) => {
  const told = [];
  const sessions = ['a', 'b'].map((name) => {
    const store = openStore(t);
    store.setLog(() => told.push(`log of ${name}`));
    const session = store.createSessionSync();
    session.setProgress(() => { told.push(`progress of ${name}`); });
    return session;
  });
  for (const [session, name] of [[sessions[0], 'a'], [sessions[1], 'b']]) {
    told.length = 0;
    session.verifySync();
    session.closeSync();
    assert.deepEqual(new Set(told), new Set([`log of ${name}`, `progress of ${name}`]));
  }
});

test('levels keep lines away', (t) => {
  const store = openStore(t);
  const lines = [];
  store.setLog((line) => lines.push(line), { level: 'warn' });
  store.createSessionSync();
  assert.deepEqual(lines, []);
  for (const [level, told] of [[0, true], [3, false], [4, false]]) {
    lines.length = 0;
    store.setLog((line) => lines.push(line), { level });
    store.createSessionSync().addSync(finding('x'));
    assert.equal(lines.length > 0, told, `${level}`);
  }
  assert.throws(() => store.setLog(() => {}, { level: 'loud' }),
    { code: 'VARVE_INVALID_ARGUMENT' });
});

test('a log receiver may use the library', (t) => {
  const store = openStore(t);
  const counts = [];
  const session = store.createSessionSync();
  store.setLog((line) => {
    if (line.message === 'lock released') counts.push(session.countSync());
  }, { level: 'debug' });
  session.addSync(finding('x'));
  store.setLog(null);
  assert.ok(counts.length > 0 && counts.every((count) => count === 1));
});

test('the clock is asked by synchronous calls and by promises', async (t) => {
  const store = openStore(t);
  const session = store.createSessionSync();
  let now = EARLY;
  store.setClock(() => now);
  const first = session.getSync(session.addSync(finding('x')));
  assert.equal(first.timestamp, '2026-01-05T09:00:00.000Z');
  now += 1000;
  const id = await session.add(finding('y'));
  assert.equal((await session.get(id)).timestamp, '2026-01-05T09:00:01.000Z');
  store.setClock(() => new Date(now + 1000));
  assert.equal((await session.get(await session.add(finding('z')))).timestamp,
    '2026-01-05T09:00:02.000Z');
  store.setClock(null);
  assert.notEqual((await session.get(await session.add(finding('z')))).timestamp.slice(0, 10),
    '2026-01-05');
});

test('calls in flight when a clock is set end, and use one of both times', async (t) => {
  const store = openStore(t);
  const session = store.createSessionSync();
  const adds = Array.from({ length: 100 }, () => session.add(finding('x')));
  store.setClock(() => EARLY);
  adds.push(session.add(finding('y')));
  const ids = await Promise.all(adds);
  const days = new Set(ids.map((id) => session.getSync(id).timestamp.slice(0, 10)));
  assert.ok(days.size <= 2 && days.has('2026-01-05'));
});

test('a clock that tells no time is refused when it is set', (t) => {
  const store = openStore(t);
  assert.throws(() => store.setClock(() => undefined), { name: 'TypeError' });
  assert.throws(() => store.setClock(() => { throw new RangeError('stopped'); }),
    { name: 'RangeError', message: 'stopped' });
  assert.throws(() => store.setClock(5), { name: 'TypeError' });
  for (const beyond of [2 ** 63, 2n ** 64n, -Infinity]) {
    assert.throws(() => store.setClock(() => beyond),
      { message: 'a callback of varve must give a number from -2^63 to below 2^63' });
  }
  store.createSessionSync().addSync(finding('x'));
});

test('what a clock throws later is the cause of VARVE_CALLBACK', async (t) => {
  const store = openStore(t);
  const session = store.createSessionSync();
  const cause = new Error('stopped');
  let stopped = false;
  let now = EARLY;
  store.setClock(() => {
    if (stopped) throw cause;
    return now;
  });
  now += 1000;
  session.addSync(finding('w'));
  stopped = true;
  assert.throws(() => session.addSync(finding('x')), { code: 'VARVE_CALLBACK', cause });
  await assert.rejects(session.add(finding('y')), { code: 'VARVE_CALLBACK', cause });
  await assert.rejects(store.createSession(), { code: 'VARVE_CALLBACK' });
  stopped = false;
  const times = session.querySync().results.map(({ entry }) => entry.timestamp);
  assert.deepEqual(times, Array(3).fill('2026-01-05T09:00:01.000Z'), 'at the time told last');
  assert.equal(store.statsSync().sessionsOpen, 1, 'the session that nobody got is closed');
});

test('a function that is set is called, and one that is taken away not, though a clock throws', async (t) => {
  const store = openStore(t);
  const session = store.createSessionSync();
  let stopped = false;
  const clock = () => {
    if (stopped) throw new Error('stopped');
    return EARLY;
  };
  store.setClock(clock);
  stopped = true;
  assert.throws(() => store.setClock(() => EARLY + 1000), { code: 'VARVE_CALLBACK' });
  assert.equal(session.getSync(session.addSync(finding('x'))).timestamp,
    '2026-01-05T09:00:01.000Z');
  stopped = false;
  store.setClock(clock);
  stopped = true;
  assert.throws(() => store.setClock(null), { code: 'VARVE_CALLBACK' });
  let told = 0;
  session.setProgress(() => { told++; });
  const verified = session.verify();
  assert.equal(told, 0, 'promises are worked for on another thread again');
  await verified;
  assert.ok(told > 0);
});

test('a level of log lines is one of those that there are', (t) => {
  const store = openStore(t);
  for (const level of ['warning', 'INFO', '', null, -1, 5, 1.5, 2 ** 32 + 1]) {
    assert.throws(() => store.setLog(() => {}, { level }), /level/);
  }
  assert.throws(() => store.setLog(() => {}, { level: 'warning' }),
    { name: 'VarveError', message: 'level is warning; it must be one of debug, info, warn, error' });
});

test('what a log receiver throws is the cause of VARVE_CALLBACK', (t) => {
  const store = openStore(t);
  const cause = { not: 'an Error' };
  store.setLog(() => { throw cause; });
  assert.throws(() => store.createSessionSync({ sessionId: 's' }),
    { code: 'VARVE_CALLBACK', cause });
  store.setLog(null);
  store.openSessionSync('s');
});

test('what it throws for a call on another thread is an uncaught exception', async () => {
  const { code, stdout } = await runModule(`
    import { Store } from 'varve';
    process.on('uncaughtException', (error) => console.log('caught', error.message));
    const store = Store.openSync('memory:');
    store.setLog(() => { throw new Error('receiver'); });
    await store.createSession();
    console.log('created');`);
  assert.equal(code, 0);
  assert.match(stdout, /^(caught receiver\n)+created\n$/);
});

for (const way of ['Sync', '']) {
  const call = async (session, name, ...args) => session[name + way](...args);
  const title = way ? 'now' : 'on another thread';

  test(`progress is told, ${title}`, async (t) => {
    const session = openSession(t);
    await call(session, 'addBatch', MEGABYTES);
    const steps = [];
    session.setProgress((step) => { steps.push(step); });
    await call(session, 'export', 'jsonl');
    await until(() => steps.at(-1)?.done === steps.at(-1)?.total);
    assert.ok(steps.length >= 2 && steps.every((step) => step.operation === 'export'));
    assert.ok(steps.every(({ done }, n) => n === 0 || done >= steps[n - 1].done));
    session.setProgress(null);
    const before = steps.length;
    await call(session, 'export', 'jsonl');
    assert.equal(steps.length, before);
  });
}

for (const way of ['Sync', '']) {
  const outcome = async (session, name, ...args) => {
    try {
      return await session[name + way](...args);
    } catch (error) {
      return error;
    }
  };
  const title = way ? 'now' : 'on another thread';

  test(`a progress function stops an operation by false, ${title}`, async (t) => {
    const session = openSession(t);
    session.addBatchSync(MEGABYTES);
    session.setProgress(() => false);
    assert.equal((await outcome(session, 'export', 'jsonl')).code, 'VARVE_CALLBACK');
    session.setProgress(() => true);
    assert.equal((await outcome(session, 'export', 'jsonl')).split('\n').length, 4);
  });

  test(`what a progress function throws stops it and is the cause, ${title}`, async (t) => {
    const session = openSession(t);
    session.addBatchSync(MEGABYTES);
    const cause = new Error('enough');
    session.setProgress(() => { throw cause; });
    const error = await outcome(session, 'verify');
    assert.equal(error.code, 'VARVE_CALLBACK');
    assert.equal(error.cause, cause);
  });

  test(`a progress function that answers with a promise is refused, ${title}`, async (t) => {
    const session = openSession(t);
    session.addBatchSync(MEGABYTES);
    session.setProgress(async () => false);
    const error = await outcome(session, 'export', 'jsonl');
    assert.equal(error.code, 'VARVE_CALLBACK');
    assert.match(error.cause.message, /promise/);
  });
}

test('each of several operations at once has what was thrown for it as its cause', async (t) => {
  const session = openSession(t);
  session.addBatchSync(MEGABYTES);
  const thrown = [];
  session.setProgress(() => {
    thrown.push(new Error(`number ${thrown.length}`));
    throw thrown.at(-1);
  });
  for (let round = 0; round < 5; round++) {
    const before = thrown.length;
    const ends = await Promise.allSettled([1, 2, 3, 4].map(() => session.export('jsonl')));
    const causes = ends.map(({ reason }) => reason.cause);
    assert.deepEqual(new Set(causes), new Set(thrown.slice(before)));
    assert.ok(ends.every(({ reason }) => reason.code === 'VARVE_CALLBACK'));
  }
});

test('nobody waits for an answer while JavaScript waits for the library', async (t) => {
  for (let round = 0; round < 20; round++) {
    const store = openStore(t);
    const session = store.createSessionSync();
    session.addBatchSync(MEGABYTES);
    let steps = 0;
    session.setProgress(() => { steps++; });
    const exports = Array.from({ length: 4 }, () => session.export('jsonl').catch((e) => e.code));
    if (round % 2) await until(() => steps > 0);
    JSON.stringify(MEGABYTES);  // meanwhile the other threads come to where they wait
    store.closeSync();  // waits for the exports that have begun
    const ends = await Promise.all(exports);
    assert.ok(ends.every((end) => end === 'VARVE_BAD_HANDLE' || end.split('\n').length === 4));
  }
});

const EXITS = {
  'process.exit': ['process.exit(3);', 3],
  'an exit in the progress function': [
    'session.setProgress(() => process.exit(4)); await session.export("jsonl");', 4],
  'an uncaught exception': ['throw new Error("the program\'s own");', 1],
  'an exit in an earlier listener to the exit': [
    'process.exit(0);', 5, 'process.on("exit", () => process.exit(5));'],
  'an exception in an earlier listener to the exit': [
    'process.exit(1);', 1, 'process.on("exit", () => { throw new Error("its own"); });'],
};

for (const [what, [end, expected, begin = '']] of Object.entries(EXITS)) {
  test(`a process may end while others wait for its progress function: ${what}`, async () => {
    const { code, signal, stderr } = await runModule(`
      import { Store } from 'varve';
      ${begin}
      const session = Store.openSync('memory:').createSessionSync();
      const content = 'x'.repeat(700_000);
      session.addBatchSync(Array.from({ length: 3 }, () => ({ type: 'finding', content })));
      let told;
      const isTold = new Promise((resolve) => { told = resolve; });
      session.setProgress(() => told());
      for (let n = 0; n < 4; n++) session.export('jsonl').catch(() => {});
      await isTold;
      ${end}`, { timeout: 60_000 });
    assert.equal(signal, null, `it hung: ${stderr}`);
    assert.equal(code, expected, stderr);
  });
}

test('a callback that nobody needs any more is collected', async () => {
  const { code, stdout, stderr } = await runModule(`
    import { Store } from 'varve';
    const store = Store.openSync('memory:');
    let gone = 0;
    const registry = new FinalizationRegistry(() => { gone++; });
    const listen = () => {
      const receiver = () => {};
      registry.register(receiver);
      return receiver;
    };
    for (let n = 0; n < 10; n++) store.setLog(listen());
    store.setLog(null);
    const session = store.createSessionSync();
    session.setProgress(listen());
    session.closeSync();
    try {
      session.setProgress(listen());
    } catch (error) {
      console.log(error.code);
    }
    while (gone < 12) {
      gc();
      await new Promise((resume) => setTimeout(resume, 1));
    }
    console.log('collected');`, { flags: ['--expose-gc'] });
  assert.equal(stdout, 'VARVE_BAD_HANDLE\ncollected\n', stderr);
  assert.equal(code, 0);
});
