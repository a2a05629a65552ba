// Values on their way through the addon, and what it frees and closes, with a library that counts.
import assert from 'node:assert/strict';
import { createHook } from 'node:async_hooks';
import { test } from 'node:test';
import { load } from '../lib/index.js';
import { parse } from '../lib/json.js';
import { library, mayHaveLongInteger } from '../lib/native.js';
import { Collected, STUB, collect, runOnStub } from './stub.js';

load(STUB);
const raw = library();
const store = raw.varve_store_open('x', null);
const session = raw.varve_session_create(store, null);
const echo = (text) => raw.varve_session_get(session, text);
const stats = () => JSON.parse(raw.varve_store_stats(store));

const LETTERS = ['a', '\x7F', '\x80', 'é', '\u07FF', '\u0800', '€', '\uD7FF', '\uE000', '\uFFFD',
  '\uFFFF', '\u{10000}', '😀', '\u{10FFFF}'];

test('strings pass whole, wherever their characters begin', () => {
  for (const letter of LETTERS) {
    for (let before = 0; before < 8; before++) {
      for (const length of [1, 20, 62, 300, 400, 600, 1100]) {
        const text = 'a'.repeat(before) + letter.repeat(length);
        assert.equal(echo(text), text);
        assert.equal(echo(`${text}b`), `${text}b`);
      }
    }
  }
});

const MALFORMED = {
  'a byte that begins nothing': [0x80], 'two of them': [0xBF, 0xBF], 'too long for U+0040': [0xC1, 0x80],
  'too long for U+07FF': [0xE0, 0x9F, 0xBF], 'too long for U+FFFF': [0xF0, 0x8F, 0xBF, 0xBF],
  'half of a pair': [0xED, 0xA0, 0x80], 'the other half': [0xED, 0xBF, 0xBF],
  'beyond U+10FFFF': [0xF4, 0x90, 0x80, 0x80], 'further beyond': [0xF5, 0x80, 0x80, 0x80],
  'what would begin five': [0xF8, 0x90, 0x80, 0x80], 'and six': [0xFC, 0x80, 0x80, 0x80],
  'no byte at all': [0xFF], 'one that is cut': [0xC3], 'one that is cut in four': [0xF0, 0x9F, 0x98],
  'one that is cut by a letter': [0xE2, 0x82, 0x61], 'by another': [0xE2, 0xC3, 0xA9],
};

test('of a malformed text the rest passes', () => {
  for (const [what, bytes] of Object.entries(MALFORMED)) {
    for (let before = 0; before < 9; before++) {
      for (const rest of ['', 'b'.repeat(8), 'é'.repeat(40), 'b'.repeat(100)]) {
        const given = Buffer.concat([
          Buffer.from('a'.repeat(before)), Buffer.from(bytes), Buffer.from(rest)]);
        assert.equal(echo(given), given.toString(), `${what}, behind ${before} letters`);
        const long = Buffer.concat([Buffer.from('a'.repeat(64)), given]);
        assert.equal(echo(long), long.toString(), `${what}, behind ${before + 64} letters`);
      }
    }
  }
});

test('a number beyond 2^53 is exact alone, negative, and among blanks', () => {
  for (const text of ['9007199254740993', '-9007199254740993', '18446744073709551615']) {
    assert.equal(parse(text), BigInt(text));
    for (const blank of [' ', '\n', '\t', '\r']) {
      for (let before = 0; before < 17; before++) {
        const spaced = `[${'1,'.repeat(before)}1,${blank}${text}${blank}]`;
        assert.equal(parse(spaced).at(-1), BigInt(text), spaced);
      }
    }
  }
});

test('what cannot be a number beyond 2^53 is told as such', () => {
  for (const text of ['', '1', '900719925474099', '"x9007199254740993"', '0.9007199254740993',
    '9007199254740993.5', '9007199254740993e1', '123456789012345 6', '"9007199254740993x"']) {
    assert.equal(mayHaveLongInteger(text), false, text);
  }
  assert.throws(() => mayHaveLongInteger(5), { message: /string was expected/ });
});

test('integers are those of C, and no others', () => {
  const refused = { name: 'TypeError', code: 'VARVE_INVALID_ARGUMENT', message: /integer in range/ };
  for (const status of [0, -0, 1, -1, 2 ** 31 - 1, -(2 ** 31)]) {
    assert.equal(raw.varve_status_name(status), `STATUS_${status}`);
    assert.equal(raw.varve_status_name(BigInt(status)), `STATUS_${status}`);
  }
  for (const status of [2 ** 31, -(2 ** 31) - 1, 0.5, NaN, Infinity, 2 ** 53]) {
    assert.throws(() => raw.varve_status_name(status), refused, `${status}`);
  }
  const tooMuch = [2n ** 31n, -(2n ** 31n) - 1n, 2n ** 64n, 2n ** 64n + 5n, -(2n ** 63n), -(2n ** 64n),
    -(2n ** 64n) - 5n, 2n ** 80n];
  for (const status of tooMuch) {
    assert.throws(() => raw.varve_status_name(status), refused, `${status}`);
  }
  for (const number of [0, 2 ** 53 - 1, 2n ** 53n, 2n ** 63n, 2n ** 64n - 1n]) {
    assert.equal(raw.varve_transcript_last(session, number), `${number}`);
  }
  for (const number of [-1, -1n, -(2n ** 63n), 2n ** 64n, 2n ** 64n + 5n, 2 ** 53]) {
    assert.throws(() => raw.varve_transcript_last(session, number), refused, `${number}`);
  }
});

