// The operations of tests/conformance/README.md by methods of the public layer. Each gets the run
// (its variables, and `call`, which takes the method or its Sync variant) and the arguments.
//
// Cases are written in snake_case. Documents are given to the methods as JavaScript has them, in
// camelCase, and what the methods give is brought back.
import { readFileSync, writeFileSync } from 'node:fs';
import * as constants from '../lib/constants.js';
import { Store, VarveError, Window, statusName, version } from '../lib/index.js';
import { entryToWire, entryFromWire, metadataFromWire, metadataToWire, optionsToWire,
  reportFromWire } from '../lib/names.js';
import { Mismatch, isObject } from './patterns.js';

const same = (value) => value;
const entries = (value) => (Array.isArray(value) ? value.map(entry) : value);
const entry = (value) => (isObject(value) ? entryFromWire(value) : value);
const metadata = (value) => (isObject(value) ? metadataFromWire(value) : value);

/** A document as it is given: {"$text"} is text, all else an object of JavaScript. */
function document(value, fromWire = reportFromWire) {
  return isObject(value) && Object.hasOwn(value, '$text') ? value.$text : fromWire(value);
}

function pageToWire({ results, ...rest }) {
  const rows = results.map(({ entry: found, ...others }) =>
    ({ ...optionsToWire(others), entry: entryToWire(found) }));
  return { ...optionsToWire(rest), results: rows };
}

const contextToWire = ({ entries: found, ...rest }) =>
  ({ ...optionsToWire(rest), entries: found.map(entryToWire) });

/** A step of a conversation as JavaScript has it. */
function step(value) {
  if (!isObject(value) || !Object.hasOwn(value, 'call_id')) return entry(value);
  const { call_id: callId, ...others } = value;
  return { ...entry(others), callId };
}

const indexToWire = ({ entries: named, tags, types, ...rest }) => ({
  ...optionsToWire(rest), tags, types,
  entries: Object.fromEntries(Object.entries(named).map(([id, at]) => [id, optionsToWire(at)])) });

/** An operation that is a method: of what, its name, its arguments, what becomes of the answer. */
const method = (owner, name, parameters = [], gives = optionsToWire) => async (run, args) => {
  const given = parameters.map(([parameter, convert]) => convert(args(parameter)));
  return gives(await run.call(run.handle(args(owner)), name, ...given));
};
const onStore = (...rest) => method('store', ...rest);
const onWindow = (...rest) => method('window', ...rest);
const onMemory = (...rest) => method('memory', ...rest);
const onSession = (...rest) => method('session', ...rest);
const keep = (handle, value = null) => ({ handle, value });
const nothing = () => null;

const text = (name) => [name, same];
const options = (name) => [name, document];
const report = (name) => onSession(name, [options('options_json')]);

/** A page is data: there is nothing to free, and it is the runner that looks into it. */
const keepPage = (page) => keep({ page }, pageToWire(page));

function pageOf(run, args) {
  const { page } = run.handle(args('results'));
  if (page === null) throw new VarveError({ status: 5, code: 'VARVE_BAD_HANDLE', message: '' });
  return page;
}

function resultOf(run, args) {
  const index = args('index');
  const result = pageOf(run, args).results[index];
  if (!result) throw new VarveError({ status: 1, code: 'VARVE_INVALID_ARGUMENT', message: '' });
  return result;
}

function name(status) {
  const told = statusName(status);
  const agreed = told === 'VARVE_UNKNOWN_STATUS' || constants[told] === status;
  if (!agreed) throw new Mismatch(`the constant ${told} is ${constants[told]}, not ${status}`);
  return told;
}

function clock(run, args) {
  const store = run.handle(args('store'));
  const isFirst = !run.clocks.has(store);
  run.clocks.set(store, args('now_ms'));
  if (isFirst) store.setClock(() => run.clocks.get(store));
  return null;
}

function setLog(run, args) {
  const store = run.handle(args('store'));
  const lines = run.logs.get(store) ?? [];
  run.logs.set(store, lines);
  store.setLog((line, level) => lines.push({ level, line: optionsToWire(line) }),
    { level: args('level') });
  return null;
}

function choose(choices, answer) {
  if (!Object.hasOwn(choices, answer)) throw new Mismatch(`the answer ${answer} is not known`);
  return choices[answer];
}

function setProgress(run, args) {
  run.handle(args('session')).setProgress(
    choose({ go_on: () => true, stop: () => false, null: null }, args('answer')));
  return null;
}

function setTokenCounter(run, args) {
  run.handle(args('store')).setTokenCounter(choose({
    bytes: (counted) => Buffer.byteLength(counted),
    failing: () => { throw new Error('no count'); }, null: null }, args('counter')));
  return null;
}

function replaceInFile(path, find, replacement) {
  const before = readFileSync(path, 'latin1');
  const [from, to] = [find, replacement].map((part) => Buffer.from(part).toString('latin1'));
  if (!before.includes(from)) throw new Mismatch(`${find} is not in the file`);
  writeFileSync(path, before.replace(from, () => to), 'latin1');
  return null;
}

