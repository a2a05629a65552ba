// Values on their way to JSON and back: numbers, texts, names.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse, stringify } from '../lib/json.js';
import { METADATA_MEMBERS, entryFromWire, entryToWire, optionsToWire, reportFromWire,
  toCamel, toSnake } from '../lib/names.js';
import { finding, openSession, openStore } from './support.js';

const ROUND_TRIPS = {
  'integers beyond 2^53': [9007199254740993n, -9007199254740993n, 18446744073709551615n, 2n ** 80n],
  'integers up to 2^53': [9007199254740991, -9007199254740991, 0, -1],
  fractions: [0.1, 1e300, 5e-324, 0.12345678901234568],
  'texts that look like numbers': ['9007199254740993', ',9007199254740993,', 'bigint-0:1'],
  'marks beside big integers': ['bigint-0:7', 9007199254740993n, '"', '\\"'],
  texts: ['', 'a\0b', '\u{1F600}\u{1F468}\u200D\u{1F469}', '\uFFFD', '\u2028"\\\n', 'é',
    '\x7F\x80\u07FF\u0800\uD7FF\uE000\uFFFF\u{10000}\u{10FFFF}'],
  nested: [{ a: [{ b: null, c: [true, false, 9007199254740993n] }] }],
  names: [JSON.parse('{"__proto__":{"n":1},"constructor":2,"toString":3}')],
};

for (const [what, value] of Object.entries(ROUND_TRIPS)) {
  test(`${what} come back as they were given`, async (t) => {
    const session = openSession(t);
    assert.deepEqual(parse(stringify(value)), value);
    const id = await session.add(finding(value));
    assert.deepEqual((await session.get(id)).content, value);
    assert.deepEqual(session.getSync(id).content, value);
    assert.deepEqual((await session.query({ ids: [id] })).results[0].entry.content, value);
  });
}

test('a big integer that JSON carries in a fraction or exponent stays a number', () => {
  assert.deepEqual(parse('[0.12345678901234567,1e16,12345678901234567.5]'),
    [0.12345678901234567, 1e16, 12345678901234567.5]);
  assert.deepEqual(parse('[-12345678901234567,{"__proto__":12345678901234567}]'),
    [-12345678901234567n, { ['__proto__']: 12345678901234567n }]);
});

test('a number beyond 2^53 is exact in every place of a text', () => {
  for (let before = 0; before < 40; before++) {
    const text = `{"${'x'.repeat(before)}":9007199254740993}`;
    assert.deepEqual(Object.values(parse(text)), [9007199254740993n], text);
  }
});

test('a number beyond 2^53 is exact beside strings with any number of escapes', () => {
  const texts = ['', '"', '\\', '\\"', '"\\\\', '1234567890123456789', 'a\n'.repeat(5_000_000)];
  for (const text of texts) {
    const value = parse(`[${JSON.stringify(text)},9007199254740993,${JSON.stringify(text)}]`);
    assert.ok(value[0] === text && value[1] === 9007199254740993n && value[2] === text);
  }
});

test('a circle is refused', async (t) => {
  const circle = finding({});
  circle.content.self = circle;
  await assert.rejects(openSession(t).add(circle), TypeError);
});

test('Date becomes a time', async (t) => {
  const session = openSession(t);
  const timestamp = new Date('2026-01-05T09:00:00.123Z');
  const id = await session.add(finding('x', { timestamp }));
  assert.equal((await session.get(id)).timestamp, timestamp.toISOString());
  assert.equal(await session.count({ time: { start: timestamp } }), 1);
});

test('half of a surrogate pair is refused, and named', async (t) => {
  const session = openSession(t);
  for (const half of [
    '\uD800', '\uDC00', 'a\uD800b', '\uDC00\uD800', '\uD800\uD800', '\uFFFD\uD800',
    '\uD800\uE000']) {
    assert.throws(() => session.getSync(half), { name: 'TypeError', message: /surrogate/ });
    await assert.rejects(session.delete('id', half), { code: 'VARVE_INVALID_ARGUMENT' });
    await assert.rejects(session.add(finding(half)),
      ({ code, details }) => code === 'VARVE_INVALID_ARGUMENT' && details.member === 'content');
  }
  await assert.rejects(session.get('\uFFFD'), { name: 'VarveError' }, 'U+FFFD itself is a text');
});

test('long texts pass whole', async (t) => {
  const session = openSession(t);
  for (const length of [1000, 1018, 1019, 1020, 1021, 1022, 1023, 1024, 1025, 100000]) {
    for (const letter of ['a', 'é', '€', '😀']) {
      const reason = finding(letter.repeat(length));
      assert.equal((await session.get(session.addSync(reason))).content, reason.content);
    }
  }
});

