// Functions of JavaScript that the library calls, on every thread and in every order, with a
// library that calls when it is told to. The steps of run() and runLater() are those of stub.c.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { load } from '../lib/index.js';
import { library } from '../lib/native.js';
import { Collected, STUB, collect, runOnStub } from './stub.js';

load(STUB);
const raw = library();
const store = raw.varve_store_open('x', null);
const session = raw.varve_session_create(store, null);
const run = (steps) => raw.varve_session_export(session, steps);
/** What its functions answered; one that stops an operation ends it. */
const answersOf = (steps) => raw.varve_session_export_async(session, `${steps}!`)
  .catch(({ message }) => message);
/** What a call threw, as text. */
const causeOf = (steps) => raw.varve_session_export_async(session, `${steps}!`)
  .catch(({ cause }) => `${cause?.message}`);
const turn = () => new Promise((resume) => { setImmediate(resume); });
const callback = (cause, more = {}) => ({ status: 60, code: 'STATUS_60', ...more,
  ...(cause === undefined ? {} : { cause }) });

async function until(holds) {
  while (!holds()) await turn();
}

test('each function is called with what the library gave, and answers', (t) => {
  const told = [];
  const gone = () => [['varve_store_set_log', 0], ['varve_store_set_clock'],
    ['varve_store_set_token_counter']].forEach(([name, ...more]) => raw[name](store, ...more, null));
  t.after(gone);
  raw.varve_store_set_log(store, 0, (...args) => told.push(args));
  raw.varve_store_set_clock(store, (...args) => { told.push(args); return -5; });
  raw.varve_store_set_token_counter(store, (...args) => { told.push(args); return 7; });
  raw.varve_session_set_progress(session, (...args) => { told.push(args); return 0; });
  assert.deepEqual(told, [[]], 'a clock is asked when it is set');
  assert.equal(run('1234'), 'told,-5,7,0');
  assert.deepEqual(told.slice(1),
    [[2, '{"a":"b\0c"}'], [], ['two\0words'], ['export', 1, 2]]);
  gone();
  raw.varve_session_set_progress(session, null);
  assert.equal(run('1234'), 'none,none,none,none');
  assert.equal(told.length, 5);
});

test('a clock and a counter give every number that C can hold', (t) => {
  let given = 0;
  raw.varve_store_set_clock(store, () => given);
  raw.varve_store_set_token_counter(store, () => given);
  t.after(() => {
    raw.varve_store_set_clock(store, null);
    raw.varve_store_set_token_counter(store, null);
  });
  for (const [number, clock, counter] of [
    [0, '0', '0'], [-0, '0', '0'], [1.9, '1', '1'], [0n, '0', '0'], [12n, '12', '12'],
    [-1, '-1', null], [-1n, '-1', null], [-(2 ** 63), '-9223372036854775808', null],
    [-(2n ** 63n), '-9223372036854775808', null], [2 ** 62, '4611686018427387904', '4611686018427387904'],
    [2n ** 53n + 1n, '9007199254740993', '9007199254740993'],
    [2n ** 63n - 1n, '9223372036854775807', '9223372036854775807'],
    [1n - 2n ** 63n, '-9223372036854775807', null], [-1n - 2n ** 63n, null, null],
    [2n ** 64n - 1n, null, '18446744073709551615'], [2 ** 63, null, '9223372036854775808'],
    [2 ** 64, null, null], [2n ** 64n, null, null], [-(2n ** 64n), null, null], [NaN, null, null],
    [-Infinity, null, null], [undefined, null, null], ['5', null, null], [true, null, null],
    [null, null, null], [{}, null, null]]) {
    given = number;
    for (const [step, expected] of [['2', clock], ['3', counter]]) {
      const what = `${step}: ${typeof number} ${number}`;
      if (expected === null) {
        const message = /^a callback of varve (that counts )?must give/;
        assert.throws(() => run(step), ({ cause }) => message.test(cause.message), what);
      } else {
        assert.equal(run(step), expected, what);
      }
    }
  }
});

