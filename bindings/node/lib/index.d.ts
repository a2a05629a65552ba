/// <reference lib="esnext.disposable" />
// The types of varve. Members that varve defines are camelCase; what you define stays as you wrote
// it (README.md#names). A document may also be given as JSON text, which is taken as it is.
// What is given has members of the type `any`: a value declared by an interface fits only those.
import type { CompactionConfig, DecayConfig, Durability, StoreConfig } from './config.js';
import type { BackupReport, CompactionReport, ExportReport, Explanation, ImportReport, Metadata,
  MigrateReport, PageExplanation, RebuildReport, RepairReport, RestoreReport, SessionFiles,
  SessionIndex, SessionStats, SessionSummary, SessionTags, StoreStats, SweepReport, UsageReport,
  VerifyReport } from './reports.js';
export * from './config.js';
export * from './reports.js';

/** RFC 3339. */
export type Time = string;
export type Json = null | boolean | number | bigint | string | Json[] | { [name: string]: Json };
export type JsonText = string | Uint8Array;
/** An embedding: numbers, and not a Buffer, which is bytes. */
export type Vector = readonly number[] | Float32Array | Float64Array | Int8Array | Uint8Array
  | Uint8ClampedArray | Int16Array | Uint16Array | Int32Array | Uint32Array;
export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

export interface CallOptions {
  /** Rejects the promise at once. A call that has begun goes on to its end. */
  signal?: AbortSignal | null;
}

/** What can be given as an entry; everything else in it is kept as it is. */
export interface NewEntry {
  type: string;
  content: unknown;
  id?: string;
  timestamp?: Time | Date;
  importance?: number;
  tags?: readonly string[];
  references?: readonly string[];
  relations?: Record<string, readonly string[]>;
  decayFactor?: number;
  expiresAt?: Time | Date;
  ttlSeconds?: number;
  traceId?: string;
  spanId?: string;
  usage?: EntryUsage;
  [other: string]: any;
}

/** What the model call behind an entry used, as chats have it; `usage` of a store sums it. */
export interface EntryUsage {
  input_tokens?: number;
  output_tokens?: number;
  cost_usd?: number;
  [other: string]: any;
}

/**
 * An entry as it is stored. One that somebody wrote into the file by hand may have no more than `id`,
 * `type`, `content` and `timestamp`.
 */
export interface Entry {
  id: string;
  type: string;
  content: any;
  timestamp: Time;
  importance: number;
  tags: string[];
  references: string[];
  sessionId: string;
  seq: number;
  checksum: string;
  decayFactor: number;
  schemaVersion: number;
  relations?: Record<string, string[]>;
  expiresAt?: Time;
  traceId?: string;
  spanId?: string;
  /** Its place among those it was added with: `i`, from 0, of `n`. */
  batch?: { i: number; n: number };
  usage?: EntryUsage;
  [other: string]: any;
}

/** Which entries; include/varve/query.h and docs/query.md tell what each member means. */
export interface Conditions {
  text?: string;
  /** Instead of `text`, as a person asks: words and "phrases"; signs and wildcards say nothing. */
  question?: string;
  /** An embedding of the question, for entries that were given theirs by `putVector`. */
  vector?: Vector;
  /** What the vector counts beside the text, 0 to 1. */
  vectorWeight?: number;
  types?: readonly string[];
  tags?: { include?: readonly string[]; exclude?: readonly string[]; match?: 'any' | 'all' };
  time?: { start?: Time | Date; end?: Time | Date; last?: string };
  minImportance?: number;
  minRelevance?: number;
  references?: readonly string[];
  relation?: string;
  maxDepth?: number;
  ids?: readonly string[];
  traceId?: string;
  content?: Record<string, any>;
  now?: Time | Date;
  [other: string]: any;
}

export interface Query extends Conditions {
  sortBy?: 'best' | 'relevance' | 'match' | 'time' | 'importance';
  order?: 'asc' | 'desc';
  limit?: number;
  after?: string;
  explain?: boolean;
}

