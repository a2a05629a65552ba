// What the library tells: reports, figures, and why a result stands where it does. Its headers and
// docs/ say more of each member, in snake_case.
import type { Time } from './index.js';
import type { CompactionConfig, DecayConfig, Durability } from './config.js';

/** An object that a newer library may have more members in. */
export interface Report {
  [member: string]: any;
}

export interface SessionSummary {
  sessionId: string;
  /** Empty when it was not given, as are `agentId` and `title`. */
  userId: string;
  agentId: string;
  createdAt: Time;
  /** This and what follows is not there of a session whose metadata.json is lost or damaged. */
  title?: string;
  lastAccessed?: Time;
  totalEntries?: number;
}

/** docs/format.md#metadata.json; what was not given, or never was, is not there. */
export interface Metadata {
  version: number;
  sessionId: string;
  userId?: string;
  agentId?: string;
  title?: string;
  createdAt: Time;
  lastAccessed: Time;
  totalEntries: number;
  totalSizeBytes: number;
  /** Entries by type, four of them by their plural. */
  statistics: Record<string, number>;
  /** What `statistics` leaves out, of very many types. */
  statisticsRest?: StatisticsRest;
  durableSeq: number;
  compactedThroughSeq: number;
  generation: number;
  decayConfig?: DecayConfig;
  compactionConfig?: CompactionConfig;
  /** The last 20, oldest first. */
  compactions?: Compaction[];
  lastCompaction?: Time;
  strayVectors?: boolean;
  ttlHours?: number;
  ttlPolicy?: 'sliding' | 'fixed';
  stores?: string[];
  kvCap?: number;
  transcriptCap?: number;
  preferences?: any;
  durability?: Durability;
  migrations?: Migration[];
  restoredAt?: Time;
  [yours: string]: any;
}

export interface StatisticsRest {
  types: number;
  entries: number;
}

/** What a compaction or purge did, as a session's metadata keeps it. */
export interface Compaction {
  timestamp: Time;
  cause: 'asked' | 'automatic' | 'purge';
  entriesBefore: number;
  entriesAfter: number;
  bytesBefore: number;
  bytesAfter: number;
  dropped: Dropped;
  durationMs: number;
  vectorsBefore?: number;
  vectorsAfter?: number;
}

export interface Migration {
  from: number;
  to: number;
  at: Time;
}

export interface SessionStats {
  sessionId: string;
  entries: number;
  deleted: number;
  expired: number;
  sizeBytes: SizeBytes;
  /** 0: no limit. */
  sizeLimitBytes: number;
  modified: Time | null;
  lock: LockState;
  /** Entries by type, the expired ones included. */
  types: Record<string, number>;
  memoryBytes: number;
  vectors: VectorStats;
  lastSeq: number;
  durableSeq: number;
  durability: Durability;
  /** A power loss could take nothing that was answered. */
  durable: boolean;
  undurableBytes: number;
  generation: number;
  readOnly: boolean;
  corruption: CorruptionStats;
  index: IndexStats;
  usage: Usage;
}

export interface SizeBytes {
  log: number;
  index: number;
  tombstones: number;
  vectors: number;
  kv: number;
  transcript: number;
  total: number;
}

/** Who is writing at this moment, in any process; the last three only when somebody is. */
export interface LockState {
  held: boolean;
  processId?: number;
  operation?: string;
  since?: Time;
}

export interface VectorStats {
  dimension: number;
  records: number;
  memoryBytes: number;
}

export interface CorruptionStats {
  skipped: number;
  missing: number;
  tornTails: number;
  rollback: number;
  metadata: boolean;
  kv: number;
  transcript: number;
}

export interface IndexStats {
  loaded: boolean;
  rebuilds: number;
  reason: string;
  coveredBytes: number;
  facetsMemoryBytes: number;
  wordsMemoryBytes: number;
  wordsOfEntries: number;
}

export interface StoreStats {
  uri: string;
  sessionsOpen: number;
  entries: number;
  lockWaits: number;
  lockTimeouts: number;
  commits: number;
  entriesAdded: number;
  entriesDeleted: number;
  bytesWritten: number;
  syncs: number;
  indexRebuilds: number;
  linesSkipped: number;
  /** By dotted names, docs/operations.md#figures. */
  metrics: Record<string, number | Histogram>;
}

/** `p50` and `p99` are the upper bounds of the buckets that hold them. */
export interface Histogram {
  count: number;
  sum: number;
  p50: number;
  p99: number;
  max: number;
}

/** What model calls used. */
export interface Usage {
  /** Those that tell of it. */
  entries: number;
  inputTokens: number;
  outputTokens: number;
  costUsd: number;
}

export interface SessionUsage extends Usage {
  sessionId: string;
  userId: string;
  agentId: string;
}

export interface AgentUsage extends Usage {
  agentId: string;
}

export interface UserUsage extends Usage {
  userId: string;
}

export interface DayUsage extends Usage {
  /** Of UTC: "2026-01-10". */
  day: string;
}

export interface UsageReport {
  total: Usage;
  sessions: SessionUsage[];
  agents: AgentUsage[];
  users: UserUsage[];
  days: DayUsage[];
  problems: SessionProblem[];
}

/** What could not be done for one session of many. */
export interface SessionProblem {
  sessionId: string;
  reason: string;
}

export interface CopyProblem extends SessionProblem {
  /** It was copied all the same. */
  copied: boolean;
}

