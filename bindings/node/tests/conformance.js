// Runs tests/conformance/cases through the public layer; the format is in the README there.
//
//   node tests/conformance.js sync|async [NAME...]
//
// VARVE_CASES names another folder of cases.
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OPERATIONS } from './operations.js';
import { Mismatch, isObject, match } from './patterns.js';
import { ROOT } from './support.js';

const CASES = process.env.VARVE_CASES ?? join(ROOT, 'tests', 'conformance', 'cases');
const WAYS = {
  sync: (object, method, ...args) => object[`${method}Sync`](...args),
  async: (object, method, ...args) => object[method](...args),
};

/** One case: its variables, clocks and logs. */
class Run {
  constructor(way, folder) {
    this.call = WAYS[way];
    this.variables = new Map([['dir', folder]]);
    this.opened = [];
    this.clocks = new Map();
    this.logs = new Map();
  }

  handle(name) {
    if (!this.variables.has(name)) throw new Mismatch(`there is no variable ${name}`);
    return this.variables.get(name);
  }

  value(mark) {
    const [name, ...members] = mark.split('.');
    return members.reduce((value, member) => value[member], this.handle(name));
  }

  /** `value` with its variables in place, and its exact numbers. */
  filled(value) {
    if (typeof value === 'string') {
      const whole = /^\$\{([^}]*)\}$/.exec(value);
      if (whole) return this.value(whole[1]);
      return value.replace(/\$\{([^}]*)\}/g, (_, mark) => {
        const found = this.value(mark);
        return typeof found === 'string' ? found : JSON.stringify(found);
      });
    }
    if (Array.isArray(value)) return value.map((item) => this.filled(item));
    if (!isObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, item]) => [name, this.filled(item)]));
  }

  async step({ op, args = {}, save, expect = {} }) {
    if (!Object.hasOwn(OPERATIONS, op)) throw new Mismatch(`the operation ${op} is not known`);
    const given = exact(this.filled(args));
    const used = new Set();
    const argument = (name) => {
      used.add(name);
      return given[name];
    };
    const { status, value, handle, error } = await this.outcome(op, argument);
    const place = op;
    match(expect.status ?? 'VARVE_OK', status, `${place}: status (${error?.message ?? ''})`);
    const unknown = Object.keys(given).filter((name) => !used.has(name));
    if (unknown.length > 0) throw new Mismatch(`${place}: the arguments ${unknown} are not known`);
    for (const [member, found] of [
      ['value', value], ['details', error?.details], ['message', error?.message]]) {
      if (member in expect) match(this.filled(expect[member]), found, `${place}: ${member}`);
    }
    if (handle?.close) this.opened.push(handle);
    if (save) this.variables.set(save, handle ?? value);
  }

  async outcome(op, argument) {
    try {
      const given = await OPERATIONS[op](this, argument);
      const kept = isObject(given) && 'handle' in given;
      return { status: 'VARVE_OK', ...(kept ? given : { value: given }) };
    } catch (error) {
      if (error instanceof Mismatch || !error.code?.startsWith('VARVE_')) throw error;
      return { status: error.code, error, value: null };
    }
  }

  async close() {
    for (const handle of this.opened.reverse()) await handle.close();
  }
}

/** {"$number": "9007199254740993"} in arguments, as JavaScript has it. */
function exact(value) {
  if (Array.isArray(value)) return value.map(exact);
  if (!isObject(value)) return value;
  if (typeof value.$number === 'string') return BigInt(value.$number);
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, exact(item)]));
}

async function runCase(way, file) {
  const folder = mkdtempSync(join(tmpdir(), 'varve-case-'));
  const run = new Run(way, folder);
  const { steps } = JSON.parse(readFileSync(join(CASES, file), 'utf8'));
  try {
    for (const [number, step] of steps.entries()) {
      try {
        await run.step(step);
      } catch (error) {
        error.message = `step ${number + 1}: ${error.message}`;
        throw error;
      }
    }
  } finally {
    await run.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

const [way, ...names] = process.argv.slice(2);
if (!Object.hasOwn(WAYS, way)) {
  console.error('usage: conformance.js sync|async [NAME...]');
  process.exit(2);
}
const files = readdirSync(CASES).filter((file) => file.endsWith('.json') &&
  (names.length === 0 || names.includes(file.slice(0, -'.json'.length))));
let failed = 0;
for (const file of files) {
  await runCase(way, file).catch((error) => {
    failed++;
    console.log(`${file}: ${error instanceof Mismatch ? error.message : error.stack}`);
  });
}
console.log(`${files.length} cases, ${failed} failed`);
process.exitCode = failed > 0 || files.length === 0 ? 1 : 0;