test('what a failed counter would have counted is nothing that the library sees', async () => {
  const { stdout, stderr } = await runOnStub(`
    raw.varve_store_set_token_counter(store, () => -1);
    try {
      run('3!');
    } catch ({ message }) {
      console.log(message);
    }
    await once(beginWorker('raw.varve_store_set_token_counter(store, () => 5);'), 'exit');
    console.log(run('3'), await runLater('3'));`);
  assert.equal(stdout, 'failed 4711\nfailed 4711 failed 4711\n', stderr);
});

test('a clock that fails tells what it told last', (t) => {
  let now = 5;
  raw.varve_store_set_clock(store, () => {
    if (now === null) throw new Error('stopped');
    return now;
  });
  t.after(() => raw.varve_store_set_clock(store, null));
  now = 7;
  assert.equal(run('2'), '7');
  now = null;
  assert.throws(() => run('2!'), ({ message, cause }) => message === '7' && cause.message === 'stopped');
});

test('a counter is not asked by other threads, which fail', async (t) => {
  raw.varve_store_set_token_counter(store, () => 5);
  t.after(() => raw.varve_store_set_token_counter(store, null));
  assert.equal(await answersOf('3'), 'failed 4711');
});

test('what progress answers, other than a number, lets it go on', (t) => {
  let answer;
  raw.varve_session_set_progress(session, () => answer);
  t.after(() => raw.varve_session_set_progress(session, null));
  for (const [given, told] of [[undefined, '0'], [null, '0'], ['x', '0'], [{}, '0'], [0, '0'],
    [1, '1'], [-1, '1'], [0.5, '1']]) {
    answer = given;
    assert.equal(run('4'), told);
  }
});

test('a call has the last exception as its cause, and none of another call', (t) => {
  let n = 0;
  raw.varve_store_set_log(store, 0, () => { throw `exception ${n++}`; });
  assert.throws(() => run('1'), callback('exception 0',
    { message: 'a callback threw; the call itself was carried out', details: '' }));
  assert.throws(() => run('111'), callback('exception 3'));
  raw.varve_store_set_log(store, 0, () => {
    try {
      run('!');
    } catch ({ cause }) {
      n = `${cause}`;
    }
  });
  run('1');
  assert.equal(n, 'undefined', 'the inner call had none');
  raw.varve_store_set_log(store, 0, () => {
    raw.varve_store_set_log(store, 0, null);
    run('');
    throw 'outer';
  });
  assert.throws(() => run('1'), callback('outer'));
  raw.varve_store_set_log(store, 0, () => {
    if (n === 'inner') return;
    n = 'inner';
    run('1');
  });
  raw.varve_store_set_clock(store, () => 1);
  let stopped = true;
  raw.varve_store_set_clock(store, () => {
    if (stopped && n === 'stop') throw 'stopped';
    return 1;
  });
  n = 'stop';
  raw.varve_store_set_log(store, 0, () => { n = 'inner'; run('2'); });
  assert.throws(() => run('21'), callback('stopped'), 'a call inside takes nothing from the outer');
  stopped = false;
  t.after(() => {
    raw.varve_store_set_log(store, 0, null);
    raw.varve_store_set_clock(store, null);
  });
});

test('what was thrown stays until the call ends, though nobody else holds it', (t) => {
  let calls = 0;
  raw.varve_store_set_log(store, 0, () => {
    if (calls++ === 0) throw new Error('first');
    for (let n = 0; n < 3; n++) collect();
  });
  t.after(() => raw.varve_store_set_log(store, 0, null));
  assert.throws(() => run('11'), ({ cause }) => cause.message === 'first');
});

test('a function that is set stays, though nobody else holds it', async (t) => {
  raw.varve_session_set_progress(session, () => 1);
  t.after(() => raw.varve_session_set_progress(session, null));
  for (let n = 0; n < 5; n++) {
    collect();
    await turn();
  }
  assert.equal(run('4'), '1');
});