export interface BackupReport {
  sessions: number;
  copied: number;
  appended: number;
  unchanged: number;
  removed: number;
  bytes: number;
  entries: number;
  durationMs: number;
  problems: CopyProblem[];
}

export interface RestoreReport {
  sessions: number;
  replaced: number;
  returned: string[];
  entries: number;
  deletionsReapplied: number;
  bytes: number;
  durationMs: number;
  problems: CopyProblem[];
}

export interface SweepReport {
  sessionsChecked: number;
  sessionsRemoved: number;
  sessionsCompacted: number;
  entriesDropped: number;
  bytesFreed: number;
  problems: SessionProblem[];
  durationMs: number;
}

export interface SessionFiles {
  files: SessionFile[];
}

export interface SessionFile {
  name: string;
  sizeBytes: number;
  modified: Time;
}

export interface SessionTags {
  tags: TagCount[];
}

export interface TagCount {
  tag: string;
  entries: number;
}

/** The index as a person can read it. */
export interface SessionIndex {
  version: number;
  lastUpdated: Time;
  /** By id. */
  entries: Record<string, IndexEntry>;
  /** Ids by tag. */
  tags: Record<string, string[]>;
  /** Ids by type. */
  types: Record<string, string[]>;
}

export interface IndexEntry {
  lineNumber: number;
  byteOffset: number;
  type: string;
  timestamp: Time;
  tags: string[];
  importance: number;
  currentRelevance: number;
}

export interface VerifyReport {
  ok: boolean;
  entries: number;
  deleted: number;
  damaged: number;
  /** The first 1000. */
  problems: Damage[];
  problemsTotal: number;
  /** The first 1000. */
  notes: Note[];
  notesTotal: number;
  checkedBytes: number;
  lastSeq: number;
  vectors: VerifiedVectors;
}

export interface Damage {
  file: string;
  offset: number;
  length: number;
  reason: string;
}

/**
 * No damage: the entry `id` refers to `target`, which was deleted or does not exist; or, both
 * empty, metadata.json has a member that may have no effect.
 */
export interface Note {
  file: string;
  offset: number;
  id: string;
  target: string;
  reason: string;
}

export interface VerifiedVectors {
  dimension: number;
  records: number;
  entries: number;
  damaged: number;
}

export interface RepairReport {
  entries: number;
  quarantined: number;
  resealed: number;
  missing: number;
  bytesBefore: number;
  bytesAfter: number;
  /** metadata.json was lost, or could not be read, and is made anew. */
  metadataLost: boolean;
  changed: boolean;
}

export interface CompactionReport {
  entriesBefore: number;
  entriesAfter: number;
  bytesBefore: number;
  bytesAfter: number;
  dropped: Dropped;
  /** The log was rewritten. */
  changed: boolean;
  durationMs: number;
  /** Of vectors.bin; not there without one, and in a dry run. */
  vectorsBefore?: number;
  vectorsAfter?: number;
}

export interface Dropped {
  deleted: number;
  expired: number;
  evicted: number;
  damaged: number;
}

export interface MigrateReport {
  from: number;
  to: number;
  changed: boolean;
  entries: number;
  quarantined: number;
}

export interface RebuildReport {
  entries: number;
  durationMs: number;
}

export interface ExportReport {
  entries: number;
  bytes: number;
  format: 'jsonl' | 'json' | 'markdown';
}

export interface ImportReport {
  added: number;
  existing: number;
  /** The first 1000. */
  refused: Refusal[];
  refusedTotal: number;
  format: string;
  /** Live entries that went to make room, also of those added. */
  evicted?: number;
  /** Of a dry run: all of it does not fit into the size limits without a compaction. */
  exceedsLimit?: boolean;
}

export interface Refusal {
  line: number;
  reason: string;
}

/** Why a result stands where it does; docs/query.md#explain. */
export interface Explanation {
  sortBy: string;
  /** What decides the order. */
  key: number;
  importance: number;
  recencyBoost: number;
  decay: DecayExplanation;
  /** This and the next two with text. */
  bm25?: number;
  length?: number;
  terms?: TermOfEntry[];
  /** With a vector. */
  vector?: VectorExplanation;
  /** Of those that the order `best` ranks. */
  best?: BestExplanation;
}

export interface DecayExplanation {
  curve: 'exponential' | 'linear' | 'step' | 'none';
  halfLifeHours: number;
  minDecayFactor: number;
  ageHours: number;
  factor: number;
}

export interface TermOfEntry {
  term: string;
  frequency: number;
  score: number;
}

export interface VectorExplanation {
  /** The cosine; null for an entry without a vector. */
  similarity: number | null;
  rank: number | null;
  /** This and what follows with words beside the vector. */
  weight?: number;
  share?: number;
  textRank?: number | null;
  textShare?: number;
}

export interface BestExplanation {
  match: number;
  neighbours: number;
  answer: number;
  stretch: number;
  role: number;
  date: number;
  relevance: number;
}

/** How a query was answered; of one across sessions `sortBy` and `sessions`. */
export interface PageExplanation {
  sortBy: string;
  strategy?: string;
  rowsWalkedAtMost?: number;
  /** With text. */
  terms?: TermOfQuery[];
  /** How many were to be asked. */
  sessions?: number;
}

export interface TermOfQuery {
  term: string;
  entries: number;
  idf: number;
}
