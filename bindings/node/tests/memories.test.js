// Key-value store, transcript, vectors, window, memory and contexts.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { getEncoding } from 'js-tiktoken';
import { Window } from '../lib/index.js';
import { finding, openSession, openStore } from './support.js';

test('kv: keys are set, listed and deleted', async (t) => {
  const session = openSession(t);
  await session.kvSet('name', 'Ann \0 😀');
  session.kvSetSync('topic', '');
  assert.equal(await session.kvGet('name'), 'Ann \0 😀');
  assert.equal(session.kvGetSync('working_memory'), '');
  assert.deepEqual((await session.kvList()).map(({ key }) => key), ['name', 'topic']);
  await session.kvDelete('name');
  await assert.rejects(session.kvGet('name'), { code: 'VARVE_NOT_FOUND' });
});

test('transcript: turns come back in order', async (t) => {
  const session = openSession(t);
  await session.transcriptAppend('user', 'Tea?\n### user');
  session.transcriptAppendSync('assistant', 'Yes \0');
  const turns = await session.transcriptLast();
  assert.deepEqual(turns.map(({ role, content }) => [role, content]),
    [['user', 'Tea?\n### user'], ['assistant', 'Yes \0']]);
  assert.deepEqual(session.transcriptLastSync(1).map(({ role }) => role), ['assistant']);
  assert.deepEqual(await session.transcriptLast(0), []);
});

test('a session without kv says so', async (t) => {
  const session = openStore(t).createSessionSync({ stores: [] });
  await assert.rejects(session.kvSet('a', 'b'), { code: 'VARVE_UNSUPPORTED' });
});

test('vectors: entries are found by embeddings', async (t) => {
  const session = openSession(t);
  for (const id of ['east', 'north']) await session.add(finding(id, { id }));
  await session.putVector('east', [1, 0]);
  session.putVectorSync('north', Float32Array.of(0, 1));
  for (const vector of [Float32Array.of(0.1, 0.9), Float64Array.of(0.1, 0.9), [0.1, 0.9]]) {
    assert.equal((await session.query({ vector })).results[0].entry.id, 'north');
    const [first] = session.resultsSync({ vector, limit: 1 });
    assert.equal(first.entry.id, 'north');
    assert.ok((await session.buildContext({ retrieve: [{ query: { vector } }] })).items.length);
  }
  assert.throws(() => session.querySync({ vector: Float32Array.of(NaN, 1) }),
    { code: 'VARVE_INVALID_ARGUMENT' });
  const { results } = await session.query({ vector: [0.9, 0.1] });
  assert.equal(results[0].entry.id, 'east');
  await assert.rejects(session.putVector('east', [1, 2, 3]), { code: 'VARVE_INVALID_ARGUMENT' });
});

test('vectors: nothing but numbers is one', async (t) => {
  const session = openSession(t);
  await session.add(finding('east', { id: 'east' }));
  for (const values of [Buffer.from([0, 1]), '12', ['1', '2'], [null, 1], [true, 1], [, 1], [1n, 2n],
    { length: 2, 0: 1, 1: 2 }, new Set([1, 2]), new ArrayBuffer(8), null, undefined]) {
    await assert.rejects(session.putVector('east', values), { code: 'VARVE_INVALID_ARGUMENT' });
    assert.throws(() => session.putVectorSync('east', values), { code: 'VARVE_INVALID_ARGUMENT' });
  }
  assert.equal((await session.stats()).vectors.records, 0);
  await session.putVector('east', Uint8Array.of(0, 1));
});

