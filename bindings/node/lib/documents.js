// Documents on their way to a raw function and back.
import { parse, stringify } from './json.js';
import { indexFromWire, metadataFromWire, pageFromWire, reportFromWire,
  entryFromWire } from './names.js';
import { callNow } from './call.js';

/** A document as text: objects are renamed and printed; JSON text is taken as it is. */
export function document(value, toWire) {
  const isText = typeof value === 'string' || value instanceof Uint8Array;
  return isText || value === undefined || value === null ? value : stringify(toWire(value));
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

/** The page that a handle of results holds; the handle ends here. */
export function givesPage(results) {
  try {
    return pageFromWire(parse(callNow('varve_results_json', [results])));
  } finally {
    callNow('varve_results_free', [results]);
  }
}

/** Every result of a query, page after page, as `ask(query)` gives them. */
export async function* pagesOf(ask, query, rows) {
  let next = query?.after;
  do {
    const page = await ask(next === undefined ? query : { ...query, after: next });
    yield* page[rows];
    next = page.next;
  } while (next !== null && next !== undefined);
}

export function* pagesOfSync(ask, query, rows) {
  let next = query?.after;
  do {
    const page = ask(next === undefined ? query : { ...query, after: next });
    yield* page[rows];
    next = page.next;
  } while (next !== null && next !== undefined);
}
