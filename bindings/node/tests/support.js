// What the tests share: directories of their own, sessions, child processes.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Store } from '../lib/index.js';

export const TESTS = dirname(fileURLToPath(import.meta.url));
export const PACKAGE = dirname(TESTS);
export const ROOT = dirname(dirname(PACKAGE));

/** An empty directory that goes when the test ends. */
export function directory(test) {
  const path = mkdtempSync(join(tmpdir(), 'varve-node-'));
  test.after(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** A store that is closed when the test ends; in memory when no place is given. */
export function openStore(test, uri = 'memory:', config = undefined) {
  const store = Store.openSync(uri, config);
  test.after(() => store.closeSync());
  return store;
}

/** A new session in memory. */
export const openSession = (test) => openStore(test).createSessionSync();

export const finding = (content, more = {}) => ({ type: 'finding', content, ...more });

/** A program's end: {code, signal, stdout, stderr}. One that takes longer than `timeout` is ended. */
export function run(program, args, { environment = {}, timeout = undefined } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { env: { ...process.env, ...environment }, timeout });
    const texts = { stdout: '', stderr: '' };
    for (const stream of ['stdout', 'stderr']) {
      child[stream].setEncoding('utf8').on('data', (text) => { texts[stream] += text; });
    }
    child.on('error', reject);
    child.on('close', (code, signal) => resolve({ code, signal, ...texts }));
  });
}

/** Runs text as a module that can import varve from `../lib/index.js`. */
export function runModule(text, { flags = [], ...how } = {}) {
  const library = JSON.stringify(new URL('../lib/index.js', import.meta.url).href);
  const source = text.replaceAll("'varve'", library);
  return run(process.execPath, [...flags, '--input-type=module', '--eval', source], how);
}

/** Waits until something is so. */
export async function until(holds) {
  while (!holds()) await new Promise((resume) => { setImmediate(resume); });
}
