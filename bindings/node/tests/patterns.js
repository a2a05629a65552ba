// The patterns of tests/conformance/README.md.

export class Mismatch extends Error {}

const show = (value) => JSON.stringify(value, (_, item) =>
  (typeof item === 'bigint' ? `${item}n` : item));

function expect(holds, pattern, value, place) {
  if (!holds) throw new Mismatch(`${place}: expected ${show(pattern)}, got ${show(value)}`);
}

export const isObject = (value) =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isNumber = (value) => typeof value === 'number' || typeof value === 'bigint';

const TYPES = {
  string: (value) => typeof value === 'string', number: isNumber,
  boolean: (value) => typeof value === 'boolean', null: (value) => value === null,
  object: isObject, array: Array.isArray };

function matches(pattern, value) {
  try {
    match(pattern, value, '');
    return true;
  } catch (error) {
    if (error instanceof Mismatch) return false;
    throw error;
  }
}

function unordered(patterns, value, place) {
  expect(Array.isArray(value) && value.length === patterns.length, patterns, value, place);
  const left = [...value];
  for (const pattern of patterns) {
    const at = left.findIndex((item) => matches(pattern, item));
    expect(at >= 0, pattern, left, place);
    left.splice(at, 1);
  }
}

const PATTERNS = {
  $any: (p, value, at) => expect(p === true, p, value, at),
  $type: (p, value, at) => expect(TYPES[p](value), p, value, at),
  $matches: (p, value, at) =>
    expect(typeof value === 'string' && new RegExp(p, 'u').test(value), p, value, at),
  $length: (p, value, at) => expect(Array.isArray(value) && value.length === p, p, value, at),
  $unordered: unordered,
  $contains: (p, value, at) => expect(Array.isArray(value) &&
    p.every((part) => value.some((item) => matches(part, item))), p, value, at),
  $number: (p, value, at) => expect(isNumber(value) && BigInt(value) === BigInt(p) &&
    (typeof value === 'bigint' || Number.isSafeInteger(value)), p, value, at),
  $between: ([least, most], value, at) =>
    expect(isNumber(value) && least <= value && value <= most, [least, most], value, at),
  $jsonl: (p, value, at) => {
    expect(typeof value === 'string', p, value, at);
    match(p, value.split('\n').filter(Boolean).map((line) => JSON.parse(line)), at);
  },
  $json: (p, value, at) => match(p, JSON.parse(value), at),
};

function matchMembers(pattern, value, place) {
  expect(isObject(value), pattern, value, place);
  for (const [name, part] of Object.entries(pattern)) {
    if (isObject(part) && part.$absent === true) {
      expect(!Object.hasOwn(value, name), `no member ${name}`, value, place);
    } else {
      expect(Object.hasOwn(value, name), `a member ${name}`, value, place);
      match(part, value[name], `${place}.${name}`);
    }
  }
}

/** Throws Mismatch, with the place, unless the value is as the pattern says. */
export function match(pattern, value, place) {
  const special = isObject(pattern) && Object.keys(pattern).find((name) => name.startsWith('$'));
  if (special) {
    if (Object.keys(pattern).length !== 1 || !Object.hasOwn(PATTERNS, special)) {
      throw new Mismatch(`${place}: the pattern ${show(pattern)} is not known`);
    }
    PATTERNS[special](pattern[special], value, place);
  } else if (Array.isArray(pattern)) {
    expect(Array.isArray(value) && value.length === pattern.length, pattern, value, place);
    pattern.forEach((part, index) => match(part, value[index], `${place}[${index}]`));
  } else if (isObject(pattern)) {
    matchMembers(pattern, value, place);
  } else if (typeof pattern === 'number') {
    expect(isNumber(value) && Number(value) === pattern, pattern, value, place);
  } else {
    expect(value === pattern, pattern, value, place);
  }
}
