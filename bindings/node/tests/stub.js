// The library of stub.c, which tests of the addon use in place of libvarve.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { ROOT, TESTS, runModule } from './support.js';

/** Builds it in a directory of its own, which goes when the process ends, and gives its path. */
function build() {
  const place = mkdtempSync(join(tmpdir(), 'varve-stub-'));
  process.on('exit', () => rmSync(place, { recursive: true, force: true }));
  const stub = readFileSync(join(TESTS, 'stub.c'), 'utf8');
  const { functions } = JSON.parse(readFileSync(join(ROOT, 'bindings', 'api.json'), 'utf8'));
  const others = functions.map(({ name }) => name).filter((name) => !stub.includes(`${name}(`));
  const traps = join(place, 'traps.c');
  writeFileSync(traps, others.map((name) => `void ${name}(void) { __builtin_trap(); }\n`).join(''));
  const library = join(place, 'libstub.so');
  execFileSync(process.env.CC ?? 'gcc', ['-shared', '-fPIC', '-pthread', '-Wall', '-Werror',
    `-I${join(ROOT, 'include')}`, '-o', library, join(TESTS, 'stub.c'), traps]);
  return library;
}

export const STUB = build();

const RAW = JSON.stringify(new URL('../lib/native.js', import.meta.url).href);

/**
 * Runs text as a module that has `raw`, the raw functions on top of the stub, and a `store` and a
 * `session` of it. It is ended when it hangs.
 */
export function runOnStub(text) {
  return runModule(`
    import { once } from 'node:events';
    import { Worker } from 'node:worker_threads';
    import { library } from ${RAW};
    const raw = library();
    const store = raw.varve_store_open('x', null);
    const session = raw.varve_session_create(store, null);
    const run = (steps) => raw.varve_session_export(session, steps);
    const runLater = (steps) => raw.varve_session_export_async(session, steps + '!')
      .catch(({ message }) => message);
    const beginWorker = (body) => new Worker(new URL('data:text/javascript,' + encodeURIComponent(\`
      import { parentPort, workerData } from 'node:worker_threads';
      import { library } from ${RAW};
      const raw = library();
      const [store, session] = workerData;
      \${body}\`)), { workerData: [store, session] });
    ${text}`, { environment: { VARVE_LIBRARY: STUB }, timeout: 60_000 });
}

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc');

/** Counts the objects that it has seen and that were collected. */
export class Collected {
  #count = 0;
  #registry = new FinalizationRegistry(() => { this.#count++; });

  sees(object) {
    this.#registry.register(object);
    return object;
  }

  /** How many they are once `expected` were collected, or no more come. */
  async count(expected) {
    for (let round = 0; round < 100 && this.#count < expected; round++) {
      collect();
      await new Promise((resume) => { setImmediate(resume); });
    }
    return this.#count;
  }
}

export { collect };