test('a function that nobody calls any more is collected, and so is what it threw', async () => {
  const functions = new Collected();
  const made = (body) => functions.sees((...args) => body(...args));
  const give = (kind, ...args) => raw[`varve_${kind}`](...args);
  const refuse = (kind, ...args) => assert.throws(() => give(kind, ...args));
  give('store_set_log', store, 0, made(() => {}));
  give('store_set_clock', store, made(() => 1));
  give('store_set_token_counter', store, made(() => 1));
  give('session_set_progress', session, made(() => 1));
  give('store_set_log', store, 0, made(() => {}));  // one for another
  give('store_set_log', store, 0, null);
  give('store_set_clock', store, null);
  give('store_set_token_counter', store, null);
  give('session_set_progress', session, null);
  refuse('store_set_log', null, 0, made(() => {}));  // refused by the library
  refuse('store_set_clock', null, made(() => 1));
  refuse('session_set_progress', null, made(() => 1));
  refuse('store_set_clock', store, made(() => { throw new Error('at once'); }));
  refuse('store_set_log', store, 'wrong', made(() => {}));
  const other = raw.varve_session_create(store, null);
  give('session_set_progress', other, made(() => 1));
  raw.varve_session_close(other);
  const shop = raw.varve_store_open('x', null);
  give('store_set_log', shop, 0, made(() => {}));
  give('store_set_clock', shop, made(() => 1));
  await raw.varve_store_close_async(shop);
  assert.equal(await functions.count(13), 13);
});

test('one function of a handle goes, and the others stay', (t) => {
  const other = raw.varve_session_create(store, null);
  const told = [];
  raw.varve_store_set_log(store, 0, () => told.push('log'));
  raw.varve_store_set_clock(store, () => 5);
  raw.varve_store_set_token_counter(store, () => 6);
  raw.varve_session_set_progress(session, () => 1);
  assert.equal(run('1234'), 'told,5,6,1');
  assert.throws(() => raw.varve_session_set_progress(null, () => 0));
  raw.varve_session_close(other);
  assert.equal(run('1234'), 'told,5,6,1');
  assert.equal(told.length, 2);
  raw.varve_store_set_clock(store, () => 7);
  assert.equal(run('1234'), 'told,7,6,1');
  assert.equal(told.length, 3);
  t.after(() => {
    raw.varve_store_set_log(store, 0, null);
    raw.varve_store_set_clock(store, null);
    raw.varve_store_set_token_counter(store, null);
    raw.varve_session_set_progress(session, null);
  });
});

test('exceptions of every way are collected once their calls have told them', async (t) => {
  const thrown = new Collected();
  let count = 0;
  const fail = () => { throw thrown.sees(new Error(`${++count}`)); };
  raw.varve_store_set_log(store, 0, fail);
  raw.varve_store_set_clock(store, () => (count > 0 ? fail() : 1));
  assert.throws(() => run('1'));
  assert.throws(() => run('11122'), 'only the last is told');
  raw.varve_session_set_progress(session, fail);
  assert.throws(() => run('4!'));
  assert.equal(await causeOf('4'), '8');
  t.after(() => {
    raw.varve_store_set_log(store, 0, null);
    raw.varve_store_set_clock(store, null);
  });
  raw.varve_session_set_progress(session, null);
  assert.equal(count, 8);
  assert.equal(await thrown.count(count), count);
});

/**
 * Takes the steps of another thread, from one `A` to the next `b`, while this one is in a call: so
 * nobody waits for the answer of a function that is called in between.
 */
const meanwhile = () => run('aB');

test('an answer that nobody waited for is that of the next step, once', async (t) => {
  const answers = [1, 0, 0, 1, 1];
  let calls = 0;
  raw.varve_session_set_progress(session, () => answers[calls++]);
  t.after(() => raw.varve_session_set_progress(session, null));
  const other = answersOf('A4bA4bA4bA4bA4b');
  for (let step = 1; step <= 3; step++) {
    meanwhile();
    await until(() => calls === step);
  }
  meanwhile();
  meanwhile();
  assert.equal(await other, '0,1,0,0,0');
  await until(() => calls === 5);
  const next = answersOf('A4b');
  meanwhile();
  assert.equal(await next, '1');
  answers.push(0, 0, 1);
  await until(() => calls === 6);
  assert.equal(await answersOf('44'), '0,1', 'who waits has his own');
});

