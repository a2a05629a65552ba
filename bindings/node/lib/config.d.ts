// What a store and a session can be told to do otherwise: the settings of docs/format.md#config, in
// camelCase, with their defaults and ranges there.

export type Durability = 'commit' | 'interval' | 'os';

/** Overrides the store's config.json. */
export interface StoreConfig {
  version?: string;
  durability?: Durability;
  threads?: number;
  storage?: StorageConfig;
  concurrency?: ConcurrencyConfig;
  performance?: PerformanceConfig;
  integrity?: IntegrityConfig;
  decay?: DecayConfig;
  text?: TextConfig;
}

/** A limit of 0 is none. */
export interface StorageConfig {
  maxSessionSizeMb?: number;
  maxEntrySizeBytes?: number;
  maxUserSizeMb?: number;
  maxUserSessions?: number;
  /** 0: no key is kept. */
  kvCap?: number;
  /** 0: no turn is kept. */
  transcriptCap?: number;
  autoCompact?: boolean;
  /** Of `maxSessionSizeMb`, 0 to 1. */
  compactionThreshold?: number;
  /** No effect. */
  rootDirectory?: string;
}

export interface ConcurrencyConfig {
  lockTimeoutMs?: number;
  /** Only this store writes to the sessions that it creates or opens, until they are closed. */
  exclusive?: boolean;
  /** No effect yet. */
  maxRetries?: number;
  /** No effect yet. */
  retryBackoffMs?: number;
}

export interface PerformanceConfig {
  /** With the durability `interval`. */
  batchWriteIntervalMs?: number;
  /** Entries that a session keeps in memory. */
  cacheSize?: number;
  maxKeptSessions?: number;
  /** No effect yet. */
  indexInMemory?: boolean;
}

export interface IntegrityConfig {
  recovery?: 'tail' | 'strict' | 'salvage';
  ioFailure?: 'error' | 'buffer';
  ioFailureBufferMb?: number;
  enableChecksums?: true;
  checksumAlgorithm?: 'sha256';
}

/** How entries lose relevance with age. */
export interface DecayConfig {
  enabled?: boolean;
  halfLifeHours?: number;
  defaultHalfLifeHours?: number;
  minDecayFactor?: number;
  curve?: 'exponential' | 'linear' | 'step' | 'none';
  typeSpecific?: Record<string, TypeDecay>;
  /** No effect. */
  updateIntervalMinutes?: number;
}

export interface TypeDecay {
  halfLifeHours?: number;
  minDecayFactor?: number;
  curve?: 'exponential' | 'linear' | 'step' | 'none';
  decayEnabled?: boolean;
}

export interface TextConfig {
  /** `none`, or one that Snowball has. */
  language?: string;
  /** Words that do not rank, instead of the language's; none when empty. */
  stopWords?: readonly string[];
  best?: BestWeights;
}

/** What makes the order `best`, each from 0 to 100. */
export interface BestWeights {
  neighbour?: number;
  answer?: number;
  stretch?: number;
  role?: number;
  date?: number;
  relevance?: number;
  candidates?: number;
}

export interface CompactionConfig {
  autoCompact?: boolean;
  threshold?: number;
}
