// A session: one memory.
import { AT_ONCE, HANDLE, Resource, callNow, callback, define } from './call.js';
import { document, givesDocument, givesEntry, givesIndex, givesMetadata, givesPage, givesReport,
  members, options, resultsOf, resultsOfSync, withoutForm } from './documents.js';
import { invalidArgument } from './errors.js';
import { asPrinted, entriesToWire, entryToWire, isTypedArray, metadataToWire,
  stepToWire } from './names.js';

const ALL = 2n ** 64n - 1n;  // SIZE_MAX

/** Refuses what JSON has no form for: it would be left out, and the condition with it. */
function refuseLeftOut(given, place) {
  const value = asPrinted(given);
  const what = withoutForm(value);
  if (what !== null) {
    throw invalidArgument(`${place} is ${what}; leave it out if it is no condition`);
  }
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return;
  for (const [name, member] of Object.entries(value)) {
    refuseLeftOut(member, Array.isArray(value) ? `${place}[${name}]` : `${place}.${name}`);
  }
}

/** Conditions of a deletion: one that is undefined, at any depth, is a mistake, and would be none. */
function conditions(given) {
  const query = members(given);
  if (typeof query === 'object' && query !== null && !ArrayBuffer.isView(query)) {
    for (const [name, member] of Object.entries(query)) refuseLeftOut(member, name);
  }
  return options(query);
}

/** Refuses what would be written as null, which removes a member. */
function refuseNaN(given, place) {
  const value = asPrinted(given);
  if (typeof value === 'number' && !Number.isFinite(value)) {
    throw invalidArgument(`${place} is ${value}; to remove it, give null`);
  }
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return;
  for (const [name, member] of Object.entries(value)) {
    refuseNaN(member, place === '' ? name : `${place}.${name}`);
  }
}

/** A change of metadata. */
function patch(given) {
  const changes = members(given);
  refuseNaN(changes, '');
  return document(changes, metadataToWire);
}

/** A context's request: a user that is undefined is a mistake, and would be everybody. */
function contextRequest(given) {
  const request = members(given);
  const across = typeof request === 'object' && !ArrayBuffer.isView(request)
    ? request?.across : undefined;
  if (across !== undefined) refuseLeftOut(across, 'across');
  return options(request);
}

/** Refuses what would become other numbers: null 0, and of a Buffer each byte one. */
function floats(values) {
  const isVector = Array.isArray(values) ? values.every((value) => typeof value === 'number')
    : isTypedArray(values) && !globalThis.Buffer?.isBuffer(values);
  if (!isVector) {
    throw invalidArgument('a vector is an array of numbers or a typed array, and not a Buffer');
  }
  return Float32Array.from(values);
}

export class Session extends Resource {
  #store;

  constructor(handle, store) {
    super(handle, 'varve_session_close', store);
    this.#store = store;
    this.id = callNow('varve_session_id', [handle]);
  }

  /** Every result of a query, or the first `limit`, page after page. */
  results(query, callOptions) {
    return resultsOf((page) => this.query(page, callOptions), query);
  }

  resultsSync(query) {
    return resultsOfSync((page) => this.querySync(page), query);
  }

  /** Tells `listener({operation, done, total})` how far long operations are; false stops them. */
  setProgress(listener) {
    const listen = callback(listener, 'listener', (operation, done, total) => {
      const answer = listener({ operation, done, total });
      if (typeof answer?.then === 'function') {  // what it answers would come too late
        throw new TypeError('a progress function must answer at once, not with a promise');
      }
      return answer === false ? 1 : 0;
    });
    callNow('varve_session_set_progress', [this[HANDLE], listen]);
  }

  get [AT_ONCE]() {
    return this.#store[AT_ONCE];
  }
}

/** A report on the session from one of its maintenance functions. */
const maintenance = (calls) => ({ calls, takes: (given) => [options(given)], gives: givesReport });

define(Session, {
  add: { calls: 'varve_session_add', takes: (entry) => [document(entry, entryToWire)] },
  addBatch: {
    calls: 'varve_session_add_batch', takes: (entries) => [document(entries, entriesToWire)],
    gives: givesDocument },
  get: { calls: 'varve_session_get', takes: (id) => [id], gives: givesEntry },
  delete: { calls: 'varve_session_delete', takes: (id, reason) => [id, reason] },
  deleteWhere: {
    calls: 'varve_session_delete_where', takes: (query, reason) => [conditions(query), reason] },
  query: { calls: 'varve_session_query', takes: (query) => [options(query)], gives: givesPage },
  count: { calls: 'varve_session_count', takes: (query) => [options(query)] },
  tags: { calls: 'varve_session_tags', gives: givesReport },
  metadata: { calls: 'varve_session_metadata', gives: givesMetadata },
  update: {
    calls: 'varve_session_update', takes: (changes) => [patch(changes)] },
  sync: { calls: 'varve_session_sync' },
  stats: { calls: 'varve_session_stats', gives: givesReport },
  files: { calls: 'varve_session_files', gives: givesReport },
  index: { calls: 'varve_session_index', gives: givesIndex },
  buildContext: {
    calls: 'varve_context_build', takes: (request) => [contextRequest(request)],
    gives: givesReport },
  record: {
    calls: 'varve_context_record', takes: (kind, step) => [kind, document(step, stepToWire)] },
  putVector: {
    calls: 'varve_session_put_vector', takes: (id, values) => [id, floats(values)] },
  kvSet: { calls: 'varve_kv_set', takes: (key, value) => [key, value] },
  kvGet: { calls: 'varve_kv_get', takes: (key) => [key] },
  kvDelete: { calls: 'varve_kv_delete', takes: (key) => [key] },
  kvList: { calls: 'varve_kv_list', gives: givesDocument },
  transcriptAppend: {
    calls: 'varve_transcript_append', takes: (role, content) => [role, content] },
  transcriptLast: {
    calls: 'varve_transcript_last', takes: (count) => [count ?? ALL], gives: givesDocument },
  verify: maintenance('varve_session_verify'),
  repair: maintenance('varve_session_repair'),
  compact: maintenance('varve_session_compact'),
  purge: maintenance('varve_session_purge'),
  migrate: maintenance('varve_session_migrate'),
  rebuildIndex: maintenance('varve_session_rebuild_index'),
  export: { calls: 'varve_session_export', takes: (format) => [options(format)] },
  import: {
    calls: 'varve_session_import', takes: (text) => [text], gives: givesReport },
  exportFile: {
    calls: 'varve_session_export_file', takes: (path, given) => [path, options(given)],
    gives: givesReport },
  importFile: {
    calls: 'varve_session_import_file', takes: (path, given) => [path, options(given)],
    gives: givesReport },
});