test('a count is a number up to 2^53, and a BigInt beyond', () => {
  for (const count of [0, 1, 2 ** 53 - 1, 2n ** 53n, 2n ** 53n + 1n, 2n ** 64n - 1n]) {
    assert.equal(raw.varve_session_count(session, `${count}`), count);
  }
});

test('only text is text, only Float32Array a vector, only a BigInt a handle', () => {
  const arrays = [new Int8Array(4), new Uint16Array(4), new Uint8ClampedArray(4), new DataView(
    new ArrayBuffer(4)), new ArrayBuffer(4), [], {}, 5, true, null, undefined, Symbol('x')];
  for (const wrong of arrays) {
    assert.throws(() => echo(wrong), { name: 'TypeError', message: /id must be a string, or UTF-8/ });
  }
  assert.equal(echo(new Uint8Array(0)), '');
  assert.equal(echo(Buffer.from('tea\0pot')), 'tea\0pot');
  for (const wrong of [new Float64Array(2), new Int32Array(2), new Uint8Array(8), [1, 2], null]) {
    assert.throws(() => raw.varve_session_put_vector(session, 'x', wrong),
      { name: 'TypeError', message: /values must be a Float32Array/ });
  }
  for (const [vector, told] of [[[], '0, 0'], [[1, 0.5], '2, 0.5']]) {
    assert.throws(() => raw.varve_session_put_vector(session, 'x', Float32Array.from(vector)),
      { message: told });
  }
  for (const wrong of [1, '1', {}, true, Symbol('x')]) {
    assert.throws(() => raw.varve_store_stats(wrong),
      { name: 'TypeError', message: /store must be a handle/ });
  }
  for (const none of [null, undefined, 0n]) {
    assert.throws(() => raw.varve_store_set_log(none, 0, null), { message: 'store' });
    assert.throws(() => raw.varve_store_set_clock(none, undefined), { message: 'store' });
  }
});

test('no text is null', () => {
  assert.equal(raw.varve_results_next(null), null);
  assert.equal(raw.varve_session_id(null), null);
  assert.equal(raw.varve_session_id(session), 'me');
});

test('a flag of aborts is an Int32Array, or none', async () => {
  for (const wrong of [new Uint32Array(1), new Int32Array(0), new Int8Array(4), {}, 1, [0]]) {
    assert.throws(() => raw.varve_session_get_async(session, 'x', wrong),
      { name: 'TypeError', message: /must be an Int32Array/ });
  }
  for (const none of [null, undefined]) {
    assert.equal(await raw.varve_session_get_async(session, 'x', none), 'x');
  }
  assert.equal(await raw.varve_session_get_async(session, 'x', Int32Array.of(0)), 'x');
  assert.equal(await raw.varve_session_get_async(session, 'x', Int32Array.of(1)), undefined);
});

test('a flag lives as long as its call, and no longer', async () => {
  const flags = new Collected();
  const steps = (text, flag) => raw.varve_session_export_async(session, text, flag);
  const begin = () => Array.from({ length: 8 }, () => steps('W', flags.sees(new Int32Array(1))));
  const calls = begin();
  for (let round = 0; round < 5; round++) {
    collect();
    await new Promise((resume) => { setImmediate(resume); });
  }
  raw.varve_session_export(session, 'w'.repeat(8));
  assert.deepEqual(await Promise.all(calls), Array(8).fill(''));
  assert.equal(await flags.count(8), 8);
});

test('errors carry what the library says of them, and are freed', async () => {
  const told = { status: 20, code: 'STATUS_20', message: 'tea', details: '{"member":"x"}' };
  const silent = { status: 22, code: 'STATUS_22', message: '', details: '' };
  for (const [id, failure] of [['tea', told], ['', silent]]) {
    const args = [session, id, null];
    let thrown;
    try {
      raw.varve_session_delete(...args);
    } catch (error) {
      thrown = error;
    }
    assert.deepEqual({ ...thrown, status: failure.status, code: failure.code }, failure);
    assert.equal(thrown.code, `STATUS_${thrown.status}`);
    const later = await raw.varve_session_delete_async(...args).catch((error) => error);
    assert.deepEqual(later, thrown);
  }
  assert.equal(stats().errors, 0);
});