export interface StoreQuery extends Query {
  userId?: string;
  agentId?: string;
  sessionIds?: readonly string[];
}

export interface Result {
  entry: Entry;
  sessionId: string;
  /** Importance, decay, recency and match together, 0 to 1.5. */
  relevance: number;
  decayFactor: number;
  matchQuality: number;
  explain?: Explanation;
}

/** One page of results, which can be iterated; `next` is the `after` of the next one. */
export interface Page extends Iterable<Result> {
  results: Result[];
  next: string | null;
  explain?: PageExplanation;
}

/** A message as chat programs write it; an entry is one, too. */
export interface Message {
  role?: string;
  content: unknown;
  timestamp?: Time | Date;
  [other: string]: any;
}

/** What include/varve/context.h says. */
export interface ContextRequest {
  question?: string;
  retrieve?: readonly {
    recency?: number; importance?: number; types?: readonly string[]; query?: Query }[];
  rank?: readonly { temporal?: number; importance?: number; match?: number }[];
  /** Asked, too: {} is every session of the store, everybody's. */
  across?: { userId?: string; agentId?: string; sessionIds?: readonly string[] };
  budget?: { maxTokens?: number; reserveTokens?: number };
  keepTogether?: boolean;
  pinned?: readonly string[];
  excludeIds?: readonly string[];
  format?: 'markdown' | 'chat' | 'json' | 'plain';
  now?: Time | Date;
}

export interface Context {
  text: string;
  /** In the order of the text. */
  items: ContextItem[];
  tokenCount: number;
  dropped: number;
  truncated: boolean;
}

export interface ContextItem {
  id: string;
  /** When the request has `across`. */
  sessionId?: string;
  tokens: number;
  rank: number;
  source: 'pinned' | 'recalled' | 'recent';
}

export type Step = 'user_message' | 'assistant_message' | 'tool_call' | 'tool_result'
  | 'observation' | 'event' | 'summary' | 'document';

export interface SessionOptions {
  sessionId?: string;
  /** What to do when there is one of that id: `fail` when not given. */
  ifExists?: 'fail' | 'open';
  userId?: string;
  agentId?: string;
  title?: string;
  stores?: readonly string[];
  ttlHours?: number;
  ttlPolicy?: 'sliding' | 'fixed';
  decayConfig?: DecayConfig;
  compactionConfig?: CompactionConfig;
  preferences?: object;
  durability?: Durability;
  kvCap?: number;
  transcriptCap?: number;
}

/** Whose sessions; everybody's when nothing is given. */
export interface SessionFilter {
  userId?: string;
  agentId?: string;
  limit?: number;
  after?: string;
  rescan?: boolean;
}

/** Whose usage is summed; everybody's when nothing is given. */
export interface UsageFilter {
  userId?: string;
  agentId?: string;
  sessionIds?: readonly string[];
  /** From `start` on, before `end`. */
  time?: { start?: Time | Date; end?: Time | Date };
}

export interface LogLine {
  timestamp: Time;
  level: 'DEBUG' | 'INFO' | 'WARN' | 'ERROR';
  component: string;
  sessionId?: string;
  message: string;
  metadata: Record<string, any>;
}

export interface Progress {
  operation: 'export' | 'import' | 'verify';
  /** Bytes so far. */
  done: number;
  /** Bytes in all; 0 when that is not known. */
  total: number;
}

/** The name of a status of include/varve/base.h. */
export type StatusName =
  | 'VARVE_INVALID_ARGUMENT' | 'VARVE_NOT_FOUND' | 'VARVE_ALREADY_EXISTS' | 'VARVE_SIZE_LIMIT'
  | 'VARVE_BAD_HANDLE' | 'VARVE_READ_ONLY' | 'VARVE_BUSY' | 'VARVE_UNSUPPORTED' | 'VARVE_IO'
  | 'VARVE_NO_SPACE' | 'VARVE_NO_MEMORY' | 'VARVE_CORRUPTION' | 'VARVE_FORMAT_VERSION'
  | 'VARVE_CALLBACK' | 'VARVE_FORKED' | 'VARVE_INTERNAL';

