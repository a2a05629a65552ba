// A program of somebody who uses the types: it is compiled, not run. What must not compile stands
// below @ts-expect-error, which is an error itself when the line does compile.
import { LoadError, Memory, Session, Store, VarveError, Window, load, version } from 'varve';
import type { DecayConfig, Entry, Page, Result, SessionStats, StoreConfig, UsageFilter }
  from 'varve';
import type { Failure, Raw } from '../lib/raw.js';
import { VARVE_NOT_FOUND } from 'varve/constants';

// Values that are declared by interfaces, and arrays that nobody changes, are documents, too.
interface Ticket { type: string; content: string; tags: readonly string[]; priority: number }
interface Spoken { content: string }

export async function main(signal: AbortSignal): Promise<string[]> {
  const spoken: Spoken = { content: 'Tea, please' };
  await using store = await Store.open('memory:', { storage: { maxSessionSizeMb: 5 } });
  using session: Session = store.createSessionSync({ userId: 'ann', ttlHours: 3 });
  store.setLog((line, level) => console.log(level, line.message), { level: 'warn' });
  store.setClock(() => new Date());
  session.setProgress(({ done, total }) => done <= total);

  const id: string = await session.add(
    { type: 'finding', content: { order: 9007199254740993n }, expiresAt: new Date() }, { signal });
  const entry: Entry = session.getSync(id);
  const page: Page = await session.query({ text: 'tea', sortBy: 'best' }, { signal });
  const found: Result[] = page.results;
  found.push(...session.querySync({ vector: Float32Array.of(0.5), vectorWeight: 1 }));
  for (const { entry: { id: other }, relevance } of page) console.log(other, relevance);
  using kitchen: Session = await store.session('kitchen', { userId: 'ann' }, { signal });
  const lost: boolean = kitchen.repairSync().metadataLost;
  store.sessionSync(lost ? 'hall' : 'kitchen', { ifExists: 'open' });
  for await (const result of session.results({ tags: { include: ['drinks'] } })) found.push(result);
  for await (const summary of store.sessions({ userId: 'ann' })) console.log(summary.sessionId);
  const deleted: number = await session.deleteWhere({ minImportance: 0.5 }, 'request 4711');
  console.log(deleted, entry.traceId, entry.content.order, version(), load());
  const { dropped } = await session.purge();
  console.log(dropped.deleted);
  await session.update({ title: 'Things', mine: 1 });

  store.setTokenCounter((text) => text.length);
  await session.record('tool_call', { name: 'ferry', arguments: {}, callId: 'c1' });
  const { text, tokenCount } = await session.buildContext({
    question: 'tea', budget: { maxTokens: 100 } });
  const across = await session.buildContext({ question: 'tea', across: { userId: 'ann' } });
  console.log(across.items.map(({ id, sessionId = '' }) => `${sessionId}/${id}`));
  await session.putVector(id, [0.1, 0.2]);
  await using memory: Memory = await store.openMemory({ userId: 'ann' });
  await memory.record('talk', { role: 'user', content: text.slice(tokenCount) });
  using window = Window.createSync(20);
  window.addSync({ role: 'user', content: await session.kvGet('working_memory') });

  const ticket: Ticket = { type: 'finding', content: 'It rains', tags: ['weather'], priority: 2 };
  const tickets: readonly Ticket[] = [ticket];
  await session.add(ticket);
  await session.addBatch(tickets);
  await session.record('user_message', spoken);
  await session.update(spoken);
  const { exceedsLimit = false } = await session.importFile('./old.jsonl', { dryRun: true });
  if (exceedsLimit) await session.compact();
  const tags = ['weather'] as const;
  const vector = [1] as const;
  await session.query({ types: tags, tags: { include: tags }, content: spoken, vector });
  await session.buildContext({ pinned: tags, retrieve: [{ types: tags }] as const });
  await store.session('hall', { stores: ['kv'] as const, preferences: spoken });
  await memory.store(spoken);

  const settings: StoreConfig = {
    concurrency: { exclusive: true }, integrity: { recovery: 'strict', ioFailure: 'buffer' },
    text: { language: 'none', best: { role: 1 } },
    decay: { typeSpecific: { song: { curve: 'step' } } } };
  await (await Store.open('memory:', settings)).close();
  const filter: UsageFilter = { sessionIds: ['kitchen'], time: { start: new Date() } };
  const { total, days, problems } = await store.usage(filter);
  console.log(total.costUsd, days.map(({ day, inputTokens }) => `${day} ${inputTokens}`), problems);
  const stats: SessionStats = session.statsSync();
  console.log(stats.lock.processId ?? 0, stats.sizeBytes.vectors + stats.usage.outputTokens);
  const { metrics } = await store.stats();
  const figure = metrics['memory.operations.write.duration_ms'];
  if (typeof figure === 'object') console.log(figure.p99);
  const { notes, vectors } = await session.verify({ deep: true });
  for (const { target } of notes) console.log(target.length + vectors.dimension);
  const { decayConfig, compactions = [], mine } = await session.metadata();
  const decay: DecayConfig | undefined = decayConfig;
  console.log(decay?.curve, compactions.at(-1)?.dropped.evicted, mine);
  for (const { explain } of await session.query({ text: 'tea', explain: true })) {
    console.log(explain?.best?.date, explain?.terms?.[0]?.term.length);
  }
  console.log((await session.index()).entries[id]?.lineNumber);

  // @ts-expect-error not a setting
  await Store.open('memory:', { storage: { maxSessionSizeMB: 5 } });
  // @ts-expect-error not a figure
  console.log(stats.sizeByte);
  // @ts-expect-error not what usage can be asked for
  await store.usage({ sessionId: 'kitchen' });
  // @ts-expect-error not a reason
  console.log(dropped.lost);
  // @ts-expect-error not a kind of step
  await session.record('song', { content: 'la' });
  // @ts-expect-error an entry has a type
  await session.add({ content: 'tea' });
  // @ts-expect-error not what can be done
  await store.createSession({ ifExists: 'replace' });
  // @ts-expect-error not an order
  await session.query({ sortBy: 'colour' });
  // @ts-expect-error not an object
  await store.createSession({ preferences: 'tea' });
  // @ts-expect-error not an array
  await session.putVector(id, { length: 1, 0: 0.5 });
  await session.putVector((await session.query({ vector: new Int8Array(2) })).results[0].entry.id,
    new Int8Array(2));
  // @ts-expect-error made by a store only
  new Session();
  for (const { id: said, sessionId, role, tags: given } of (await memory.context('talk')).entries) {
    // @ts-expect-error a message that was given without tags has none
    console.log(said.length, sessionId.length, role, given.length);
  }
  for await (const summary of store.sessions()) {
    // @ts-expect-error not of a session whose metadata.json is damaged
    console.log(summary.lastAccessed.slice(0, 10), summary.userId.length);
  }
  // @ts-expect-error a promise
  session.get(id).content;
  return found.map((result) => result.entry.id);
}

export function tell(error: unknown): string {
  if (error instanceof VarveError) {
    return error.code === 'VARVE_NOT_FOUND' && error.status === VARVE_NOT_FOUND
      ? 'nothing' : `${error.message} ${error.details.member}`;
  }
  return error instanceof LoadError ? error.tried.map((place) => place.path).join() : String(error);
}

/** The raw layer has types, too. */
export function rawCount(raw: Raw, session: bigint): number | bigint | Failure {
  return raw.varve_session_count(session, '{}');
}
