// Finding libvarve, and what is told when that does not succeed.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { VARVE_ABI_VERSION } from '../lib/constants.js';
import { LoadError, load, version } from '../lib/index.js';
import { PACKAGE, ROOT, directory, run, runModule } from './support.js';

const LIBRARY = process.env.VARVE_LIBRARY;
const NAME = `libvarve.so.${VARVE_ABI_VERSION}`;
const HEADER = '#include <stdint.h>\n';

/** A shared object made of a few lines of C. */
function compile(test, text, name = 'libstub.so') {
  const place = directory(test);
  writeFileSync(join(place, 'stub.c'), HEADER + text);
  execFileSync(process.env.CC ?? 'gcc',
    ['-shared', '-fPIC', '-o', join(place, name), join(place, 'stub.c')]);
  return join(place, name);
}

function failureOf(path) {
  try {
    load(path);
  } catch (error) {
    return error;
  }
  return assert.fail(`${path} was loaded`);
}

test('a missing file is told with its path', (t) => {
  const path = join(directory(t), 'none.so');
  const error = failureOf(path);
  assert.ok(error instanceof LoadError);
  assert.equal(error.code, 'VARVE_NOT_LOADED');
  assert.equal(error.abiWanted, VARVE_ABI_VERSION);
  assert.equal(error.abiFound, undefined);
  assert.deepEqual(error.tried.map(({ path: at, from }) => [at, from]), [[path, 'given']]);
  assert.match(error.message, /No such file/);
  assert.match(error.message, /set VARVE_LIBRARY/);
  assert.ok(error.message.includes(path));
});

test('a library of another ABI version is told with both versions, and not called', (t) => {
  for (const version of [4711, VARVE_ABI_VERSION - 1]) {
    const path = compile(t, `uint32_t varve_abi_version(void) { return ${version}; }
      const char *varve_version(void) { __builtin_trap(); }`);
    const error = failureOf(path);
    assert.equal(error.abiFound, version || undefined);
    assert.match(error.message,
      new RegExp(`ABI version ${version}, this package needs ${VARVE_ABI_VERSION}`));
  }
});

test('a library that lacks functions is told with their names', (t) => {
  const path = compile(t, `uint32_t varve_abi_version(void) { return ${VARVE_ABI_VERSION}; }
    void varve_free(void *text) { (void)text; }`);
  const error = failureOf(path);
  assert.match(error.message, /lacks .*varve_store_open/);
  assert.doesNotMatch(error.message, /varve_free/);
});

test('what is no libvarve is told', (t) => {
  assert.match(failureOf(compile(t, 'int some(void) { return 1; }')).message, /is not libvarve/);
  const text = join(directory(t), 'text.so');
  writeFileSync(text, 'not a library');
  assert.match(failureOf(text).message, /invalid ELF header|file too short/);
});

test('after a failure the right one is loaded all the same', () => {
  assert.match(version(), /^\d+\.\d+\.\d+$/);
  assert.ok(existsSync(load()));
});

test('a second libvarve is refused', (t) => {
  const copy = join(directory(t), 'libvarve.so');
  copyFileSync(LIBRARY, copy);
  version();
  assert.match(failureOf(copy).message, /another libvarve is loaded/);
  assert.equal(load(LIBRARY), load());
});

test('what is loaded later is not bound to libvarve', (t) => {
  version();
  const path = compile(t, `extern const char *varve_version(void) __attribute__((weak));
    uint32_t varve_abi_version(void) { return varve_version ? 4711 : 4712; }`);
  assert.equal(failureOf(path).abiFound, 4712);
});

test('VARVE_LIBRARY is the only one tried when it is set', async (t) => {
  const path = join(directory(t), 'none.so');
  const { stdout } = await runModule(`
    import { version } from 'varve';
    try { version(); } catch (error) {
      console.log(JSON.stringify(error.tried.map(({ path, from }) => [path, from])));
    }`, { environment: { VARVE_LIBRARY: path } });
  assert.deepEqual(JSON.parse(stdout), [[path, 'VARVE_LIBRARY']]);
});

test('a path that is given goes before VARVE_LIBRARY', async () => {
  const { stdout } = await runModule(`
    import { load, version } from 'varve';
    console.log(load(${JSON.stringify(LIBRARY)}), version());`,
  { environment: { VARVE_LIBRARY: '/nowhere/libvarve.so' } });
  assert.equal(stdout, `${LIBRARY} ${version()}\n`);
});

