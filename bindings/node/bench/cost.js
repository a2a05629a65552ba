// What the public layer costs beside the raw call, and beside JSON.parse of the same bytes.
//
//   VARVE_LIBRARY=... node bench/cost.js
//
// Each pair is measured in turns, so that a busy machine troubles both alike; figures are medians.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { HANDLE } from '../lib/call.js';
import { givesPage } from '../lib/documents.js';
import { Store } from '../lib/index.js';
import { library } from '../lib/native.js';
import { ROOT } from '../tests/support.js';

const TURNS = 41;
const raw = library();

function median(values) {
  return values.sort((a, b) => a - b)[Math.floor(values.length / 2)];
}

/** Microseconds a call, of each of the functions. */
function measure(functions, calls) {
  const times = functions.map(() => []);
  for (let turn = 0; turn < TURNS; turn++) {
    functions.forEach((call, index) => {
      const begin = process.hrtime.bigint();
      for (let n = 0; n < calls; n++) call();
      if (turn > 0) times[index].push(Number(process.hrtime.bigint() - begin) / calls / 1000);
    });
  }
  return times.map(median);
}

function tell(what, base, measured, unit = 'us') {
  const ratio = (measured / base).toFixed(2);
  console.log(`${what}: ${base.toFixed(2)} -> ${measured.toFixed(2)} ${unit}, ${ratio} times`);
}

const store = Store.openSync('memory:');
const session = store.createSessionSync();
const handle = session[HANDLE];
const lines = readFileSync(join(ROOT, 'examples/data/ferry-display/entries.jsonl'), 'utf8')
  .trim().split('\n');
const withBigIntegers = (line) => /[:[]-?\d{16,}/.test(line);
session.addBatchSync(lines.filter((line) => !withBigIntegers(line)).join('\n'));

const query = '{"types":["message"]}';
tell('count, raw -> public', ...measure([
  () => raw.varve_session_count(handle, query), () => session.countSync(query)], 2000));
tell('get, raw and JSON.parse -> public', ...measure([
  () => JSON.parse(raw.varve_session_get(handle, 'fd-001')),
  () => session.getSync('fd-001')], 2000));

/** Asks for everything; keeps the handle of the answer, and its bytes. */
function answer(of) {
  const results = () => raw.varve_session_query(of[HANDLE], '{"limit":1000}');
  const held = results();
  const bytes = Buffer.from(raw.varve_results_json(held));
  raw.varve_results_free(held);
  return { results, bytes };
}

/** The same bytes: from the library to objects, and from a buffer by JSON.parse. */
function parseCost(what, of) {
  const { results, bytes } = answer(of);
  const times = [[], []];
  for (let turn = 0; turn < 400; turn++) {
    const held = results();
    raw.varve_results_json(held);  // the library makes the text at the first call
    const begin = process.hrtime.bigint();
    JSON.parse(bytes.toString());
    const middle = process.hrtime.bigint();
    givesPage(held);
    const end = process.hrtime.bigint();
    if (turn >= 50) {
      times[0].push(Number(middle - begin) / 1000);
      times[1].push(Number(end - middle) / 1000);
    }
  }
  tell(`${bytes.length} bytes of ${what}, JSON.parse -> results`, ...times.map(median));
}

parseCost('results', session);
const exact = store.createSessionSync();
exact.addBatchSync(lines.join('\n'));
parseCost('results with integers beyond 2^53', exact);

const [sync] = measure([() => session.countSync(query)], 2000);
const flights = [];
for (let turn = 0; turn < 11; turn++) {
  const begin = process.hrtime.bigint();
  await Promise.all(Array.from({ length: 1000 }, () => session.count(query)));
  flights.push(Number(process.hrtime.bigint() - begin) / 1000 / 1000);
}
tell('count, one now -> each of 1,000 promises at once', sync, median(flights));
