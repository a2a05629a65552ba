// JSON with integers of any size: those beyond 2^53 are BigInt in JavaScript, on the way in and
// out. Texts and values without any take the engine's own parser and printer.

import { mayHaveLongInteger } from './native.js';

/** A text that does not occur in `text`, to mark the places of BigInts with. */
function markFor(text) {
  for (let n = 0; ; n++) {
    const mark = `bigint-${n}:`;
    if (!text.includes(mark)) return mark;
  }
}

// The strings are passed over so that nothing inside one is taken for a number.
const QUOTE_OR_LONG_INTEGER = /"|(?<![\w.+-])-?\d{16,}(?![\d.eE])/g;

/** Where the string that begins at `start` ends: no regular expression has room for a long one. */
function behindString(text, start) {
  let end = start;
  let escapes = 1;
  while (escapes % 2 === 1) {
    end = text.indexOf('"', end + 1);
    if (end < 0) return text.length;
    for (escapes = 0; text[end - 1 - escapes] === '\\'; escapes++);
  }
  return end + 1;
}

function markBigIntegers(text, mark) {
  const tokens = new RegExp(QUOTE_OR_LONG_INTEGER);
  let marked = '';
  let copied = 0;
  for (let found; (found = tokens.exec(text)) !== null;) {
    const [token] = found;
    if (token === '"') {
      tokens.lastIndex = behindString(text, found.index);
    } else if (!Number.isSafeInteger(Number(token))) {
      marked += `${text.slice(copied, found.index)}"${mark}${token}"`;
      copied = tokens.lastIndex;
    }
  }
  return marked + text.slice(copied);
}

/** The value with its marked strings as BigInts; changes it in place. */
function unmark(value, mark) {
  if (typeof value === 'string') {
    return value.startsWith(mark) ? BigInt(value.slice(mark.length)) : value;
  }
  if (typeof value === 'object' && value !== null) {
    for (const key of Object.keys(value)) {
      const item = value[key];
      const plain = unmark(item, mark);
      if (plain !== item) value[key] = plain;
    }
  }
  return value;
}

/** The value of a JSON text. */
export function parse(text) {
  if (!mayHaveLongInteger(text)) return JSON.parse(text);
  const mark = markFor(text);
  return unmark(JSON.parse(markBigIntegers(text, mark)), mark);
}

/** The JSON text of a value; undefined for undefined. A BigInt is printed with all its digits. */
export function stringify(value) {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;  // a BigInt, or a circle, which throws again
  }
  const replaced = (replacement) => JSON.stringify(value, (_, item) =>
    (typeof item === 'bigint' ? replacement(item) : item));
  const mark = markFor(replaced(() => null));
  const marked = replaced((item) => mark + item);
  return marked.replaceAll(new RegExp(`"${mark}(-?\\d+)"`, 'g'), '$1');
}
