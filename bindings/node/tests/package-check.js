// Packs the package with its addon and library, installs it into an empty project, and runs
// README.md's first example there, with no path to a library.
//
//   node tests/package-check.js FOLDER
import assert from 'node:assert/strict';
import {
  existsSync, mkdirSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { VARVE_ABI_VERSION } from '../lib/constants.js';
import { quotes } from './readme.js';
import { PACKAGE, run } from './support.js';

const FIRST = 'remember-and-recall.js';
const LIBRARY = `libvarve.so.${VARVE_ABI_VERSION}`;
const BINARY_BYTES_MAX = 16 * 2 ** 20;  // with debug information five times as much
const folder = resolve(process.argv[2]);

async function succeed(program, args, environment = {}) {
  const { code, stdout, stderr } = await run(program, args, { environment });
  assert.equal(code, 0, `${program} ${args.join(' ')}: ${stdout}${stderr}`);
  return stdout;
}

/** The package as it is published: the sources, and what was built for this platform. */
async function pack() {
  await succeed(join(PACKAGE, '..', 'package'), ['--output', folder, 'node']);
  const [name] = readdirSync(folder).filter((file) => file.endsWith('.tgz'));
  const told = await succeed('tar', ['-tzvf', join(folder, name)]);
  const files = told.trim().split('\n').map((line) => line.split(/ +/));
  return {
    tarball: join(folder, name),
    sizes: Object.fromEntries(files.map((line) => [line[5].replace(/^package\//, ''), line[2]])) };
}

function checkContents(sizes) {
  const files = Object.keys(sizes);
  const parts = readdirSync(join(PACKAGE, 'lib')).map((name) => `lib/${name}`);
  const needed = [
    'README.md', 'LICENSE', 'LICENSE.third-party', 'package.json', 'src/raw.cpp', 'build-addon',
    ...parts];
  for (const name of ['varve.node', LIBRARY]) {
    needed.push(`prebuilds/${process.platform}-${process.arch}/${name}`);
  }
  assert.deepEqual(needed.filter((name) => !files.includes(name)), [], 'missing');
  const surplus = files.filter((name) => /^(tests|test$|node_modules|\.npmrc|tsconfig)/.test(name));
  assert.deepEqual(surplus, [], 'too much');
  for (const name of files.filter((path) => path.startsWith('prebuilds'))) {
    assert.ok(sizes[name] < BINARY_BYTES_MAX, `${name}: ${sizes[name]} bytes: is it stripped?`);
  }
}

async function install(tarball) {
  const project = join(folder, 'project');
  mkdirSync(project);
  writeFileSync(join(project, 'package.json'), '{"name":"newcomer","type":"module"}');
  const offline = ['--offline', '--no-audit', '--no-fund', '--no-package-lock'];
  await succeed('npm', ['install', '--prefix', project, ...offline, tarball]);
  return project;
}

rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
const { tarball, sizes } = await pack();
checkContents(sizes);
const project = await install(tarball);
const { program, printed } = quotes()[FIRST];
writeFileSync(join(project, FIRST), program);
const none = { VARVE_LIBRARY: '' };
const store = join(project, 'memory');
assert.equal(await succeed(process.execPath, [join(project, FIRST), store], none), printed);
const where = join(project, 'where.js');
writeFileSync(where, "import { load } from 'varve';\nconsole.log(load());\n");
const loaded = await succeed(process.execPath, [where], none);
assert.ok(loaded.startsWith(join(project, 'node_modules', 'varve', 'prebuilds')), loaded);

/** The newest version 2.N of glibc that a shared object of the installed package needs. */
async function glibc(name) {
  const told = await succeed('objdump', ['-T', join(loaded, '..', name)]);
  return Math.max(...[...told.matchAll(/GLIBC_2\.(\d+)/g)].map((match) => Number(match[1])));
}
assert.ok(await glibc('varve.node') <= await glibc(LIBRARY), 'the addon asks for a newer system');

// Where there is no addon for the platform, the package says how to build it, and that works.
const installed = join(project, 'node_modules', 'varve');
const addon = join(installed, 'prebuilds', `${process.platform}-${process.arch}`, 'varve.node');
rmSync(addon);
const { stderr } = await run(process.execPath, [where], { environment: none });
const [, told] = /build it with `(.*?)`/.exec(stderr);
assert.equal(told, `npm --prefix ${installed} run build`);
mkdirSync(join(installed, 'node_modules'));
symlinkSync(
  join(PACKAGE, 'node_modules/node-api-headers'),
  join(installed, 'node_modules/node-api-headers'));
const [npm, ...words] = told.split(' ');
await succeed(npm, words);
assert.ok(existsSync(addon));
assert.equal(await succeed(process.execPath, [where], none), loaded);

const lock = readFileSync(join(PACKAGE, 'package-lock.json'), 'utf8');
assert.doesNotMatch(lock, /"resolved"|https?:/, 'addresses in package-lock.json');
console.log(`installed ${tarball.split('/').at(-1)} and ran ${FIRST}`);