/** A call that did not succeed; docs/errors.md tells what each code calls for. */
export class VarveError extends Error {
  readonly code: StatusName;
  readonly status: number;
  /** The place, as far as it applies. */
  readonly details: {
    path?: string; member?: string; offset?: number; line?: number; size?: number; limit?: number;
    errno?: number };
  /** What a callback threw, with VARVE_CALLBACK. */
  readonly cause?: unknown;
}

/** No libvarve could be loaded. */
export class LoadError extends Error {
  readonly code: 'VARVE_NOT_LOADED';
  readonly tried: { path: string; from: string; reason: string; abiFound?: number }[];
  readonly abiWanted: number;
  readonly abiFound?: number;
}

/** Loads libvarve from a path, or looks for it; gives the path. The first use does it otherwise. */
export function load(path?: string): string;
/** The version of the library. */
export function version(): string;
/** The name of a status; "VARVE_UNKNOWN_STATUS" for another number. */
export function statusName(status: number): string;

/** Something that is open until it is closed; `using` and `await using` close it, too. */
declare class Resource {
  protected constructor();
  readonly closed: boolean;
  /** Calls in flight finish first. Closing again is no error, and waits for the first. */
  close(): Promise<void>;
  closeSync(): void;
  [Symbol.dispose](): void;
  [Symbol.asyncDispose](): Promise<void>;
}

/** A directory, or memory, that holds any number of sessions. */
export class Store extends Resource {
  /**
   * Opens a store; makes it when it does not exist.
   * @param uri a directory, `file:PATH`, or `memory:`
   */
  static open(uri: string, config?: StoreConfig | JsonText | null, options?: CallOptions):
    Promise<Store>;
  static openSync(uri: string, config?: StoreConfig | JsonText | null): Store;

  /**
   * Opens the session of this id, and makes it when there is none. One that is there is opened as
   * it is; VARVE_ALREADY_EXISTS when it is another user's or agent's.
   */
  session(id: string, session?: SessionOptions | JsonText | null, options?: CallOptions):
    Promise<Session>;
  sessionSync(id: string, session?: SessionOptions | JsonText | null): Session;
  createSession(session?: SessionOptions | JsonText | null, options?: CallOptions):
    Promise<Session>;
  createSessionSync(session?: SessionOptions | JsonText | null): Session;
  openSession(id: string, options?: CallOptions): Promise<Session>;
  openSessionSync(id: string): Session;
  /** Deletes a session with everything in it, at once and for good. */
  deleteSession(id: string, options?: CallOptions): Promise<void>;
  deleteSessionSync(id: string): void;

  /** Every session that the filter lets through, newest first. */
  sessions(filter?: SessionFilter | JsonText | null, options?: CallOptions):
    AsyncGenerator<SessionSummary, void>;
  sessionsSync(filter?: SessionFilter | JsonText | null): Generator<SessionSummary, void>;
  /** One page of them. */
  listSessions(filter?: SessionFilter | JsonText | null, options?: CallOptions):
    Promise<{ sessions: SessionSummary[]; next: string | null }>;
  listSessionsSync(filter?: SessionFilter | JsonText | null):
    { sessions: SessionSummary[]; next: string | null };

  /** One page of what a query finds across sessions: `limit` results, 100 when not given. */
  query(query?: StoreQuery | JsonText | null, options?: CallOptions): Promise<Page>;
  querySync(query?: StoreQuery | JsonText | null): Page;
  /** Every result, or the first `limit`; page after page as they are gone through. */
  results(query?: StoreQuery | JsonText | null, options?: CallOptions):
    AsyncGenerator<Result, void>;
  resultsSync(query?: StoreQuery | JsonText | null): Generator<Result, void>;

