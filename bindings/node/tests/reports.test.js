// The types of reports and settings: each member is in some answer under that name, and of that
// type; and no answer has a member without a type.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { Comparison } from './declared.js';
import { openStore } from './support.js';

const folder = mkdtempSync(join(tmpdir(), 'varve-reports-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const DECAY = {
  enabled: true, halfLifeHours: 3, defaultHalfLifeHours: 5, minDecayFactor: 0.5, curve: 'linear',
  typeSpecific: {
    song: { halfLifeHours: 2, minDecayFactor: 0, curve: 'step', decayEnabled: true } },
  updateIntervalMinutes: 7 };
const COMPACTION = { autoCompact: false, threshold: 0.25 };
const OPTIONS = {
  sessionId: 'kitchen', userId: 'ann', agentId: 'cook', title: 'Kitchen', kvCap: 0,
  transcriptCap: 7, ttlHours: 24, ttlPolicy: 'fixed', durability: 'os', decayConfig: DECAY,
  compactionConfig: COMPACTION, preferences: { tea_first: true } };
const TEA = {
  type: 'finding', content: 'green tea', tags: ['drinks'], timestamp: '2026-01-10T10:00:00Z',
  usage: { input_tokens: 412, output_tokens: 9, cost_usd: 0.5 } };

const compared = new Comparison('config.d.ts', 'reports.d.ts');
const compare = (type, answer) => { compared.compare(type, answer); return answer; };

test('what looks after a session and a store', async (context) => {
  const store = openStore(context, join(folder, 'store'));
  const session = await store.createSession(OPTIONS);
  const id = await session.add(TEA);
  await session.putVector(id, [1, 2]);
  await session.add({ type: 'finding', content: 'coffee', references: [id] });
  const time = { start: '2026-01-10T00:00:00Z' };
  compare('UsageReport', await store.usage({ userId: 'ann', time }));
  compare('SessionIndex', await session.index());
  compare('SessionTags', await session.tags());
  compare('SessionFiles', await session.files());
  for await (const summary of store.sessions()) compare('SessionSummary', summary);
  await session.delete(id);
  const { notes } = compare('VerifyReport', await session.verify({ deep: true }));
  assert.equal(notes[0].target, id);
  compare('CompactionReport', await session.compact({ dryRun: true }));
  const { vectorsBefore } = compare('CompactionReport', await session.compact());
  assert.equal(vectorsBefore, 1);
  compare('CompactionReport', await session.purge());
  compare('RepairReport', await session.repair());
  compare('MigrateReport', await session.migrate());
  compare('RebuildReport', await session.rebuildIndex());
  compare('ExportReport', await session.exportFile(join(folder, 'export.jsonl')));
  const text = '{"type":"Not one"}\n';
  compare('ImportReport', await session.import(text));
  compare('SessionStats', await session.stats());
  compare('StoreStats', await store.stats());
  compare('BackupReport', await store.backup(join(folder, 'backup')));
  compare('RestoreReport', await store.restore(join(folder, 'backup'), { overwrite: true }));
  compare('SweepReport', await store.sweep());
  const metadata = compare('Metadata', await (await store.openSession('kitchen')).metadata());
  assert.deepEqual(metadata.decayConfig, DECAY);
  assert.deepEqual(metadata.compactionConfig, COMPACTION);
  assert.deepEqual(metadata.preferences, OPTIONS.preferences);
  assert.deepEqual([metadata.kvCap, metadata.compactions[0].cause], [0, 'asked']);
  assert.ok(metadata.restoredAt >= metadata.lastCompaction);
});

test('why a result stands where it does', async (context) => {
  const store = openStore(context, 'memory:');
  const session = await store.createSession();
  await session.putVector(await session.add(TEA), [1, 2]);
  const query = { text: 'tea', vector: [1, 2], explain: true };
  for (const page of [await session.query(query), await store.query(query)]) {
    compare('PageExplanation', page.explain);
    assert.ok(compare('Explanation', page.results[0].explain).best.match > 0);
  }
});

test('what is damaged is told by session and place', async (context) => {
  const from = join(folder, 'damaged');
  const damaged = openStore(context, from);
  await (await damaged.session('kitchen')).add(TEA);
  const log = join(from, 'sessions', 'kitchen', 'memory.jsonl');
  writeFileSync(log, readFileSync(log, 'utf8').replace('green', 'greed'));
  const { problems } = compare('BackupReport', await damaged.backup(join(folder, 'of-damaged')));
  assert.deepEqual([problems[0].sessionId, problems[0].copied], ['kitchen', true]);
  const { problems: found } = compare('VerifyReport',
    await (await damaged.openSession('kitchen')).verify());
  assert.equal(found[0].file, 'memory.jsonl');
  const strict = openStore(context, from, { integrity: { recovery: 'strict' } });
  const usage = compare('UsageReport', await strict.usage());
  assert.deepEqual([usage.problems[0].sessionId, usage.total.entries], ['kitchen', 0]);
});

test('very many types', async (context) => {
  const store = openStore(context, 'memory:');
  const session = await store.createSession();
  await session.addBatch(Array.from({ length: 10_005 }, (_, n) => ({ type: `t${n}`, content: n })));
  const { statisticsRest } = compare('Metadata', await session.metadata());
  assert.deepEqual(statisticsRest, { types: 5, entries: 5 });
});

test('a log of format version 0, and metadata of a compaction that was killed', async (context) => {
  const store = openStore(context, join(folder, 'old'));
  const place = join(folder, 'old', 'sessions', 'old');
  mkdirSync(place, { recursive: true });
  writeFileSync(join(place, 'memory.jsonl'),
    '{"id":"a","type":"finding","content":1,"timestamp":"2025-01-01T00:00:00Z"}\n');
  const session = await store.openSession('old');
  assert.equal(compare('MigrateReport', await session.migrate()).changed, true);
  assert.equal(compare('Metadata', await session.metadata()).migrations[0].to, 1);
  await session.close();
  const path = join(place, 'metadata.json');
  writeFileSync(path, `{"stray_vectors":true,${readFileSync(path, 'utf8').slice(1)}`);
  const again = await store.openSession('old');
  assert.equal(compare('Metadata', await again.metadata()).strayVectors, true);
});

test('who is writing', async (context) => {
  const store = openStore(context, join(folder, 'locked'));
  const session = await store.createSession();
  const deadline = Date.now() + 60_000;
  let held = null;
  while (held === null && Date.now() < deadline) {
    const adding = session.add(TEA);
    for (let n = 0; n < 50 && held === null; n++) {
      const stats = session.statsSync();
      if (stats.lock.processId !== undefined) held = compare('SessionStats', stats).lock;
    }
    await adding;
  }
  assert.deepEqual([held?.held, held?.processId], [true, process.pid]);
});

test('a dry run of an import that is too large', async (context) => {
  const store = openStore(context, 'memory:', { storage: { maxSessionSizeMb: 1 } });
  const session = await store.createSession();
  const file = join(folder, 'large.jsonl');
  writeFileSync(file, `${JSON.stringify({ ...TEA, content: 'tea '.repeat(150_000) })}\n`.repeat(2));
  const report = compare('ImportReport', await session.importFile(file, { dryRun: true }));
  assert.equal(report.exceedsLimit, true);
});

test('an import that makes room', async (context) => {
  const store = openStore(context, 'memory:', { storage: { maxSessionSizeMb: 1 } });
  const session = await store.createSession();
  const line = `${JSON.stringify({
    type: 'finding', content: 'tea '.repeat(5_000), importance: 0.1,
    timestamp: '2001-01-01T00:00:00Z' })}\n`;
  assert.equal((await session.import(line.repeat(45))).evicted, undefined);
  const report = compare('ImportReport', await session.import(line.repeat(50)));
  assert.deepEqual([report.added, report.existing, report.evicted], [5, 45, 45]);
});

/** Every setting, with a value that is in its range. */
const SETTINGS = {
  version: '1.0', durability: 'os', threads: 2,
  storage: {
    maxSessionSizeMb: 1.5, maxEntrySizeBytes: 1000, maxUserSizeMb: 7, maxUserSessions: 3, kvCap: 0,
    transcriptCap: 1, autoCompact: false, compactionThreshold: 0.5, rootDirectory: 'nowhere' },
  concurrency: { lockTimeoutMs: 0, exclusive: true, maxRetries: 1, retryBackoffMs: 1 },
  performance: { batchWriteIntervalMs: 10, cacheSize: 0, maxKeptSessions: 0, indexInMemory: true },
  integrity: {
    recovery: 'salvage', ioFailure: 'buffer', ioFailureBufferMb: 1, enableChecksums: true,
    checksumAlgorithm: 'sha256' },
  decay: DECAY,
  text: {
    language: 'none', stopWords: [],
    best: {
      neighbour: 1, answer: 2, stretch: 3, role: 4, date: 5, relevance: 6, candidates: 7 } } };

test('the library takes every setting under its name', async (context) => {
  const store = openStore(context, 'memory:', compare('StoreConfig', SETTINGS));
  const session = await store.createSession({ compactionConfig: COMPACTION });
  const { durability, sizeLimitBytes } = await session.stats();
  assert.deepEqual([durability, sizeLimitBytes], ['os', 1.5 * 2 ** 20]);
});

test('every member was seen, and was of its type', () => {
  assert.deepEqual(compared.wrong, []);
  assert.deepEqual(compared.neverSeen(), []);
  assert.ok(compared.seen.size > 250, `${compared.seen.size} members`);
});