test('text is also taken as UTF-8 bytes', async (t) => {
  const session = openSession(t);
  const bytes = new TextEncoder().encode(JSON.stringify(finding('tea ☕', { id: 'tea' })));
  assert.equal(await session.add(bytes), 'tea');
  assert.equal(session.getSync(new TextEncoder().encode('tea')).content, 'tea ☕');
  const broken = Uint8Array.of(0x22, 0xff, 0x22);
  await assert.rejects(session.add(broken), { code: 'VARVE_INVALID_ARGUMENT' });
});

test('who gives the words themselves is told what a query is', (t) => {
  const store = openStore(t);
  const told = { code: 'VARVE_INVALID_ARGUMENT', message: /such as {"text":"tea"}/ };
  for (const source of [store, store.createSessionSync()]) {
    for (const words of ['tea', '["tea"]']) {
      assert.throws(() => source.querySync(words), told);
      assert.throws(() => [...source.resultsSync(words)], told);
    }
  }
});

test('arguments of a wrong type are a TypeError that names them', async (t) => {
  const session = openSession(t);
  await assert.rejects(session.get(5), { name: 'TypeError', message: /varve_session_get: id/ });
  await assert.rejects(session.get(), { name: 'TypeError', message: /id must be a string/ });
  assert.throws(() => session.addSync(), { name: 'TypeError', message: /entry_json/ });
  await assert.rejects(session.add([]), { code: 'VARVE_INVALID_ARGUMENT' });
});

test('names of varve are camelCase, names of the user stay', async (t) => {
  const session = openSession(t);
  const given = finding({ order_id: 1, orderId: 2 }, {
    traceId: 't-1', spanId: 's-1', my_own: 1, myOwn: 2, constructor: 3,
    expiresAt: '2100-01-01T00:00:00Z' });
  const id = await session.add(given);
  const stored = await session.get(id);
  assert.deepEqual({ ...stored, ...given, expiresAt: stored.expiresAt }, stored);
  const lines = await session.export('jsonl');
  for (const name of [
    'order_id', 'orderId', 'trace_id', 'span_id', 'my_own', 'myOwn', 'expires_at']) {
    assert.ok(lines.includes(`"${name}":`), name);
  }
  assert.equal(await session.count({ traceId: 't-1', content: { orderId: 2 } }), 1);
  assert.equal(await session.count({ content: { orderId: 1 } }), 0);
});

test('an entry without the usual members keeps all of those it has', () => {
  const entry = { id: 'x', trace_id: 't', content: { session_id: 1 } };
  assert.deepEqual(entryFromWire(entry), { id: 'x', traceId: 't', content: { session_id: 1 } });
  assert.deepEqual(entryToWire(entryFromWire(entry)), entry);
});

test('an entry of a batch has all its members, in their order', async (t) => {
  const session = openSession(t);
  const [plain, more] = await session.addBatch([finding('tea'), finding('cup', { traceId: 't' })]);
  const alone = Object.keys(await session.get(await session.add(finding('pot'))));
  assert.deepEqual(Object.keys(await session.get(plain)), ['batch', ...alone]);
  assert.deepEqual(await session.addBatch([]), []);
  assert.deepEqual(Object.keys(await session.get(more)), ['batch', ...alone, 'traceId']);
});

test('a member may have any name', async (t) => {
  const session = openSession(t);
  const entry = JSON.parse(`{"type":"finding","content":1,"traceId":"t","valueOf":2,
    "__proto__":{"toString":3}}`);
  const stored = session.getSync(await session.add(entry));
  for (const name of ['valueOf', '__proto__']) {
    assert.deepEqual(Object.getOwnPropertyDescriptor(stored, name),
      Object.getOwnPropertyDescriptor(entry, name));
  }
  await session.update(JSON.parse('{"__proto__":{"mine":1}}'));
  assert.deepEqual(Object.getOwnPropertyDescriptor(await session.metadata(), '__proto__').value,
    { mine: 1 });
  assert.deepEqual(reportFromWire(JSON.parse('{"a_b":{"__proto__":1}}')).aB,
    { ['__proto__']: 1 });
});

test('preferences, types and members of your own in metadata stay as they are', async (t) => {
  const store = openStore(t);
  const preferences = { drinkOrder: 1, drink_order: 2 };
  const session = await store.createSession({ preferences, ttlPolicy: 'fixed',
    decayConfig: { typeSpecific: { tool_call: { halfLifeHours: 2 } } } });
  await session.update({ my_own: { aB: 1, a_b: 2 }, title: 'T' });
  const metadata = await session.metadata();
  assert.deepEqual(metadata.preferences, preferences);
  assert.deepEqual(metadata.my_own, { aB: 1, a_b: 2 });
  assert.deepEqual(metadata.decayConfig, { typeSpecific: { tool_call: { halfLifeHours: 2 } } });
  await session.update({
    decayConfig: { minDecayFactor: 0.5 }, compactionConfig: { autoCompact: false } });
  const { decayConfig, compactionConfig } = await session.metadata();
  assert.deepEqual([decayConfig.minDecayFactor, compactionConfig.autoCompact], [0.5, false]);
  await session.add({ type: 'tool_call', content: 1 });
  assert.equal((await session.stats()).types.tool_call, 1);
  assert.equal((await session.metadata()).statistics.tool_call, 1);
});

