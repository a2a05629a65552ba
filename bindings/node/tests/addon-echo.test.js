// Every function of the addon, called with arguments that can be told apart: each arrives in its
// place, integers of 64 bits in full, and what the function gives comes back.
import assert from 'node:assert/strict';
import { readFileSync, truncateSync } from 'node:fs';
import { test } from 'node:test';
import { load } from '../lib/index.js';
import { library } from '../lib/native.js';
import { FUNCTIONS, RANGES, SCORE, buildEcho, handleOf, isOfErrors, plain,
  telling } from './echo.js';

const echo = buildEcho();
load(echo.path);
const raw = library();

/** What was called since the last time. */
function written() {
  const text = readFileSync(echo.written, 'utf8');
  truncateSync(echo.written);
  return text;
}

const INPUTS = new Set(['handle', 'text', 'in', 'callback']);
const inputsOf = ({ params }) => telling(params).filter(({ role }) => INPUTS.has(role));
const hex = (text) => `'${Buffer.from(text).toString('hex')}'`;

/** An argument, and how it is written down. `way` is which of the possible ones. */
function argument(api, param, at, way) {
  if (param.type === 'const float *') {
    const numbers = Array.from({ length: way + 3 }, (_, n) => n + at + 0.25);
    return [Float32Array.from(numbers), `${numbers.length}:${numbers.join(',')},`];
  }
  if (param.role === 'handle') {
    const handle = [0x8000_0000_0000_0001n, 2n ** 64n - 1n, 2n ** 63n - 1n][way] - BigInt(16 * at);
    return [handle, `#${handle}`];
  }
  if (param.role === 'text') {
    const texts = [`${param.name} of ${api.name}, ☕`, `${at}\0${param.name}`, `${at}`.repeat(5000)];
    return [way === 1 ? Buffer.from(texts[way]) : texts[way], hex(texts[way])];
  }
  if (param.role === 'callback') return [() => 0, 'function with its data'];
  const [least, most] = RANGES[plain(param.type)];
  const number = [most - BigInt(at), least + BigInt(at), 2n ** 31n - 1n - BigInt(at)][way];
  return [number, `${number}`];
}

/** What a call gives, as the echo gives it. */
function given({ name, returns, params }) {
  const out = params.find(({ role }) => /^(handle_out|owned_text|borrowed_text|out)$/.test(role));
  if (name === 'varve_abi_version') return 1;
  if (out?.role === 'handle_out') return handleOf(name);
  if (out?.role === 'out') return out.type === 'double *' ? SCORE : 2n ** 64n - 1n;
  if (out !== undefined) return `${name}.${out.name}`;
  if (returns === 'const char *') return name;
  return returns === 'size_t' ? 2n ** 64n - 1n : undefined;
}

const isKeptInside = ({ params }) => params.some(isOfErrors)
  || params.some(({ type, role }) => type === 'void *' && role !== 'user_data');
const called = new Set();

async function callBothWays(api, args, line) {
  const calls = [api.name, `${api.name}_async`].filter((name) => raw[name] !== undefined);
  for (const name of calls) {
    assert.deepEqual(await raw[name](...args), given(api), `what ${name} gives`);
    assert.equal(written(), line, `what ${name} was given`);
    called.add(name);
  }
}

for (const api of FUNCTIONS.filter((each) => !isKeptInside(each))) {
  test(`${api.name} is given its arguments`, async () => {
    written();
    for (const way of [0, 1, 2]) {
      const pairs = inputsOf(api).map((param, at) => argument(api, param, at, way));
      const line = `${[api.name, ...pairs.map(([, told]) => told)].join(' ')}\n`;
      await callBothWays(api, pairs.map(([value]) => value), line);
    }
    // What may be absent is, one at a time: the others stay in their places.
    for (const [absent, param] of inputsOf(api).entries()) {
      if (!param.nullable || param.type === 'const float *') continue;
      const pairs = inputsOf(api).map((each, at) => argument(api, each, at, 0));
      const none = { handle: '#0', text: 'null', callback: 'none' }[param.role];
      pairs[absent] = [null, none];
      const line = `${[api.name, ...pairs.map(([, told]) => told)].join(' ')}\n`;
      await callBothWays(api, pairs.map(([value]) => value), line);
    }
  });
}

test('every function of the addon was called', () => {
  assert.deepEqual(Object.keys(raw).filter((name) => !called.has(name)), []);
  assert.deepEqual(FUNCTIONS.filter((each) => isKeptInside(each)).map(({ name }) => name),
    ['varve_free', 'varve_error_status', 'varve_error_message', 'varve_error_details',
      'varve_error_free']);
});