export const OPERATIONS = {
  abi_version: () => constants.VARVE_ABI_VERSION,
  version: () => version(),
  status_name: (_, args) => name(args('status')),
  store_open: async (run, args) =>
    keep(await run.call(Store, 'open', args('uri'), document(args('config_json')))),
  store_close: onStore('close', [], nothing),
  store_sync: onStore('sync', [], nothing),
  store_sessions: onStore('listSessions', [options('filter_json')]),
  store_delete_session: onStore('deleteSession', [text('id')], nothing),
  store_query: onStore('query', [options('query_json')], keepPage),
  store_backup: onStore('backup', [text('path'), options('options_json')]),
  store_restore: onStore('restore', [text('path'), options('options_json')]),
  store_usage: onStore('usage', [options('filter_json')]),
  store_set_token_counter: setTokenCounter,
  store_sweep: onStore('sweep'),
  store_stats: onStore('stats'),
  store_metrics: onStore('metrics', [], same),
  store_set_log: setLog,
  store_set_clock: (run, args) => run.handle(args('store')).setClock(null) ?? null,
  session_create: onStore('createSession', [options('options_json')], keep),
  session_open: onStore('openSession', [text('id')], keep),
  session_close: onSession('close', [], nothing),
  session_sync: onSession('sync', [], nothing),
  session_id: (run, args) => run.handle(args('session')).id,
  session_metadata: onSession('metadata', [], metadataToWire),
  session_update: onSession('update', [['patch_json', (v) => document(v, metadata)]], nothing),
  session_stats: onSession('stats'),
  session_files: onSession('files'),
  session_tags: onSession('tags'),
  session_index: onSession('index', [], indexToWire),
  session_set_progress: setProgress,
  session_add: onSession('add', [['entry_json', (v) => document(v, entry)]]),
  session_add_batch: onSession('addBatch', [['entries', (v) => document(v, entries)]]),
  session_get: onSession('get', [text('id')], entryToWire),
  session_delete: onSession('delete', [text('id'), text('reason')], nothing),
  session_delete_where: onSession('deleteWhere', [options('query_json'), text('reason')]),
  session_query: onSession('query', [options('query_json')], keepPage),
  session_count: onSession('count', [options('query_json')]),
  session_verify: report('verify'),
  session_repair: report('repair'),
  session_compact: report('compact'),
  session_purge: report('purge'),
  session_migrate: report('migrate'),
  session_rebuild_index: report('rebuildIndex'),
  session_export: onSession('export', [options('format')], same),
  session_import: onSession('import', [text('jsonl')]),
  session_export_file: onSession('exportFile', [text('path'), options('options_json')]),
  session_import_file: onSession('importFile', [text('path'), options('options_json')]),
  session_put_vector: onSession('putVector', [text('id'), text('values')], nothing),
  kv_set: onSession('kvSet', [text('key'), text('value')], nothing),
  kv_get: onSession('kvGet', [text('key')], same),
  kv_delete: onSession('kvDelete', [text('key')], nothing),
  kv_list: onSession('kvList', [], same),
  transcript_append: onSession('transcriptAppend', [text('role'), text('content')], nothing),
  transcript_last: onSession('transcriptLast', [text('n')], same),
  context_build: onSession('buildContext', [options('request_json')]),
  context_record: onSession('record', [text('kind'), ['payload_json', (v) => document(v, step)]]),
  window_new: async (run, args) => keep(await run.call(Window, 'create', args('capacity'))),
  window_add: onWindow('add', [['entry_json', (v) => document(v, entry)]], nothing),
  window_recent: onWindow('recent', [text('n')], (messages) => messages.map(entryToWire)),
  window_text: onWindow('text', [], same),
  window_clear: onWindow('clear', [], nothing),
  window_size: (run, args) => run.handle(args('window')).size,
  window_free: onWindow('close', [], nothing),
  memory_open: onStore('openMemory', [options('options_json')], keep),
  memory_record: onMemory('record',
    [text('session_id'), ['entry_json', (v) => document(v, entry)]]),
  memory_context: onMemory('context', [text('session_id'), text('max_tokens')], contextToWire),
  memory_load: onMemory('load', [text('session_id')], nothing),
  memory_save: onMemory('save', [text('session_id')], nothing),
  memory_clear: onMemory('clear', [], nothing),
  memory_store: onMemory('store', [['entry_json', (v) => document(v, entry)]]),
  memory_search: onMemory('search', [options('query_json')], keepPage),
  memory_delete: onMemory('delete', [text('id'), text('reason')], nothing),
  memory_close: onMemory('close', [], nothing),
  results_count: (run, args) => {
    const { page } = run.handle(args('results'));
    return page === null ? 0 : page.results.length;
  },
  results_json: (run, args) => pageToWire(pageOf(run, args)),
  results_entry: (run, args) => entryToWire(resultOf(run, args).entry),
  results_score: (run, args) => resultOf(run, args).relevance,
  results_next: (run, args) => pageOf(run, args).next,
  results_free: (run, args) => {
    run.handle(args('results')).page = null;
    return null;
  },
  clock,
  log_lines: (run, args) => [...run.logs.get(run.handle(args('store')))],
  file_write: (_, args) => writeFileSync(args('path'), args('text')) ?? null,
  file_read: (_, args) => readFileSync(args('path'), 'utf8'),
  file_replace: (_, args) => replaceInFile(args('path'), args('find'), args('replace')),
};
