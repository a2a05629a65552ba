// Documents on their way to a raw function and back.
import { parse, stringify } from './json.js';
import { asPrinted, indexFromWire, metadataFromWire, optionsToWire, pageFromWire, reportFromWire,
  entryFromWire, toSnake } from './names.js';
import { callNow } from './call.js';
import { invalidArgument } from './errors.js';

/**
 * The object that is printed for a document. One that has no members for JSON, and is not `{}`, is a
 * mistake, such as a promise that nobody awaited: it would be taken for `{}`, which is everything.
 */
export function members(value) {
  if (typeof value === 'function') throw noMembers('function');
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return value;
  const object = asPrinted(value);
  if (Array.isArray(object)) return object;
  if (typeof object !== 'object' || object === null) throw noMembers(value.constructor?.name);
  const prototype = Object.getPrototypeOf(object);
  const isPlain = prototype === null || Object.getPrototypeOf(prototype) === null;
  if (!isPlain && Object.keys(object).length === 0) throw noMembers(object.constructor?.name);
  return object;
}

/** What a value is that JSON has no form for, so that its member would be left out; else null. */
export function withoutForm(value) {
  if (value === undefined) return 'undefined';
  return typeof value === 'function' || typeof value === 'symbol' ? `a ${typeof value}` : null;
}

const noMembers = (name) => invalidArgument(
  `a document is an object with members or JSON text, and this ${name || 'object'} has no members ` +
  'of its own: await a promise, and give a Map as Object.fromEntries(map)');

/** A document as text: objects are renamed and printed; JSON text is taken as it is. */
export function document(value, toWire) {
  const isText = typeof value === 'string' || value instanceof Uint8Array;
  return isText || value === undefined || value === null ? value : stringify(toWire(members(value)));
}

/** Options and queries as text. */
export const options = (value) => document(value, optionsToWire);

/** Members that say whose or which sessions, and what is meant where they are left out. */
const CHOICES = new Map([['user_id', 'everybody'], ['agent_id', 'everybody'],
  ['session_ids', 'every session'], ['sessions', 'every session']]);

/** Options with a choice. One that JSON has no form for is a mistake, and would be left out. */
export function choosing(given) {
  const value = members(given);
  if (typeof value === 'object' && value !== null && !ArrayBuffer.isView(value)) {
    for (const [name, member] of Object.entries(value)) {
      const all = CHOICES.get(toSnake(name));
      const what = withoutForm(asPrinted(member));
      if (all !== undefined && what !== null) {
        throw invalidArgument(`${name} is ${what}; leave it out if ${all} is meant`);
      }
    }
  }
  return options(value);
}

export const givesDocument = (text) => parse(text);
export const givesReport = (text) => reportFromWire(parse(text));
export const givesMetadata = (text) => metadataFromWire(parse(text));
export const givesEntry = (text) => entryFromWire(parse(text));
export const givesMessages = (text) => parse(text).map(entryFromWire);
/** What memory has in front: entries, and figures about them. */
export const givesContext = (text) => {
  const { entries, ...rest } = parse(text);
  return { entries: entries.map(entryFromWire), ...reportFromWire(rest) };
};
export const givesIndex = (text) => indexFromWire(parse(text));

/** One page of results: `for (const { entry } of page)` goes through its `results`. */
class Page {
  constructor(members) {
    Object.assign(this, members);
  }

  [Symbol.iterator]() {
    return this.results[Symbol.iterator]();
  }
}

/** The page that a handle of results holds; the handle ends here. */
export function givesPage(results) {
  try {
    return new Page(pageFromWire(parse(callNow('varve_results_json', [results]))));
  } finally {
    callNow('varve_results_free', [results]);
  }
}

/** Refuses what is no UTF-8, as the library does, and does not take it for other text. */
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

const WHAT_IS_TAKEN =
  'options and queries are objects, or JSON text of one, such as {"text":"tea"}';

/** The object that a document is, which may be given as text. */
export function asObject(value) {
  let object = value;
  if (typeof object === 'string' || object instanceof Uint8Array) {
    if (object.length === 0) return {};
    try {
      object = parse(typeof object === 'string' ? object : utf8.decode(object));
    } catch (error) {
      throw invalidArgument(`invalid JSON: ${error.message}; ${WHAT_IS_TAKEN}`);
    }
  }
  if (value === undefined || value === null) return {};
  object = members(object);
  if (typeof object !== 'object' || object === null || Array.isArray(object)) {
    throw invalidArgument(WHAT_IS_TAKEN);
  }
  return object;
}

const PAGE = 500;  // results that are asked for at once

/** Goes through the pages of a query until they end, or its `limit` is reached. */
class Pages {
  more = true;
  #query;
  #left;

  constructor(query) {
    const { limit, ...others } = asObject(query);
    this.#query = others;
    this.#left = typeof limit === 'bigint' ? Number(limit) : limit ?? Infinity;
  }

  /** What to ask for next. */
  get query() {
    const isNumber = typeof this.#left === 'number';  // else it is the library's to refuse
    return { ...this.#query, limit: isNumber ? Math.min(this.#left, PAGE) : this.#left };
  }

  /** The results of a page. */
  take({ results, next }) {
    this.#left -= results.length;
    this.#query.after = next;
    this.more = next !== null && this.#left > 0;
    return results;
  }
}

/** Every result of a query, as `ask(query)` gives them. */
export async function* resultsOf(ask, query) {
  const pages = new Pages(query);
  while (pages.more) yield* pages.take(await ask(pages.query));
}

export function* resultsOfSync(ask, query) {
  const pages = new Pages(query);
  while (pages.more) yield* pages.take(ask(pages.query));
}

/** What to ask for behind a page. Without `rescan`: a list made anew has no such page. */
function behind({ rescan, ...query }, next) {
  return { ...query, after: next };
}

/** Every row of a list, page after page, as `ask(query)` gives them. */
export async function* pagesOf(ask, filter, rows) {
  let query = asObject(filter);
  for (;;) {
    const page = await ask(query);
    yield* page[rows];
    if (page.next === null || page.next === undefined) return;
    query = behind(query, page.next);
  }
}

export function* pagesOfSync(ask, filter, rows) {
  let query = asObject(filter);
  for (;;) {
    const page = ask(query);
    yield* page[rows];
    if (page.next === null || page.next === undefined) return;
    query = behind(query, page.next);
  }
}