test('so is an exception, and those that no step takes are dropped', async (t) => {
  const thrown = new Collected();
  let calls = 0;
  const fail = () => { throw thrown.sees(new Error(`step ${calls++}`)); };
  raw.varve_session_set_progress(session, fail);
  t.after(() => raw.varve_session_set_progress(session, null));
  const first = causeOf('A4bA4b');
  meanwhile();
  await until(() => calls === 1);
  meanwhile();
  assert.equal(await first, 'step 0');
  await until(() => calls === 2);
  const second = causeOf('A4bA4bA4b');
  meanwhile();  // takes what was thrown before
  meanwhile();
  meanwhile();
  assert.equal(await second, 'step 1');
  await until(() => calls === 5);
  raw.varve_session_set_progress(session, () => {
    raw.varve_session_set_progress(session, null);
    return fail();
  });
  const third = causeOf('A4b');
  meanwhile();
  await until(() => calls === 6);
  assert.equal(await third, 'undefined');
  assert.equal(await thrown.count(6), 6);
});

test('one who waits goes on when JavaScript enters the library', async () => {
  const { stdout, stderr, signal } = await runOnStub(`
    let calls = 0;
    raw.varve_session_set_progress(session, () => {
      if (calls++ === 0) run('B');  // until the other thread has gone on
      return calls;
    });
    const other = runLater('4bA4dA4d');
    while (calls === 0) await new Promise((resume) => { setImmediate(resume); });
    run('aD');
    run('aD');
    console.log(await other);`);
  assert.equal(signal, null, `it hung: ${stderr}`);
  assert.equal(stdout, '0,1,0\n', 'the answer that it no longer waited for is that of the next step');
});

test('one who waits for a thread that ends goes on', async () => {
  for (const [inside, outside] of [['for (;;);', 'worker.terminate();'], ['process.exit(0);', '']]) {
    const { stdout, stderr, signal, code } = await runOnStub(`
      const worker = beginWorker(\`
        raw.varve_session_set_progress(session, () => {
          parentPort.postMessage('asked');
          ${inside}
        });
        raw.varve_store_set_log(store, 0, () => {});
        setInterval(() => {}, 1000);
        parentPort.postMessage('ready');\`);
      await once(worker, 'message');
      const [asked, ended] = [once(worker, 'message'), once(worker, 'exit')];
      const others = ['4', '4', '14', '41'].map(runLater);
      await asked;
      ${outside}
      await ended;
      const answers = await Promise.all(others);
      console.log(answers.length, await runLater('14'), run('14'));`);
    assert.equal(signal, null, `it hung: ${stderr}`);
    assert.equal(stdout, '4 told,0 told,0\n', stderr);
    assert.equal(code, 0, stderr);
  }
});

test('a thread that ends with its own calls waiting for it ends', async () => {
  const { stdout, stderr, signal, code } = await runOnStub(`
    const worker = beginWorker(\`
      const mine = raw.varve_store_open('x', null);
      raw.varve_session_set_progress(session, () => {
        parentPort.postMessage('asked');
        for (;;);
      });
      for (let n = 0; n < 3; n++) raw.varve_session_export_async(session, '4444').catch(() => {});
    \`);
    await once(worker, 'message');
    await worker.terminate();
    console.log('ended', run('4'));`);
  assert.equal(signal, null, `it hung: ${stderr}`);
  assert.equal(stdout, 'ended 0\n', stderr);
  assert.equal(code, 0, stderr);
});

test('a thread that ends closes what it left open when nobody waits for it any more', async () => {
  const { stdout, stderr, signal } = await runOnStub(`
    const worker = beginWorker(\`
      raw.varve_store_open('x', null);
      raw.varve_session_set_progress(session, () => 1);
      setInterval(() => {}, 1000);
      parentPort.postMessage('open');\`);
    await once(worker, 'message');
    const other = runLater('wZ4');  // calls once the store is being closed, which waits for it
    run('W');
    await worker.terminate();
    console.log(await other);`);
  assert.equal(signal, null, `it hung: ${stderr}`);
  assert.equal(stdout, '0\n', stderr);
});