test('every member that varve puts into metadata has its name in JavaScript', async (t) => {
  const session = await openStore(t).createSession({
    userId: 'u', agentId: 'a', title: 't', ttlHours: 1, ttlPolicy: 'fixed', decayConfig: {},
    compactionConfig: {}, durability: 'os', kvCap: 5, transcriptCap: 5 });
  await session.delete(await session.add(finding('x')));
  await session.compact();
  const names = Object.keys(await session.metadata());
  assert.deepEqual(names.filter((name) => name.includes('_')), [], 'extend METADATA_MEMBERS');
  assert.ok(names.includes('compactedThroughSeq') && names.includes('compactions'));
  assert.ok(METADATA_MEMBERS.every((name) => toSnake(toCamel(name)) === name));
});

test('the index for people has ids, tags and types as its names', async (t) => {
  const session = openSession(t);
  await session.add(finding('x', { id: 'my_id', tags: ['a_b'] }));
  const index = await session.index();
  assert.deepEqual(index.tags, { a_b: ['my_id'] });
  assert.deepEqual(index.types, { finding: ['my_id'] });
  assert.equal(index.entries.my_id.lineNumber, 1);
});

test('figures and explanations keep the words and names that are not of varve', async (t) => {
  const store = openStore(t);
  const session = store.createSessionSync();
  await session.add(finding('the order_id of Ann'));
  const { metrics } = await store.stats();
  assert.ok('memory.compaction.duration_ms' in metrics, Object.keys(metrics).join());
  const page = await session.query({ text: 'order_id', sortBy: 'match', explain: true });
  assert.equal(page.explain.sortBy, 'match');
  const names = JSON.stringify(page.results[0].explain);
  assert.match(names, /"order_id"/);
  assert.doesNotMatch(names.replaceAll('order_id', ''), /"\w+_\w+":/);
  const { entries, ...rest } = await session.index();
  assert.ok('lastUpdated' in rest && 'byteOffset' in Object.values(entries)[0]);
});

test('options and reports are renamed as deep as they go', () => {
  assert.deepEqual(
    optionsToWire({ minImportance: 1, tags: { include: ['aB'] }, snake_case: [{ aB: 1 }] }),
    { min_importance: 1, tags: { include: ['aB'] }, snake_case: [{ a_b: 1 }] });
  assert.deepEqual(
    reportFromWire({ size_bytes: { log_x: 1 }, types: { tool_call: 1 }, p50: [null] }),
    { sizeBytes: { logX: 1 }, types: { tool_call: 1 }, p50: [null] });
});

test('a misspelt option is named as it stands in JSON', async (t) => {
  const store = openStore(t);
  await assert.rejects(store.createSession({ sessionName: 'x' }),
    ({ code, details }) => code === 'VARVE_INVALID_ARGUMENT' && details.member === 'session_name');
});

test('what has no members for JSON is no document, and so not everything', async (t) => {
  const store = openStore(t);
  const session = store.sessionSync('kitchen');
  session.addSync(finding('tea'));
  const query = { minImportance: 0.9 };
  const printed = { toJSON: () => '{}' };
  for (const given of [Promise.resolve(query), new Map(Object.entries(query)), new Set(), () => query,
    Object.create(query), new (class { get text() { return 'coffee'; } })(), printed, new Date(),
    new DataView(Buffer.from('{"minImportance":0.9}').buffer), new Float32Array()]) {
    const refused = { name: 'VarveError', code: 'VARVE_INVALID_ARGUMENT' };
    await assert.rejects(session.deleteWhere(given), refused);
    assert.throws(() => session.deleteWhereSync(given), refused);
    assert.throws(() => session.querySync(given), refused);
    assert.throws(() => store.createSessionSync(given), refused);
    assert.throws(() => session.resultsSync(given).next(), refused);
  }
  assert.equal(session.countSync(), 1);
  assert.equal(session.countSync(Object.create(null)), 1);
});

test('members of a class of yours have the names of varve', async (t) => {
  const store = openStore(t);
  const session = store.sessionSync('kitchen');
  class Remark {
    type = 'finding';
    traceId = 'trip';
    expiresAt = new Date(0);
    constructor(content) { this.content = content; }
  }
  class Printed {
    toJSON() { return { ...new Remark('printed'), expiresAt: undefined }; }
  }
  class Conditions { traceId = 'trip'; }
  await session.addBatch([new Remark('gone at once'), new Printed()]);
  await session.add(new Printed());
  await session.record('observation', new Printed());
  assert.equal(session.countSync(new Conditions()), 3);
  assert.equal(session.countSync({ time: new (class { start = new Date(0); }) }), 3);
  assert.equal((await store.createSession(new (class { userId = 'ann'; }))).metadataSync().userId, 'ann');
});