test('texts that the library gave are freed', async () => {
  echo('tea');
  await raw.varve_session_get_async(session, 'tea');
  assert.equal(stats().texts, 0);
});

test('an answer that is too long for a string says so, and is freed', async () => {
  const refusal = { code: 'ERR_STRING_TOO_LONG', message: /^the answer has 536870912 bytes/ };
  assert.throws(() => raw.varve_store_metrics(store), refusal);
  await assert.rejects(raw.varve_store_metrics_async(store), refusal);
  assert.equal(stats().texts, 0);
});

test('the work of a call goes with it', async () => {
  const works = new Map();
  const hook = createHook({
    init: (id, type) => { if (type === 'varve') works.set(id, 'there'); },
    destroy: (id) => { if (works.has(id)) works.set(id, 'gone'); } });
  hook.enable();
  await raw.varve_session_get_async(session, 'tea');
  await raw.varve_session_delete_async(session, 'tea', null).catch(() => {});
  for (let n = 0; n < 100 && [...works.values()].includes('there'); n++) {
    await new Promise((resume) => { setImmediate(resume); });
  }
  hook.disable();
  assert.deepEqual([...works.values()], ['gone', 'gone']);
});

/** For each kind of handle: the function that opens one, and its arguments; the one that closes. */
const KINDS = {
  store: ['varve_store_open', ['x', null], 'varve_store_close'],
  session: ['varve_session_create', [store, null], 'varve_session_close'],
  'session that is there': ['varve_session_open', [store, 'x'], 'varve_session_close'],
  memory: ['varve_memory_open', [store, null], 'varve_memory_close'],
  window: ['varve_window_new', [5], 'varve_window_free'],
  results: ['varve_session_query', [session, null], 'varve_results_free'],
  'results of a store': ['varve_store_query', [store, null], 'varve_results_free'],
  'results of a memory': ['varve_memory_search', [session, null], 'varve_results_free'],
};

for (const [what, [open, args, close]] of Object.entries(KINDS)) {
  test(`what nobody gets for an exception is closed, and the rest by its owner: ${what}`, async () => {
    const before = stats();
    raw[close](raw[open](...args));
    await raw[`${close}_async`](await raw[`${open}_async`](...args));
    assert.deepEqual(stats(), { ...before, closes: before.closes + 2 });
    if (what === 'store') return;  // nothing is called for it
    raw.varve_store_set_log(store, 0, () => { throw new Error('receiver'); });
    assert.throws(() => raw[open](...args), ({ cause }) => cause.message === 'receiver');
    raw.varve_store_set_log(store, 4, null);
    assert.deepEqual(stats(), { ...before, closes: before.closes + 3 });
  });
}

test('what a worker leaves open is closed when it ends, and nothing twice', async () => {
  const kinds = JSON.stringify(Object.values(KINDS).map(([open, args, close]) =>
    [open, args.map((arg) => (typeof arg === 'bigint' ? null : arg)), close]));
  const { stdout, stderr } = await runOnStub(`
    const stats = () => JSON.parse(raw.varve_store_stats(store));
    const before = stats();
    await once(beginWorker(\`
      for (const [open, args, close] of ${kinds}) {
        raw[open](...args);
        await raw[open + '_async'](...args);
        raw[close](raw[open](...args));
        await raw[close + '_async'](raw[open](...args));
      }\`), 'exit');
    const after = stats();
    console.log(after.handles - before.handles, after.closes - before.closes);`);
  const count = 4 * Object.keys(KINDS).length;
  assert.equal(stdout, `0 ${count}\n`, stderr);
});

test('what a worker leaves open is closed though the addon was asked for that twice', async () => {
  const { stdout, stderr } = await runOnStub(`
    const before = raw.varve_store_stats(store);
    await once(beginWorker(\`
      import { createRequire } from 'node:module';
      raw.varve_store_open('x', null);
      const { cache } = createRequire(${JSON.stringify(import.meta.url)});
      const name = Object.keys(cache).find((path) => path.endsWith('varve.node'));
      cache[name].exports.closeAtEnd();\`), 'exit');
    console.log(JSON.parse(raw.varve_store_stats(store)).handles - JSON.parse(before).handles);`);
  assert.equal(stdout, '0\n', stderr);
});

test('what a worker was opening when it was terminated is closed', async () => {
  const { stdout, stderr } = await runOnStub(`
    const handles = () => JSON.parse(raw.varve_store_stats(store)).handles;
    const before = handles();
    raw.varve_store_set_log(store, 0, () => {});
    const worker = beginWorker(\`
      for (let n = 0; n < 50; n++) raw.varve_store_open_async('x', null);
      parentPort.postMessage('opening');
      for (;;);\`);
    await once(worker, 'message');
    await worker.terminate();
    console.log(handles() - before);`);
  assert.equal(stdout, '0\n', stderr);
});
