// Names of members: camelCase in JavaScript, snake_case in JSON.
//
// What varve defines is renamed: members of options, queries, reports, results, and those members
// of an entry and of metadata that are listed here. What users define is left as it is: an entry's
// content and its other members, members of their own in metadata, preferences, types, tags.

const snakeOf = new Map();
const camelOf = new Map();

export function toSnake(name) {
  let snake = snakeOf.get(name);
  if (snake === undefined) {
    snake = name.replace(/[A-Z]/g, (letter) => '_' + letter.toLowerCase());
    if (snakeOf.size < 1000) snakeOf.set(name, snake);
  }
  return snake;
}

export function toCamel(name) {
  let camel = camelOf.get(name);
  if (camel === undefined) {
    camel = name.replace(/(?<=[a-z0-9])_([a-z])/g, (_, letter) => letter.toUpperCase());
    if (camelOf.size < 1000) camelOf.set(name, camel);
  }
  return camel;
}

/** Members of an entry that are renamed. */
export const ENTRY_MEMBERS = [
  'session_id', 'schema_version', 'decay_factor', 'trace_id', 'span_id', 'expires_at',
  'ttl_seconds'];

/** Members of a session's metadata that are renamed. */
export const METADATA_MEMBERS = [
  'session_id', 'user_id', 'agent_id', 'created_at', 'last_accessed', 'total_entries',
  'total_size_bytes', 'durable_seq', 'compacted_through_seq', 'decay_config',
  'compaction_config', 'last_compaction', 'ttl_hours', 'ttl_policy', 'restored_at',
  'kv_cap', 'transcript_cap', 'statistics_rest', 'stray_vectors'];

/** Members whose value is the user's. */
const USER_DATA = new Set(['content', 'preferences', 'value']);
/** Members whose value has the user's names (types, words, dotted figures). */
const USER_NAMES = new Set(['types', 'statistics', 'metrics', 'terms', 'type_specific',
  'typeSpecific']);

/** Whether JSON has an object's own members for it, of whatever class it is. */
function hasMembers(value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    && !ArrayBuffer.isView(value)
    && !(value instanceof String || value instanceof Number || value instanceof Boolean);
}

/** The value that JSON.stringify prints for this one. */
export const asPrinted = (value) => (typeof value?.toJSON === 'function' ? value.toJSON() : value);

/** Sets a member of any name: `__proto__` would be taken for the prototype. */
function put(object, name, value) {
  if (name === '__proto__') {
    Object.defineProperty(object, name, {
      value, writable: true, enumerable: true, configurable: true });
  } else {
    object[name] = value;
  }
}

/** A Float32Array and its like, which JSON.stringify would print as an object. */
export const isTypedArray = (value) => ArrayBuffer.isView(value) && !(value instanceof DataView);

function rename(given, renamed) {
  const value = asPrinted(given);
  if (Array.isArray(value)) return value.map((item) => rename(item, renamed));
  if (isTypedArray(value)) return Array.from(value);
  if (!hasMembers(value)) return value;
  const result = {};
  for (const name of Object.keys(value)) {
    const member = value[name];
    if (USER_DATA.has(name)) {
      put(result, name, member);
    } else if (USER_NAMES.has(name) && hasMembers(member)) {
      put(result, renamed(name), Object.fromEntries(
        Object.entries(member).map(([key, item]) => [key, rename(item, renamed)])));
    } else {
      put(result, renamed(name), rename(member, renamed));
    }
  }
  return result;
}

/** Options and queries, as the library reads them. */
export const optionsToWire = (options) => rename(options, toSnake);
/** Reports and figures, as JavaScript reads them. */
export const reportFromWire = (report) => rename(report, toCamel);

const entryFromWireNames = new Map(ENTRY_MEMBERS.map((name) => [name, toCamel(name)]));
const entryToWireNames = new Map(ENTRY_MEMBERS.map((name) => [toCamel(name), name]));