  /** Makes everything added so far durable. */
  sync(options?: CallOptions): Promise<void>;
  syncSync(): void;
  /** Removes what has expired from the files. */
  sweep(options?: CallOptions): Promise<SweepReport>;
  sweepSync(): SweepReport;
  stats(options?: CallOptions): Promise<StoreStats>;
  statsSync(): StoreStats;
  /** What sessions used of a model's tokens, by their entries. */
  usage(filter?: UsageFilter | JsonText | null, options?: CallOptions): Promise<UsageReport>;
  usageSync(filter?: UsageFilter | JsonText | null): UsageReport;
  /** The memory of a user: working, short-term and long-term. */
  openMemory(memory?: MemoryOptions | JsonText | null, options?: CallOptions): Promise<Memory>;
  openMemorySync(memory?: MemoryOptions | JsonText | null): Memory;
  /** For Prometheus. */
  metrics(options?: CallOptions): Promise<string>;
  metricsSync(): string;
  backup(path: string, backup?: BackupOptions | JsonText | null, options?: CallOptions):
    Promise<BackupReport>;
  backupSync(path: string, backup?: BackupOptions | JsonText | null): BackupReport;
  restore(path: string, restore?: RestoreOptions | JsonText | null, options?: CallOptions):
    Promise<RestoreReport>;
  restoreSync(path: string, restore?: RestoreOptions | JsonText | null): RestoreReport;

  /**
   * Sends log lines of `level` (info) and above to the receiver; null stops them. Those of calls on
   * other threads come before the promise of their call is settled.
   */
  setLog(receiver: ((line: LogLine, level: number) => void) | null,
    options?: { level?: LogLevel | number }): void;
  /**
   * Takes the time from a function: milliseconds since 1970, or a Date. Null: from the system.
   * While it is set, promises of this store and its sessions are worked for on this thread.
   */
  setClock(clock: (() => number | bigint | Date) | null): void;
  /**
   * Counts tokens of contexts as the model does; null gives the built-in estimate back. Promises
   * are worked for on this thread, as with a clock.
   */
  setTokenCounter(counter: ((text: string) => number | bigint) | null): void;
}

export interface MemoryOptions {
  userId?: string;
  agentId?: string;
  window?: number;
  ttlHours?: number;
}

export interface BackupOptions {
  sessions?: readonly string[];
  deleteMissing?: boolean;
}

export interface RestoreOptions {
  sessions?: readonly string[];
  overwrite?: boolean;
  tombstonesFrom?: string;
}

export interface ExportOptions {
  format?: 'jsonl' | 'json' | 'markdown';
  query?: Conditions;
}

export interface ImportOptions {
  format?: 'auto' | 'jsonl' | 'json' | 'mcp' | 'chat';
  dryRun?: boolean;
}

/** One memory. */
export class Session extends Resource {
  readonly id: string;

  /** Adds an entry and gives its id. When the promise is fulfilled the entry is durable. */
  add(entry: NewEntry | JsonText, options?: CallOptions): Promise<string>;
  addSync(entry: NewEntry | JsonText): string;
  /** All or none, also across a crash. Text is JSON lines, or a JSON array. */
  addBatch(entries: readonly NewEntry[] | JsonText, options?: CallOptions): Promise<string[]>;
  addBatchSync(entries: readonly NewEntry[] | JsonText): string[];
  get(id: string, options?: CallOptions): Promise<Entry>;
  getSync(id: string): Entry;
  /** Hides an entry at once; its bytes go with the next compaction or purge. */
  delete(id: string, reason?: string | null, options?: CallOptions): Promise<void>;
  deleteSync(id: string, reason?: string | null): void;
  /** Deletes what a query finds and tells how many entries that were. */
  deleteWhere(query: Conditions | JsonText, reason?: string | null, options?: CallOptions):
    Promise<number>;
  deleteWhereSync(query: Conditions | JsonText, reason?: string | null): number;