/** A copy of the package as it is installed, without a library. */
function install(t) {
  const place = join(directory(t), 'varve');
  cpSync(join(PACKAGE, 'lib'), join(place, 'lib'), { recursive: true });
  copyFileSync(join(PACKAGE, 'package.json'), join(place, 'package.json'));
  const prebuilt = join(place, 'prebuilds', `${process.platform}-${process.arch}`);
  mkdirSync(prebuilt, { recursive: true });
  copyFileSync(join(ROOT, 'build', 'bindings', 'node', 'varve.node'), join(prebuilt, 'varve.node'));
  return { place, prebuilt };
}

async function loadedIn(place) {
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', `
    import { load } from ${JSON.stringify(join(place, 'lib', 'index.js'))};
    try { console.log(load()); } catch (error) { console.log(JSON.stringify(error.tried)); }`],
  { environment: { VARVE_LIBRARY: '' } });
  return stdout.trim();
}

test('it is looked for beside the package, in ../lib and in the system', async (t) => {
  const { place, prebuilt } = install(t);
  const expected = [join(prebuilt, NAME), join(place, NAME), join(place, '..', 'lib', NAME), NAME];
  const found = JSON.parse(await loadedIn(place));
  assert.deepEqual(found.map(({ path }) => path), expected);
  assert.ok(found.every(({ reason }) => /No such file/.test(reason)));
  mkdirSync(join(place, '..', 'lib'));
  for (const path of expected.slice(0, 3).reverse()) {
    copyFileSync(LIBRARY, path);
    assert.equal(await loadedIn(place), path);
  }
});

test('without an addon the error tells how to build one', async (t) => {
  const { place, prebuilt } = install(t);
  writeFileSync(join(prebuilt, 'varve.node'), 'broken');
  const { stderr } = await run(process.execPath, ['--input-type=module', '--eval',
    `import { load } from ${JSON.stringify(join(place, 'lib', 'index.js'))}; load();`]);
  assert.match(stderr, /varve\.node/);
});

/**
 * Whether a symbol of a program that is not relocatable stands for libc's: a function whose address
 * it takes (undefined, but with a value), or a copy of a variable.
 */
function leadsToLibc(program, symbol) {
  const table = execFileSync('readelf', ['--wide', '--dyn-syms', program],
    { encoding: 'utf8', maxBuffer: 2 ** 28 });
  const line = table.split('\n').find((row) => new RegExp(` ${symbol}(@|$)`).test(row)) ?? '';
  return / UND .*@GLIBC_/.test(line) || / OBJECT .*@GLIBC_/.test(line);
}

test('nothing of libvarve is bound to what the host brings along', async (t) => {
  const place = directory(t);
  const { code, stderr } = await runModule(`
    import { Store } from 'varve';
    const session = Store.openSync(${JSON.stringify(join(place, 'store'))}).createSessionSync();
    session.addSync({ type: 'finding', content: 'tea' });
    await session.query({ text: 'tea' });
    session.closeSync();`,
  { environment: { LD_DEBUG: 'bindings', LD_DEBUG_OUTPUT: join(place, 'bindings') } });
  assert.equal(code, 0, stderr);
  const [name] = execFileSync('ls', [place], { encoding: 'utf8' }).split('\n')
    .filter((file) => file.startsWith('bindings'));
  const bindings = [...readFileSync(join(place, name), 'utf8').matchAll(
    /binding file (\S+) \[\d+\] to (\S+) \[\d+\]: \w+ symbol `(\w+)'/g)];
  const ours = bindings.filter(([, from]) => from.includes('libvarve'));
  assert.ok(ours.length > 50, `${ours.length} bindings were seen`);
  const isLibc = (path) => /\/(libc\.so\.6|libm\.so\.6|ld-linux[\w.-]*)$/.test(path);
  const strangers = ours.filter(([, from, to, symbol]) =>
    to !== from && !isLibc(to) && !leadsToLibc(to, symbol));
  assert.deepEqual(strangers.map(([line]) => line), []);
});

test('an addon that a thread loads twice is as good as one', async () => {
  const { code, signal, stderr } = await runModule(`
    import { createRequire } from 'node:module';
    import { Store } from 'varve';
    const store = Store.openSync('memory:');
    const require = createRequire(import.meta.url);
    const path = Object.keys(require.cache).find((name) => name.endsWith('varve.node'));
    delete require.cache[path];
    require(path);
    const session = store.createSessionSync();
    const content = 'x'.repeat(700_000);
    session.addBatchSync(Array.from({ length: 3 }, () => ({ type: 'finding', content })));
    let told;
    const isTold = new Promise((resolve) => { told = resolve; });
    session.setProgress(() => told());
    const exports = Array.from({ length: 4 }, () => session.export('jsonl').catch(() => {}));
    await isTold;
    store.closeSync();  // waits for exports that wait for an answer
    await Promise.all(exports);`, { timeout: 60_000 });
  assert.equal(signal, null, `it hung: ${stderr}`);
  assert.equal(code, 0, stderr);
});