export function entryToWire(given) {
  const entry = asPrinted(given);
  if (!hasMembers(entry)) return entry;
  const names = Object.keys(entry);
  if (!names.some((name) => entryToWireNames.has(name))) return entry;
  return Object.fromEntries(names.map((name) => [entryToWireNames.get(name) ?? name, entry[name]]));
}

/** A step of a conversation: the members of an entry, and the id of a tool's call. */
export function stepToWire(given) {
  const step = asPrinted(given);
  if (!hasMembers(step) || !Object.hasOwn(step, 'callId')) return entryToWire(step);
  const { callId, ...others } = step;
  return { ...entryToWire(others), call_id: callId };
}

export const entriesToWire = (entries) =>
  Array.isArray(entries) ? entries.map(entryToWire) : entries;

/** How many members there are, without an array of their names. */
function memberCount(object) {
  let count = 0;
  for (const _ in object) count++;
  return count;
}

/** As a literal first, which is faster by far than member by member. */
export function entryFromWire(entry) {
  const { batch, checksum, content, decay_factor, id, importance, references, schema_version, seq,
    session_id, tags, timestamp, type } = entry;
  const known = batch === undefined ? 12 : 13;
  const count = memberCount(entry);
  if (checksum === undefined || session_id === undefined || count < known) {
    return renameMembers(entry, Object.keys(entry));
  }
  const result = batch === undefined ? {
    checksum, content, decayFactor: decay_factor, id, importance, references,
    schemaVersion: schema_version, seq, sessionId: session_id, tags, timestamp, type
  } : {
    batch, checksum, content, decayFactor: decay_factor, id, importance, references,
    schemaVersion: schema_version, seq, sessionId: session_id, tags, timestamp, type };
  return count === known ? result : withOthers(result, entry, Object.keys(entry));
}

function withOthers(result, entry, names) {
  for (const name of names) {
    const camel = entryFromWireNames.get(name) ?? name;
    if (!Object.hasOwn(result, camel)) put(result, camel, entry[name]);
  }
  return result;
}

function renameMembers(entry, names) {
  const result = {};
  for (const name of names) put(result, entryFromWireNames.get(name) ?? name, entry[name]);
  return result;
}

const metadataFromWireNames = new Map(METADATA_MEMBERS.map((name) => [name, toCamel(name)]));
const metadataToWireNames = new Map(METADATA_MEMBERS.map((name) => [toCamel(name), name]));
const CONFIGURATION = new Set(['decay_config', 'compaction_config', 'compactions', 'migrations']);

export function metadataFromWire(metadata) {
  return Object.fromEntries(Object.entries(metadata).map(([name, value]) =>
    [metadataFromWireNames.get(name) ?? name,
      CONFIGURATION.has(name) ? reportFromWire(value) : value]));
}

export function metadataToWire(given) {
  const patch = asPrinted(given);
  if (!hasMembers(patch)) return patch;
  return Object.fromEntries(Object.entries(patch).map(([name, value]) => {
    const wire = metadataToWireNames.get(name) ?? name;
    return [wire, CONFIGURATION.has(wire) ? optionsToWire(value) : value];
  }));
}

/** The answer to a query. */
export function pageFromWire(page) {
  const { results, next, ...rest } = page;
  return { results: results.map(resultFromWire), next, ...reportFromWire(rest) };
}

function resultFromWire(result) {
  const { entry, session_id, relevance, decay_factor, match_quality } = result;
  const mapped = {
    entry: entryFromWire(entry), sessionId: session_id, relevance, decayFactor: decay_factor,
    matchQuality: match_quality };
  if (memberCount(result) > 5) {
    for (const name of Object.keys(result)) {
      const camel = toCamel(name);
      if (!Object.hasOwn(mapped, camel)) mapped[camel] = reportFromWire(result[name]);
    }
  }
  return mapped;
}

/** The index for people: names of members are ids, tags and types in it. */
export function indexFromWire({ entries, tags, types, ...rest }) {
  const named = Object.entries(entries).map(([id, entry]) => [id, reportFromWire(entry)]);
  return { ...reportFromWire(rest), entries: Object.fromEntries(named), tags, types };
}