test('the functions of a thread that ends go, and those of others stay', async () => {
  const { stdout, stderr } = await runOnStub(`
    raw.varve_session_set_progress(session, () => 1);
    raw.varve_store_set_token_counter(store, () => 5);
    await once(beginWorker(\`
      raw.varve_store_set_clock(store, () => 17);
      raw.varve_store_set_log(store, 0, () => {});\`), 'exit');
    console.log(run('1234'), await runLater('124'));`);
  assert.equal(stdout, 'told,17,5,1 told,17,1\n', stderr);
});

test('the clock of a store that a thread opened goes when that thread ends', async () => {
  const { stdout, stderr } = await runOnStub(`
    await once(beginWorker(\`
      const mine = raw.varve_store_open('x', null);
      raw.varve_store_set_clock(mine, () => 17);\`), 'exit');
    console.log(run('2'));`);
  assert.equal(stdout, '0\n', stderr);
});

test('a thread is not taken for one that ended, though it has its number', async () => {
  const { stdout, stderr, code } = await runOnStub(`
    await once(beginWorker('raw.varve_store_set_clock(store, () => 17);'), 'exit');
    for (let n = 0; n < 5; n++) {
      const worker = beginWorker(\`
        parentPort.postMessage(raw.varve_session_export(session, '2'));\`);
      const [[told]] = await Promise.all([once(worker, 'message'), once(worker, 'exit')]);
      console.log(told);
    }`);
  assert.equal(stdout, '17\n'.repeat(5), stderr);
  assert.equal(code, 0, stderr);
});

test('while the process exits nobody waits for it', async () => {
  const { stdout, stderr, signal, code } = await runOnStub(`
    let calls = 0;
    raw.varve_session_set_progress(session, () => { calls++; });
    process.on('exit', () => {
      runLater('A4bA4b');
      console.log(run('aBaB'), calls);
    });
    process.exit(7);`);
  assert.equal(signal, null, `it hung: ${stderr}`);
  assert.equal(stdout, ' 0\n', stderr);
  assert.equal(code, 7, stderr);
});

test('a runtime whose process tells of no exit is as good as one', async () => {
  const { stdout, stderr } = await runOnStub(`
    process.prependOnceListener = undefined;
    raw.varve_session_set_progress(session, () => 1);
    console.log(run('4'), await runLater('4'));`);
  assert.equal(stdout, '1 1\n', stderr);
});

test('many functions listen once for the exit', (t) => {
  raw.varve_store_set_log(store, 0, () => {});
  const before = process.listenerCount('exit');
  for (let n = 0; n < 5; n++) raw.varve_store_set_clock(store, () => n);
  t.after(() => {
    raw.varve_store_set_log(store, 0, null);
    raw.varve_store_set_clock(store, null);
  });
  assert.equal(process.listenerCount('exit'), before);
});

test('lines for this thread are told soon, each once and in their order', async (t) => {
  const lines = [];
  raw.varve_store_set_log(store, 0, (level, line) => lines.push(line));
  t.after(() => raw.varve_store_set_log(store, 0, null));
  const other = answersOf('111A');
  await until(() => lines.length >= 3);  // though no call has ended
  run('a');
  assert.equal(await other, 'told,told,told');
  await turn();
  assert.equal(lines.length, 3);
});

test('a line for a receiver that went meanwhile is told to nobody', async () => {
  const lines = [];
  raw.varve_store_set_log(store, 0, (level, line) => lines.push(line));
  const other = answersOf('A1b');
  meanwhile();
  raw.varve_store_set_log(store, 0, null);
  assert.equal(await other, 'told');
  for (let n = 0; n < 3; n++) await turn();
  assert.deepEqual(lines, []);
});

test('what functions gave is not kept until the call ends', (t) => {
  let calls = 0;
  let used;
  raw.varve_session_set_progress(session, () => {
    if (++calls === 200) {
      collect();
      used = process.memoryUsage().heapUsed;
    }
    return new Array(100_000).fill(calls);  // 800 KB
  });
  t.after(() => raw.varve_session_set_progress(session, null));
  collect();
  const before = process.memoryUsage().heapUsed;
  run('4'.repeat(200));
  assert.ok(used - before < 40e6, `${used - before} bytes more`);
});
