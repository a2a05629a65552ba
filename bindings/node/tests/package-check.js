// Packs the package with its addon and library, installs it into an empty project, and runs
// README.md's first example there, with no path to a library.
//
//   node tests/package-check.js FOLDER
import assert from 'node:assert/strict';
import { copyFileSync, cpSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync }
  from 'node:fs';
import { join, resolve } from 'node:path';
import { VARVE_ABI_VERSION } from '../lib/constants.js';
import { quotes } from './readme.js';
import { PACKAGE, ROOT, run } from './support.js';

const FIRST = 'remember-and-recall.js';
const LIBRARY = `libvarve.so.${VARVE_ABI_VERSION}`;
const folder = resolve(process.argv[2]);

async function succeed(program, args, environment = {}) {
  const { code, stdout, stderr } = await run(program, args, { environment });
  assert.equal(code, 0, `${program} ${args.join(' ')}: ${stdout}${stderr}`);
  return stdout;
}

/** The package as it is published: the sources, and what was built for this platform. */
async function pack() {
  const source = join(folder, 'source');
  const left = new Set(['node_modules', 'prebuilds']);
  cpSync(PACKAGE, source, {
    recursive: true, filter: (path) => !left.has(path.slice(PACKAGE.length + 1)) });
  const prebuilt = join(source, 'prebuilds', `${process.platform}-${process.arch}`);
  mkdirSync(prebuilt, { recursive: true });
  copyFileSync(join(ROOT, 'build', 'bindings', 'node', 'varve.node'), join(prebuilt, 'varve.node'));
  copyFileSync(process.env.VARVE_LIBRARY, join(prebuilt, LIBRARY));
  copyFileSync(join(ROOT, 'LICENSE'), join(source, 'LICENSE'));
  const told = await succeed('npm', ['pack', '--json', '--pack-destination', folder, source]);
  const [{ filename, files }] = Object.values(JSON.parse(told));
  return { tarball: join(folder, filename), files: files.map(({ path }) => path) };
}

function checkContents(files) {
  const parts = readdirSync(join(PACKAGE, 'lib')).map((name) => `lib/${name}`);
  const needed = ['README.md', 'LICENSE', 'package.json', 'src/raw.cpp', 'build-addon', ...parts];
  for (const name of ['varve.node', LIBRARY]) {
    needed.push(`prebuilds/${process.platform}-${process.arch}/${name}`);
  }
  assert.deepEqual(needed.filter((name) => !files.includes(name)), [], 'missing');
  const surplus = files.filter((name) => /^(tests|test$|node_modules|\.npmrc|tsconfig)/.test(name));
  assert.deepEqual(surplus, [], 'too much');
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
const { tarball, files } = await pack();
checkContents(files);
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
const lock = readFileSync(join(PACKAGE, 'package-lock.json'), 'utf8');
assert.doesNotMatch(lock, /"resolved"|https?:/, 'addresses in package-lock.json');
console.log(`installed ${tarball.split('/').at(-1)} and ran ${FIRST}`);