  /** One page of what a query finds: `limit` results, 100 when not given. */
  query(query?: Query | JsonText | null, options?: CallOptions): Promise<Page>;
  querySync(query?: Query | JsonText | null): Page;
  /** Every result, or the first `limit`; page after page as they are gone through. */
  results(query?: Query | JsonText | null, options?: CallOptions): AsyncGenerator<Result, void>;
  resultsSync(query?: Query | JsonText | null): Generator<Result, void>;
  count(query?: Conditions | JsonText | null, options?: CallOptions): Promise<number>;
  countSync(query?: Conditions | JsonText | null): number;
  tags(options?: CallOptions): Promise<SessionTags>;
  tagsSync(): SessionTags;

  /** The part of the memory that fits into a model's context window. */
  buildContext(request?: ContextRequest | JsonText | null, options?: CallOptions):
    Promise<Context>;
  buildContextSync(request?: ContextRequest | JsonText | null): Context;
  /** Records one step of a conversation as an entry, and gives its id. */
  record(step: Step, payload: Record<string, any> | JsonText, options?: CallOptions):
    Promise<string>;
  recordSync(step: Step, payload: Record<string, any> | JsonText): string;
  /** Gives an entry its embedding. */
  putVector(id: string, values: Vector, options?: CallOptions): Promise<void>;
  putVectorSync(id: string, values: Vector): void;

  kvSet(key: string, value: string, options?: CallOptions): Promise<void>;
  kvSetSync(key: string, value: string): void;
  kvGet(key: string, options?: CallOptions): Promise<string>;
  kvGetSync(key: string): string;
  kvDelete(key: string, options?: CallOptions): Promise<void>;
  kvDeleteSync(key: string): void;
  kvList(options?: CallOptions): Promise<{ key: string; value: string; ts: Time }[]>;
  kvListSync(): { key: string; value: string; ts: Time }[];
  transcriptAppend(role: string, content: string, options?: CallOptions): Promise<void>;
  transcriptAppendSync(role: string, content: string): void;
  /** The last turns, oldest first; all without a count. */
  transcriptLast(count?: number | null, options?: CallOptions): Promise<Turn[]>;
  transcriptLastSync(count?: number | null): Turn[];

  metadata(options?: CallOptions): Promise<Metadata>;
  metadataSync(): Metadata;
  /** Changes metadata by a merge patch (RFC 7396): null removes a member. */
  update(patch: Record<string, any> | JsonText, options?: CallOptions): Promise<void>;
  updateSync(patch: Record<string, any> | JsonText): void;
  /** Makes everything added so far durable and saves the index. */
  sync(options?: CallOptions): Promise<void>;
  syncSync(): void;
  stats(options?: CallOptions): Promise<SessionStats>;
  statsSync(): SessionStats;
  files(options?: CallOptions): Promise<SessionFiles>;
  filesSync(): SessionFiles;
  index(options?: CallOptions): Promise<SessionIndex>;
  indexSync(): SessionIndex;

  verify(verify?: { deep?: boolean } | JsonText | null, options?: CallOptions):
    Promise<VerifyReport>;
  verifySync(verify?: { deep?: boolean } | JsonText | null): VerifyReport;
  repair(repair?: { dryRun?: boolean; acceptEdits?: boolean } | JsonText | null,
    options?: CallOptions): Promise<RepairReport>;
  repairSync(repair?: { dryRun?: boolean; acceptEdits?: boolean } | JsonText | null): RepairReport;
  compact(compact?: { dryRun?: boolean; evictBelow?: number } | JsonText | null,
    options?: CallOptions): Promise<CompactionReport>;
  compactSync(compact?: { dryRun?: boolean; evictBelow?: number } | JsonText | null):
    CompactionReport;
  /** Removes what was deleted from every file of the session, for good. */
  purge(purge?: { dryRun?: boolean } | JsonText | null, options?: CallOptions):
    Promise<CompactionReport>;
  purgeSync(purge?: { dryRun?: boolean } | JsonText | null): CompactionReport;
  migrate(migrate?: { dryRun?: boolean } | JsonText | null, options?: CallOptions):
    Promise<MigrateReport>;
  migrateSync(migrate?: { dryRun?: boolean } | JsonText | null): MigrateReport;
  rebuildIndex(rebuild?: {} | JsonText | null, options?: CallOptions): Promise<RebuildReport>;
  rebuildIndexSync(rebuild?: {} | JsonText | null): RebuildReport;

