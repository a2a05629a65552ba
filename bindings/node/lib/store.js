// A store: one directory, or memory, that holds any number of sessions.
import { AT_ONCE, HANDLE, Resource, callLater, callNow, callback, define } from './call.js';
import * as constants from './constants.js';
import { asObject, choosing, givesPage, givesReport, options, pagesOf, pagesOfSync, resultsOf,
  resultsOfSync } from './documents.js';
import { invalidArgument } from './errors.js';
import { parse } from './json.js';
import { reportFromWire } from './names.js';
import { Memory } from './memory.js';
import { Session } from './session.js';

const asMemory = (handle, store) => new Memory(handle, store);
const openOrMade = (sessionId, given) =>
  choosing({ ...asObject(given), sessionId, ifExists: 'open' });
const asSession = (handle, store) => new Session(handle, store);
const LEVELS = ['debug', 'info', 'warn', 'error'];

export class Store extends Resource {
  #answering = new Set();

  constructor(handle) {
    super(handle, 'varve_store_close');
  }

  /** Opens a store; makes it when its directory does not exist. */
  static async open(uri, config, callOptions) {
    const args = [uri, options(config)];
    return callLater(null, 'varve_store_open', args, (handle) => new Store(handle), callOptions);
  }

  static openSync(uri, config) {
    return new Store(callNow('varve_store_open', [uri, options(config)]));
  }

  /** Every session that the filter lets through, newest first. */
  sessions(filter, callOptions) {
    return pagesOf((page) => this.listSessions(page, callOptions), filter, 'sessions');
  }

  sessionsSync(filter) {
    return pagesOfSync((page) => this.listSessionsSync(page), filter, 'sessions');
  }

  /** Every result of a query, or the first `limit`, page after page. */
  results(query, callOptions) {
    return resultsOf((page) => this.query(page, callOptions), query);
  }

  resultsSync(query) {
    return resultsOfSync((page) => this.querySync(page), query);
  }

  /** Sends log lines to `receiver(line, level)`; null stops them. */
  setLog(receiver, options) {
    const { level = 'info' } = options ?? {};
    const least = typeof level === 'number' ? level : LEVELS.indexOf(level);
    if (least < 0) {
      throw invalidArgument(`level is ${level}; it must be one of ${LEVELS.join(', ')}`);
    }
    const listen = callback(receiver, 'receiver', (number, line) =>
      receiver(reportFromWire(parse(line)), number));
    callNow('varve_store_set_log',
      [this[HANDLE], receiver ? least : constants.VARVE_LOG_OFF, listen]);
  }

  /** Takes the time from `clock`, in milliseconds or as a Date; null gives the system's back. */
  setClock(clock) {
    const tell = callback(clock, 'clock', () => Number(clock()));
    this.#register('varve_store_set_clock', tell);
  }

  /** Counts tokens by `counter(text)` for contexts; null gives the built-in estimate back. */
  setTokenCounter(counter) {
    this.#register('varve_store_set_token_counter', counter);
  }

  /** Whether JavaScript must answer while the library works: then it works on this thread. */
  get [AT_ONCE]() {
    return this.#answering.size > 0;
  }

  /** Registers it also when what another function throws meanwhile is thrown: that is carried out. */
  #register(registrar, answer) {
    try {
      callNow(registrar, [this[HANDLE], answer]);
    } catch (error) {
      if (error.code === 'VARVE_CALLBACK') this.#answers(registrar, answer);
      throw error;
    }
    this.#answers(registrar, answer);
  }

  #answers(registrar, answer) {
    if (answer) this.#answering.add(registrar);
    else this.#answering.delete(registrar);
  }
}

define(Store, {
  sync: { calls: 'varve_store_sync' },
  session: {
    calls: 'varve_session_create', takes: (id, given) => [openOrMade(id, given)],
    gives: asSession },
  createSession: {
    calls: 'varve_session_create', takes: (given) => [choosing(given)], gives: asSession },
  openSession: { calls: 'varve_session_open', takes: (id) => [id], gives: asSession },
  deleteSession: { calls: 'varve_store_delete_session', takes: (id) => [id] },
  listSessions: {
    calls: 'varve_store_sessions', takes: (filter) => [choosing(filter)], gives: givesReport },
  query: { calls: 'varve_store_query', takes: (query) => [choosing(query)], gives: givesPage },
  backup: {
    calls: 'varve_store_backup', takes: (path, given) => [path, choosing(given)],
    gives: givesReport },
  restore: {
    calls: 'varve_store_restore', takes: (path, given) => [path, choosing(given)],
    gives: givesReport },
  openMemory: { calls: 'varve_memory_open', takes: (given) => [choosing(given)], gives: asMemory },
  usage: {
    calls: 'varve_store_usage', takes: (filter) => [choosing(filter)], gives: givesReport },
  sweep: { calls: 'varve_store_sweep', gives: givesReport },
  stats: { calls: 'varve_store_stats', gives: givesReport },
  metrics: { calls: 'varve_store_metrics' },
});
