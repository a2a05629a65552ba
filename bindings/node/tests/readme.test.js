// README.md quotes the examples as they are, and what they print; the types tell what there is.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import * as varve from '../lib/index.js';
import { EXAMPLES, current, quotes } from './readme.js';
import { PACKAGE } from './support.js';

test('every example is quoted', () => {
  assert.deepEqual(Object.keys(quotes()).sort(), EXAMPLES);
  assert.equal(EXAMPLES.length, 5);
});

for (const name of EXAMPLES) {
  test(`${name} is as README.md quotes it`, async () => {
    assert.deepEqual(quotes()[name], await current(name), 'run tests/readme.js --update');
  });
}

/** Names of the methods in the body of a class in index.d.ts. */
function declared(types, name) {
  const body = new RegExp(`class ${name}[^{]*\\{(.*?)\\n\\}`, 's').exec(types)[1];
  return new Set([...body.matchAll(/^ {2}(?:static )?(\w+)\(/gm)].map(([, method]) => method)
    .filter((method) => method !== 'constructor'));
}

const methodsOf = (object) => Object.getOwnPropertyNames(object).filter((name) =>
  typeof Object.getOwnPropertyDescriptor(object, name).value === 'function');

test('index.d.ts has every method, and no other', () => {
  const types = readFileSync(join(PACKAGE, 'lib', 'index.d.ts'), 'utf8');
  const classes = Object.entries(varve).filter(([, value]) =>
    typeof value === 'function' && value.prototype && !(value.prototype instanceof Error));
  for (const [name, value] of classes.filter(([, { prototype }]) => 'closeSync' in prototype)) {
    const methods = [...methodsOf(value.prototype), ...methodsOf(value)]
      .filter((method) => method !== 'constructor');
    assert.deepEqual([...declared(types, name)].sort(), methods.sort(), name);
  }
  for (const name of Object.keys(varve)) {
    assert.match(types, new RegExp(`export (class|function) ${name}\\b`));
  }
});

test('each method has its Sync variant and its promise', () => {
  for (const { prototype } of [varve.Store, varve.Session, varve.Window, varve.Memory]) {
    const names = methodsOf(prototype);
    const alone = names.filter((name) => !name.startsWith('set') && name !== 'constructor' &&
      !names.includes(name.endsWith('Sync') ? name.slice(0, -4) : `${name}Sync`));
    assert.deepEqual(alone, []);
  }
});