  /** The entries as text: "jsonl", "json" or "markdown"; or {format, query}. */
  export(format: 'jsonl' | 'json' | 'markdown' | ExportOptions | JsonText, options?: CallOptions):
    Promise<string>;
  exportSync(format: 'jsonl' | 'json' | 'markdown' | ExportOptions | JsonText): string;
  import(text: JsonText, options?: CallOptions): Promise<ImportReport>;
  importSync(text: JsonText): ImportReport;
  exportFile(path: string, file?: ExportOptions & { overwrite?: boolean } | JsonText | null,
    options?: CallOptions): Promise<ExportReport>;
  exportFileSync(path: string,
    file?: ExportOptions & { overwrite?: boolean } | JsonText | null): ExportReport;
  importFile(path: string, file?: ImportOptions | JsonText | null, options?: CallOptions):
    Promise<ImportReport>;
  importFileSync(path: string, file?: ImportOptions | JsonText | null): ImportReport;
  /**
   * Hears how far exports, imports and verifying are. Answering false stops the operation, which
   * then fails with VARVE_CALLBACK, and so does answering with a promise. Null: nobody hears.
   */
  setProgress(listener: ((progress: Progress) => boolean | void) | null): void;
}

export interface Turn {
  role: string;
  content: string;
  timestamp: Time;
}

/** The last so many messages of a conversation, in memory only. */
export class Window extends Resource {
  static create(capacity: number, options?: CallOptions): Promise<Window>;
  static createSync(capacity: number): Window;
  readonly size: number;
  add(message: Message | JsonText, options?: CallOptions): Promise<void>;
  addSync(message: Message | JsonText): void;
  /** The newest messages in the order they were added; all without a count. */
  recent(count?: number | null, options?: CallOptions): Promise<Message[]>;
  recentSync(count?: number | null): Message[];
  /** Lines for a prompt, "role: content". */
  text(options?: CallOptions): Promise<string>;
  textSync(): string;
  clear(options?: CallOptions): Promise<void>;
  clearSync(): void;
}

/** A message in front of the agent: as it was given, with what was filled in. */
export interface MemoryEntry extends Message {
  id: string;
  type: string;
  content: any;
  timestamp: Time;
  sessionId: string;
  importance?: number;
  tags?: string[];
  references?: string[];
  expiresAt?: Time;
}

export interface MemoryContext {
  entries: MemoryEntry[];
  tokenCount: number;
  source: 'working' | 'short_term';
}

/** What an agent remembers of one user; include/varve/memory.h tells of the three tiers. */
export class Memory extends Resource {
  /** Records a message of a conversation, and gives its id. */
  record(sessionId: string, message: Message | JsonText, options?: CallOptions): Promise<string>;
  recordSync(sessionId: string, message: Message | JsonText): string;
  /** What the agent is to have in front of it, within so many tokens; 0 is no limit. */
  context(sessionId: string, maxTokens?: number, options?: CallOptions): Promise<MemoryContext>;
  contextSync(sessionId: string, maxTokens?: number): MemoryContext;
  load(sessionId: string, options?: CallOptions): Promise<void>;
  loadSync(sessionId: string): void;
  save(sessionId: string, options?: CallOptions): Promise<void>;
  saveSync(sessionId: string): void;
  /** Empties the working memory of all sessions. */
  clear(options?: CallOptions): Promise<void>;
  clearSync(): void;
  /** Stores in long-term memory, and gives the entry's id. */
  store(message: Message | JsonText, options?: CallOptions): Promise<string>;
  storeSync(message: Message | JsonText): string;
  /** Finds over all sessions of the user. */
  search(query?: Query | JsonText | null, options?: CallOptions): Promise<Page>;
  searchSync(query?: Query | JsonText | null): Page;
  delete(id: string, reason?: string | null, options?: CallOptions): Promise<void>;
  deleteSync(id: string, reason?: string | null): void;
}
