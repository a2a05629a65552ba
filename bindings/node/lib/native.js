// Finds and loads the addon, and with it libvarve: once in a process, at the first use.
import { createRequire } from 'node:module';
import { isMainThread } from 'node:worker_threads';
import { fileURLToPath } from 'node:url';
import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { VARVE_ABI_VERSION } from './constants.js';
import { LoadError } from './errors.js';

const PACKAGE = dirname(dirname(fileURLToPath(import.meta.url)));
const PREBUILT = join(PACKAGE, 'prebuilds', `${process.platform}-${process.arch}`);
const BUILT = join(PACKAGE, '..', '..', 'build', 'bindings', 'node');
const NAME = process.platform === 'darwin'
  ? `libvarve.${VARVE_ABI_VERSION}.dylib` : `libvarve.so.${VARVE_ABI_VERSION}`;

let addon;
let raw;
let loadedPath;

/** The addon: the one in the package, or the one built in a checkout. */
function loadAddon() {
  const places = [PREBUILT, BUILT].map((directory) => join(directory, 'varve.node'));
  const path = places.find((place) => existsSync(place));
  if (path === undefined) {
    throw new Error(`varve has no addon for ${process.platform}-${process.arch}; ` +
      `build it with \`npm --prefix ${PACKAGE} run build\` (looked for ${places.join(', ')})`);
  }
  const loaded = createRequire(import.meta.url)(path);
  if (!isMainThread) loaded.closeAtEnd();  // a worker may end with open handles
  return loaded;
}

/** Where libvarve may be. One that was asked for by its path is the only one. */
function candidates(path) {
  if (path !== undefined) return [{ from: 'given', path: resolve(path) }];
  const named = process.env.VARVE_LIBRARY;
  if (named) return [{ from: 'VARVE_LIBRARY', path: resolve(named) }];
  return [
    { from: 'beside the addon', path: join(PREBUILT, NAME) },
    { from: 'beside the package', path: join(PACKAGE, NAME) },
    { from: '../lib', path: join(PACKAGE, '..', 'lib', NAME) },
    { from: 'system', path: NAME }];
}

/**
 * Loads libvarve, unless it is loaded already, and gives its path. Without `path` it is looked for
 * as bindings/README.md says. A process has one libvarve; it stays until the process ends.
 */
export function load(path) {
  if (raw !== undefined && path === undefined) return loadedPath;
  addon ??= loadAddon();
  const tried = [];
  for (const candidate of candidates(path)) {
    const { functions, reason, abiVersion } = addon.load(candidate.path);
    if (functions !== undefined) {
      raw ??= functions;
      loadedPath ??= candidate.path;
      return loadedPath;
    }
    tried.push({
      ...candidate, reason: reason.replace(`${candidate.path}: `, ''),
      ...(abiVersion ? { abiFound: abiVersion } : {}) });
  }
  throw new LoadError(tried, VARVE_ABI_VERSION);
}

/** Whether a text of JSON may have an integer beyond 2^53; see src/text.h. */
export function mayHaveLongInteger(text) {
  addon ??= loadAddon();
  return addon.mayHaveLongInteger(text);
}

/** @returns {import('./raw.js').Raw} the raw functions */
export function library() {
  if (raw === undefined) load();
  return raw;
}

/** The version of the library that is loaded. */
export function version() {
  return library().varve_version();
}

/** The name of a status; "VARVE_UNKNOWN_STATUS" for another number. */
export function statusName(status) {
  return library().varve_status_name(status);
}