test('window: the oldest message leaves a full one', async () => {
  const window = await Window.create(2);
  for (const content of ['one', 'two', 'three']) await window.add({ role: 'user', content });
  assert.equal(window.size, 2);
  const messages = await window.recent();
  assert.deepEqual(messages.map(({ content }) => content), ['two', 'three']);
  assert.ok(messages.every(({ timestamp }) => !Number.isNaN(Date.parse(timestamp))));
  assert.equal(await window.text(), 'user: two\nuser: three\n');
  assert.deepEqual(window.recentSync(1).map(({ content }) => content), ['three']);
  assert.deepEqual(window.recentSync(0), []);
  await window.add({ role: 'user', content: 'four', traceId: 't' });
  assert.equal(window.recentSync(1)[0].traceId, 't');
  assert.equal(window.recentSync(2n ** 64n - 1n).length, 2);
  for (const count of [
    1.5, -1, 2 ** 53, 2n ** 64n, 2n ** 64n + 1n, -1n, NaN, Infinity, '1', true]) {
    assert.throws(() => window.recentSync(count), { name: 'TypeError', message: / n must be / });
  }
  await window.clear();
  assert.equal(window.size, 0);
  await window.close();
  await assert.rejects(window.add({ content: 1 }), { code: 'VARVE_BAD_HANDLE' });
  assert.throws(() => Window.createSync(0), { code: 'VARVE_INVALID_ARGUMENT' });
});

test('memory: what was said is in front, what was stored is found', async (t) => {
  const store = openStore(t);
  const memory = await store.openMemory({ userId: 'ann', window: 2, ttlHours: 1 });
  for (const content of ['one', 'two', 'three']) {
    await memory.record('talk', { role: 'user', content, traceId: 't' });
  }
  const context = await memory.context('talk');
  assert.equal(context.source, 'working');
  assert.deepEqual(context.entries.map(({ content }) => content), ['two', 'three']);
  assert.equal(context.entries[0].sessionId, 'talk');
  assert.equal(typeof context.tokenCount, 'number');
  assert.deepEqual((await memory.context('talk', 1)).entries, []);
  await memory.clear();
  assert.equal(memory.contextSync('talk', 0).source, 'short_term');
  await memory.load('talk');
  await memory.save('talk');
  const id = await memory.store({ content: 'likes tea' });
  assert.equal((await memory.search({ text: 'tea' })).results[0].entry.id, id);
  await memory.delete(id, 'asked');
  assert.equal(memory.searchSync({ text: 'tea' }).results.length, 0);
  await memory.close();
  await assert.rejects(memory.context('talk'), { code: 'VARVE_BAD_HANDLE' });
});

test('memory: promises ask a clock of JavaScript', async (t) => {
  const store = openStore(t);
  const memory = await store.openMemory({ userId: 'ann' });
  let now = Date.parse('2026-01-05T09:00:00Z');
  store.setClock(() => now);
  now += 1000;
  await memory.record('talk', { role: 'user', content: 'tea' });
  const [{ timestamp }] = (await memory.context('talk')).entries;
  assert.equal(timestamp, '2026-01-05T09:00:01.000Z');
});

test('usage: what entries say of tokens is summed', async (t) => {
  const store = openStore(t);
  const session = store.createSessionSync({ userId: 'ann' });
  await session.add(finding('x', { usage: { input_tokens: 5, output_tokens: 2 } }));
  assert.equal((await store.usage({ userId: 'ann' })).total.inputTokens, 5);
  assert.equal(store.usageSync().total.outputTokens, 2);
});

/** A session with a conversation of a few hundred tokens. */
function talk(t) {
  const store = openStore(t);
  const session = store.createSessionSync();
  for (let n = 0; n < 30; n++) {
    session.recordSync('user_message', { content: `Day ${n}: Ann drinks tea ☕ in Kiel.` });
  }
  return { store, session };
}

test('a context recalls from other sessions of the user', async (t) => {
  const store = openStore(t);
  const open = async (sessionId, userId, content) => {
    const session = await store.createSession({ sessionId, userId });
    await session.record('user_message', { content });
    return session;
  };
  await open('earlier', 'ann', 'My kayak is red');
  await open('of-bob', 'bob', 'My kayak is blue');
  const today = await open('today', 'ann', 'Hello again');
  const sessionsOf = async (across) => (await today.buildContext({
    question: 'Is the kayak red?', across })).items.map(({ sessionId }) => sessionId).sort();
  assert.deepEqual(await sessionsOf({ userId: 'ann' }), ['earlier', 'today']);
  assert.deepEqual(await sessionsOf({ sessionIds: ['of-bob'] }), ['of-bob', 'today']);
  assert.deepEqual(await sessionsOf({}), ['earlier', 'of-bob', 'today']);
  await assert.rejects(sessionsOf({ userId: '' }), { code: 'VARVE_INVALID_ARGUMENT' });
  await assert.rejects(sessionsOf({ userId: undefined }), {
    code: 'VARVE_INVALID_ARGUMENT', message: /across.userId is undefined/ });
  await assert.rejects(sessionsOf({ sessionIds: [undefined] }), /across.sessionIds\[0\] is undef/);
  assert.deepEqual(await sessionsOf(undefined), [undefined]);
});

for (const way of ['Sync', '']) {
  test(`contexts are counted by the model's own tokenizer, ${way || 'promise'}`, async (t) => {
    const { store, session } = talk(t);
    const encoding = getEncoding('cl100k_base');
    const counted = (text) => encoding.encode(text).length;
    store.setTokenCounter(counted);
    for (const maxTokens of [60, 150, 400]) {
      const request = { question: 'tea', budget: { maxTokens } };
      const context = await session[`buildContext${way}`](request);
      assert.equal(context.tokenCount, counted(context.text));
      assert.ok(context.tokenCount <= maxTokens && context.items.length > 0);
      assert.equal(context.truncated || context.dropped > 0 || context.items.length === 30, true);
    }
  });

  test(`what a token counter throws ends the call, ${way || 'promise'}`, async (t) => {
    const { store, session } = talk(t);
    const cause = new RangeError('no count');
    store.setTokenCounter(() => { throw cause; });
    const build = async () => session[`buildContext${way}`]({ question: 'tea' });
    await assert.rejects(build, { code: 'VARVE_CALLBACK', cause });
    for (const wrong of ['many', -1, -1n, NaN, Infinity, 2 ** 64, 2n ** 64n, 2n ** 64n + 5n,
      -(2n ** 64n)]) {
      store.setTokenCounter(() => wrong);
      const why = typeof wrong === 'string' || Number.isNaN(wrong)
        ? 'a callback of varve must give a number'
        : 'a callback of varve that counts must give 0 or more, below 2^64';
      await assert.rejects(build, ({ code, cause }) =>
        code === 'VARVE_CALLBACK' && cause instanceof TypeError && cause.message === why,
      String(wrong));
    }
    store.setTokenCounter(null);
    assert.ok((await build()).tokenCount > 0);
  });
}

test('with a count of 64 bits nothing fits', async (t) => {
  const { store, session } = talk(t);
  for (const count of [2 ** 63, 2n ** 63n, 2 ** 64 - 2048, 2n ** 64n - 1n]) {
    store.setTokenCounter(() => count);
    const context = await session.buildContext({ budget: { maxTokens: 1_000_000 } });
    assert.deepEqual([context.items.length, context.text], [0, ''], String(count));
  }
});

test('a counter that is set while contexts are built ends these, or counts', async (t) => {
  const { store, session } = talk(t);
  const building = Array.from({ length: 50 }, () =>
    session.buildContext().then(() => 'done', ({ code }) => code));
  store.setTokenCounter((text) => text.length);
  for (const end of await Promise.all(building)) assert.match(end, /^(done|VARVE_CALLBACK)$/);
});

test('a tool and its result stay together', async (t) => {
  const session = openSession(t);
  await session.record('tool_call', { name: 'ferry', arguments: {}, callId: 'c1', traceId: 't' });
  const id = await session.record('tool_result', { name: 'ferry', result: 1, callId: 'c1' });
  const { references, content } = await session.get(id);
  assert.equal(references.length, 1);
  assert.equal(content.call_id, 'c1');
  assert.equal((await session.get(references[0])).traceId, 't');
});
