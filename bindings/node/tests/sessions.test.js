// What stores and sessions do that no conformance case shows: iterators, closing, errors.
import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { Session, Store, VarveError, Window, load, version } from '../lib/index.js';
import { AT_ONCE, HANDLE, callNow } from '../lib/call.js';
import * as constants from '../lib/constants.js';
import { givesPage } from '../lib/documents.js';
import { library } from '../lib/native.js';
import {
  PACKAGE, directory, finding, openSession, openStore, runModule, until } from './support.js';

test('the package, the library and the headers have one version', () => {
  const manifest = JSON.parse(readFileSync(join(PACKAGE, 'package.json'), 'utf8'));
  assert.equal(version(), manifest.version);
  assert.equal(version(), ['MAJOR', 'MINOR', 'PATCH']
    .map((part) => constants[`VARVE_VERSION_${part}`]).join('.'));
  assert.equal(library().varve_abi_version(), constants.VARVE_ABI_VERSION);
  assert.equal(load(), load());
});

test('a deletion without a condition has to be said', async (t) => {
  const session = openStore(t).createSessionSync();
  session.addSync(finding('tea'));
  const mistakes = [undefined, null, '', { ids: undefined }, { text: 'tea', types: undefined },
    { tags: { include: undefined } }, { ids: [] }];
  for (const query of mistakes) {
    assert.throws(() => session.deleteWhereSync(query), { code: 'VARVE_INVALID_ARGUMENT' });
    await assert.rejects(session.deleteWhere(query), { code: 'VARVE_INVALID_ARGUMENT' });
  }
  assert.equal(session.deleteWhereSync(Buffer.from('{"text":"coffee"}')), 0);
  assert.equal(session.deleteWhereSync({}), 1);
});

test('the audit log says why each entry went', async (t) => {
  const root = directory(t);
  const store = openStore(t, root);
  const session = store.sessionSync('s', { userId: 'ann' });
  const memory = store.openMemorySync({ userId: 'ann' });
  session.addBatchSync(['a', 'b', 'c', 'd', 'e'].map((id) => finding('tea', { id })));
  await session.delete('a', 'asked for');
  session.deleteSync('b', 'moved ☕');
  await session.deleteWhere({ ids: ['c'] }, 'too old');
  await memory.delete('d', 'wrong');
  session.deleteSync('e', null);
  const lines = readFileSync(join(root, 'sessions/s/tombstones.jsonl'), 'utf8').trim().split('\n');
  assert.deepEqual(lines.map((line) => JSON.parse(line).reason),
    ['asked for', 'moved ☕', 'too old', 'wrong', '']);
});

test('a condition that JSON would leave out deletes nothing, at any depth', async (t) => {
  const session = openStore(t).createSessionSync();
  session.addSync(finding({ user: 'ann', role: 'cook' }, { tags: ['tea'] }));
  const mistakes = {
    'tags.include is undefined': { tags: { include: undefined, exclude: ['old'] } },
    'time.end is undefined': { time: { start: '2000-01-01T00:00:00Z', end: undefined } },
    'content.role is undefined': { content: { user: 'ann', role: undefined } },
    'tags.include[0] is undefined': { tags: { include: [undefined, 'tea'] } },
    'text is a function': { text: () => 'tea' },
    'content.role is a symbol': { content: { user: 'ann', role: Symbol('cook') } },
  };
  for (const [message, query] of Object.entries(mistakes)) {
    const refusal = { name: 'VarveError', code: 'VARVE_INVALID_ARGUMENT',
      message: `${message}; leave it out if it is no condition` };
    assert.throws(() => session.deleteWhereSync(query), refusal);
    await assert.rejects(session.deleteWhere(query), refusal);
  }
  assert.equal(session.deleteWhereSync({ content: { user: 'ann', role: 'cook' },
    time: { end: new Date(Date.now() + 60_000) } }), 1);
});

test('a user that is undefined, or a method that was not called, is not everybody', async (t) => {
  const store = openStore(t);
  store.sessionSync('kitchen', { userId: 'ann' }).addSync(finding('tea'));
  const memory = store.openMemorySync({ userId: 'ann' });
  const values = { undefined: undefined, 'a function': () => 'ann', 'a symbol': Symbol('ann') };
  for (const [name, what] of ['userId', 'agentId', 'sessionIds', 'user_id']
    .flatMap((each) => Object.keys(values).map((kind) => [each, kind]))) {
    const refusal = { name: 'VarveError', code: 'VARVE_INVALID_ARGUMENT',
      message: `${name} is ${what}; leave it out if ${
        name === 'sessionIds' ? 'every session' : 'everybody'} is meant` };
    const whose = { [name]: values[what] };
    for (const ask of [() => store.querySync({ text: 'tea', ...whose }),
      () => [...store.resultsSync(whose)], () => store.listSessionsSync(whose),
      () => [...store.sessionsSync(whose)], () => store.usageSync(whose),
      () => store.createSessionSync(whose), () => store.sessionSync('kitchen', whose),
      () => store.openMemorySync(whose), () => memory.searchSync(whose)]) {
      assert.throws(ask, refusal);
    }
    await assert.rejects(store.query(whose), refusal);
  }
  assert.equal(store.querySync({ text: 'tea', limit: undefined }).results.length, 1);
});

test('what prints itself as undefined is no condition either, and nobody\'s name', async (t) => {
  class Printed {
    #value;
    constructor(value) { this.#value = value; }
    toJSON() { return this.#value; }
  }
  const refusal = (message) => ({ name: 'VarveError', code: 'VARVE_INVALID_ARGUMENT', message });
  const store = openStore(t);
  const session = store.sessionSync('kitchen', { userId: 'ann' });
  session.addSync(finding({ user: 'ann', role: 'cook' }));
  for (const [what, value] of [['undefined', undefined], ['a function', () => 'ann']]) {
    const given = new Printed(value);
    assert.throws(() => session.deleteWhereSync({ ids: given }), refusal(/^ids is /));
    assert.throws(() => session.deleteWhereSync({ content: new Printed({ user: 'ann', role: given }) }),
      refusal(`content.role is ${what}; leave it out if it is no condition`));
    await assert.rejects(store.query({ userId: given }),
      refusal(`userId is ${what}; leave it out if everybody is meant`));
    await assert.rejects(session.buildContext({ question: 'tea', across: { userId: given } }),
      refusal(`across.userId is ${what}; leave it out if it is no condition`));
  }
  const named = Object.assign(new Printed('ann'), { notPrinted: undefined });
  assert.equal(store.querySync({ userId: named }).results.length, 1);
  assert.equal(session.deleteWhereSync({ content: { user: named } }), 1, 'as it is printed');
});

test('undefined sessions are not every session to a backup and a restore', async (t) => {
  const store = openStore(t);
  store.sessionSync('kitchen').addSync(finding('tea'));
  const copy = join(directory(t), 'copy');
  const refusal = { code: 'VARVE_INVALID_ARGUMENT',
    message: 'sessions is undefined; leave it out if every session is meant' };
  assert.throws(() => store.backupSync(copy, { sessions: undefined }), refusal);
  assert.equal(store.backupSync(copy, { sessions: ['kitchen'] }).sessions, 1);
  store.openSessionSync('kitchen').addSync(finding('coffee'));
  await assert.rejects(store.restore(copy, { sessions: undefined, overwrite: true }), refusal);
  assert.equal(store.openSessionSync('kitchen').countSync(), 2);
});

test('iterators go through every page, up to the limit', async (t) => {
  const store = openStore(t);
  const session = store.createSessionSync();
  const all = Array.from({ length: 1100 }, (_, n) => `e${n}`);
  session.addBatchSync(all.map((id) => finding(`n ${id}`, { id })));
  for (const source of [session, store]) {
    for (const limit of [undefined, null, 0, 10, 500, 501, 1100, 9999]) {
      const query = { limit, sortBy: 'time', order: 'asc' };
      const ids = [];
      for await (const { entry } of source.results(query)) ids.push(entry.id);
      assert.deepEqual(ids, all.slice(0, limit ?? all.length));
      assert.deepEqual([...source.resultsSync(query)].map(({ entry }) => entry.id), ids);
      assert.equal([...source.resultsSync(JSON.stringify({ limit }))].length, ids.length);
    }
    assert.throws(() => [...source.resultsSync({ limit: -1 })], { code: 'VARVE_INVALID_ARGUMENT' });
    assert.equal([...source.resultsSync({ limit: 501n })].length, 501);
    const odd = [{ limt: 1 }, { limit: '5' }, { limit: 1.5 }, '{', '[]', Buffer.from('{]'), 5, [1],
      Buffer.from('{"text":"caf\xe9"}', 'latin1'), Buffer.from('\uFEFF{}')];
    for (const wrong of odd) {
      assert.throws(() => [...source.resultsSync(wrong)], { code: 'VARVE_INVALID_ARGUMENT' });
    }
    assert.equal([...source.resultsSync('')].length, all.length);
  }
  assert.equal(session.querySync().results.length, 100, 'one page');
  for (let n = 0; n < 4; n++) store.createSessionSync({ sessionId: `s${n}`, userId: 'ann' });
  const sessions = [];
  for await (const summary of store.sessions({ limit: 3 })) sessions.push(summary.sessionId);
  assert.equal(sessions.length, 5);
  assert.deepEqual([...store.sessionsSync({ limit: 3 })].map((s) => s.sessionId), sessions);
  for (const text of ['{"limit":3}', Buffer.from('{"limit":3}')]) {
    assert.deepEqual([...store.sessionsSync(text)].map((s) => s.sessionId), sessions);
    const later = [];
    for await (const summary of store.sessions(text)) later.push(summary.sessionId);
    assert.deepEqual(later, sessions);
  }
  assert.equal([...store.sessionsSync({ userId: 'ann' })].length, 4);
});

test('all sessions are of one list, that is made anew once', async (t) => {
  const root = directory(t);
  const store = openStore(t, root);
  for (let n = 0; n < 3; n++) store.createSessionSync();
  const list = () => statSync(join(root, 'indices/sessions.jsonl')).ino;
  const lists = [];
  for await (const _ of store.sessions({ limit: 1, rescan: true })) lists.push(list());
  assert.deepEqual(lists, [lists[0], lists[0], lists[0]]);
  const later = [];
  for (const _ of store.sessionsSync({ limit: 1, rescan: true })) later.push(list());
  assert.notEqual(later[0], lists[0]);
  assert.deepEqual(later, [later[0], later[0], later[0]]);
});

test('a page of results can be iterated, as often as one likes', async (t) => {
  const store = openStore(t);
  const session = store.createSessionSync({ userId: 'ann' });
  session.addBatchSync(['a', 'b', 'c'].map((id) => finding('tea', { id })));
  const memory = store.openMemorySync({ userId: 'ann' });
  memory.storeSync({ id: 'd', content: 'tea' });
  const query = { text: 'tea', sortBy: 'time', order: 'asc', limit: 2 };
  const pages = [
    [session.querySync(query), ['a', 'b']], [await session.query(query), ['a', 'b']],
    [await store.query({ ...query, limit: 9 }), ['a', 'b', 'c', 'd']],
    [await memory.search(query), ['a', 'b']], [session.querySync({ text: 'coffee' }), []]];
  for (const [page, ids] of pages) {
    for (let times = 0; times < 2; times++) {
      assert.deepEqual(Array.from(page, ({ entry }) => entry.id), ids);
    }
    assert.deepEqual([...page], page.results);
    assert.deepEqual(Object.keys(page), ['results', 'next'], 'data, and nothing else');
  }
});

test('the results of the library end with the page that is made of them', (t) => {
  const session = openSession(t);
  session.addSync(finding('tea'));
  const results = callNow('varve_session_query', [session[HANDLE], '{"text":"tea"}']);
  assert.equal(givesPage(results).results.length, 1);
  assert.throws(() => callNow('varve_results_json', [results]), { code: 'VARVE_BAD_HANDLE' });
});

test('a session is opened or made', async (t) => {
  const place = join(directory(t), 'store');
  const first = openStore(t, place);
  const made = await first.session('kitchen', { userId: 'ann', title: 'Kitchen' });
  await made.add(finding('tea'));
  await first.close();
  const store = openStore(t, place);
  for (const session of [
    await store.session('kitchen'), store.sessionSync('kitchen', { userId: 'ann' }),
    store.sessionSync('kitchen', '{"user_id":"ann"}'), store.sessionSync('kitchen', null),
    store.sessionSync('kitchen', { sessionId: 'hall', ifExists: 'fail' }),
    await store.createSession({ sessionId: 'kitchen', ifExists: 'open' })]) {
    assert.equal(session.countSync(), 1);
    assert.equal(session.metadataSync().title, 'Kitchen');
  }
  const others = { code: 'VARVE_ALREADY_EXISTS', message: /belongs to another user/ };
  await assert.rejects(store.session('kitchen', { userId: 'bo' }), others);
  assert.throws(() => store.sessionSync('kitchen', { userId: 'bo' }), others);
  await assert.rejects(store.createSession({ sessionId: 'kitchen' }),
    { code: 'VARVE_ALREADY_EXISTS' });
  for (const wrong of [() => store.sessionSync(), () => store.sessionSync('a b'),
    () => store.sessionSync('a', 5), () => store.sessionSync('a', '['),
    () => store.sessionSync('a', { user: 'ann' })]) {
    assert.throws(wrong, { code: 'VARVE_INVALID_ARGUMENT' });
  }
  const signal = AbortSignal.abort(new Error('no more'));
  await assert.rejects(store.session('hall', {}, { signal }), { message: 'no more' });
  assert.equal(store.listSessionsSync().sessions.length, 1);
});

test('promises wait for nobody once nothing of JavaScript has to answer', (t) => {
  const store = openStore(t);
  assert.throws(() => store.setClock(() => undefined));
  assert.throws(() => store.setTokenCounter('gpt'));
  assert.equal(store[AT_ONCE], false, 'neither was taken');
  store.setClock(Date.now);
  store.setTokenCounter((text) => text.length);
  assert.equal(store[AT_ONCE], true);
  store.setClock(null);
  assert.equal(store[AT_ONCE], true, 'the counter has to');
  store.setTokenCounter(null);
  assert.equal(store[AT_ONCE], false);
});

test('an iterator can be left early', async (t) => {
  const session = openSession(t);
  session.addBatchSync(Array.from({ length: 5 }, () => finding('x')));
  for await (const { entry } of session.results({ limit: 2 })) {
    assert.equal(entry.content, 'x');
    break;
  }
});

test('an error has code, status, message, details and the place of the call', async (t) => {
  const session = openSession(t);
  const error = await session.add({ type: 'finding', content: 1, tags: [5] }).catch((e) => e);
  assert.ok(error instanceof VarveError && error instanceof Error);
  assert.equal(error.name, 'VarveError');
  assert.equal(error.code, 'VARVE_INVALID_ARGUMENT');
  assert.equal(error.status, constants.VARVE_INVALID_ARGUMENT);
  assert.equal(error.details.member, 'tags[0]');
  assert.match(error.message, /tags/);
  assert.match(error.stack, /sessions\.test\.js/);
  assert.ok(!('cause' in error));
  assert.throws(() => session.getSync('nobody'), { code: 'VARVE_NOT_FOUND' });
});

test('every status has its name', () => {
  const statuses = Object.entries(constants).filter(([name, value]) =>
    value >= 0 && value <= 127 && library().varve_status_name(value) === name);
  assert.equal(statuses.length, 17, 'one for each status of base.h');
});

test('what is used after close answers VARVE_BAD_HANDLE', async (t) => {
  const store = openStore(t);
  const session = await store.createSession({ sessionId: 'kept' });
  assert.equal(session.closed, false);
  await session.close();
  assert.equal(session.closed, true);
  assert.equal(session.id, 'kept');
  await assert.rejects(session.add(finding('x')), { code: 'VARVE_BAD_HANDLE' });
  assert.throws(() => session.addSync(finding('x')), { code: 'VARVE_BAD_HANDLE' });
  assert.throws(() => session.setProgress(() => true), { code: 'VARVE_BAD_HANDLE' });
  await session.close();
  session.closeSync();
  store.closeSync();
  await assert.rejects(store.openSession('kept'), { code: 'VARVE_BAD_HANDLE' });
  await assert.rejects(store.stats(), { code: 'VARVE_BAD_HANDLE' });
  await store.close();
});

test('who closes again waits for the close that is under way', async (t) => {
  const store = openStore(t);
  const ended = [];
  const close = async (name) => {
    await store.close();
    ended.push(name);
  };
  await Promise.all(['first', 'second', 'third'].map(close));
  assert.deepEqual(ended, ['first', 'second', 'third']);
});

test('that a close failed is told once', async (t) => {
  const store = openStore(t);
  store.createSessionSync();
  store.setLog(() => { throw new Error('receiver'); });
  store.setClock(Date.now);  // so that the receiver is called by the close itself
  const [first, second] = await Promise.allSettled([store.close(), store.close()]);
  assert.deepEqual([first.reason?.code, second.status], ['VARVE_CALLBACK', 'fulfilled']);
});

test('closing a store closes its sessions', async (t) => {
  const store = openStore(t);
  const session = store.createSessionSync();
  await store.close();
  await assert.rejects(session.count(), { code: 'VARVE_BAD_HANDLE' });
  await session.close();
});

test('dispose and asyncDispose close', async (t) => {
  const store = openStore(t);
  const [first, second] = [store.createSessionSync(), store.createSessionSync()];
  first[Symbol.dispose]();
  await second[Symbol.asyncDispose]();
  assert.ok(first.closed && second.closed);
  assert.equal(store.statsSync().sessionsOpen, 0);
});

test('a number that is none removes nothing from the metadata', async (t) => {
  const session = openStore(t).createSessionSync({ ttlHours: 24 });
  class Setting { constructor(value) { this.value = value; } toJSON() { return this.value; } }
  for (const [change, message] of [
    [{ ttlHours: 0 / 0 }, 'ttlHours is NaN; to remove it, give null'],
    [{ ttlHours: new Setting(-Infinity) }, 'ttlHours is -Infinity; to remove it, give null'],
    [{ decayConfig: { minDecayFactor: NaN } },
      'decayConfig.minDecayFactor is NaN; to remove it, give null']]) {
    await assert.rejects(session.update(change), { code: 'VARVE_INVALID_ARGUMENT', message });
  }
  assert.equal(session.metadataSync().ttlHours, 24);
  session.updateSync({ ttlHours: null });
  assert.equal(session.metadataSync().ttlHours, undefined);
});

test('what is no signal is refused', async (t) => {
  const session = openStore(t).createSessionSync();
  await assert.rejects(session.add(finding(1), { signal: 5 }),
    { name: 'TypeError', message: 'signal must be an AbortSignal' });
  assert.equal(session.countSync(), 0);
});

test('an abort before the call begins keeps it from beginning', async (t) => {
  const session = openSession(t);
  const signal = AbortSignal.abort(new Error('no more'));
  await assert.rejects(session.add(finding('x'), { signal }), { message: 'no more' });
  assert.equal(session.countSync(), 0);
});

test('an abort rejects at once what waits, and leaves the rest alone', async (t) => {
  const session = openSession(t);
  const controller = new AbortController();
  const adds = Array.from({ length: 200 }, () =>
    session.add(finding('x'), { signal: controller.signal }));
  const others = Array.from({ length: 20 }, () => session.add(finding('other')));
  controller.abort();
  const settled = await Promise.allSettled(adds);
  assert.ok(settled.every(({ status, reason }) =>
    status === 'fulfilled' || reason === controller.signal.reason));
  await Promise.all(others);
  assert.equal(session.countSync({ text: 'other' }), 20);
  assert.ok(settled.some(({ status }) => status === 'rejected'));
});

test('what an aborted call opened is closed', async (t) => {
  const store = openStore(t);
  store.createSessionSync({ sessionId: 's' }).closeSync();
  for (let round = 0; round < 50; round++) {
    const controller = new AbortController();
    const opening = store.openSession('s', { signal: controller.signal });
    if (round % 2) await new Promise((resume) => { setImmediate(resume); });
    controller.abort();
    await opening.then((session) => session.close(), () => {});
  }
  while (store.statsSync().sessionsOpen > 0) {
    await new Promise((resume) => { setImmediate(resume); });
  }
});

test('a call that ended, well or not, leaves no listener on its signal', async (t) => {
  const session = openSession(t);
  const { signal } = new AbortController();
  await session.add(finding('x'), { signal });
  await assert.rejects(session.get('nobody', { signal }), { code: 'VARVE_NOT_FOUND' });
  await assert.rejects(session.add({ type: 'NOT ONE' }, { signal }));
  assert.deepEqual(getEventListeners(signal, 'abort'), []);
});

test('many calls with one signal are no leak, and each hears of an abort', async () => {
  const { code, stdout, stderr } = await runModule(`
    import { Store } from 'varve';
    const session = Store.openSync('memory:').createSessionSync();
    const controller = new AbortController();
    const calls = () => Promise.allSettled(Array.from({ length: 30 }, () =>
      session.count({}, { signal: controller.signal })));
    const ended = await calls();
    const aborted = calls();
    controller.abort();
    const states = [...ended, ...await aborted].map(({ status }) => status);
    console.log(states.indexOf('rejected'), states.lastIndexOf('fulfilled'));`);
  assert.deepEqual([code, stderr, stdout], [0, '', '30 29\n']);
});

test('what waits for a thread when it is aborted is never begun', async () => {
  const { code, stdout, stderr } = await runModule(`
    import { Store } from 'varve';
    const session = Store.openSync('memory:').createSessionSync();
    session.addSync({ type: 'finding', content: 'tea' });
    const controller = new AbortController();
    let adding;
    session.setProgress(() => {  // the only thread waits for this
      adding ??= session.add({ type: 'finding', content: 'late' }, { signal: controller.signal })
        .catch((reason) => reason.name);
      controller.abort();
    });
    await session.export('jsonl');
    console.log(await adding, await session.count());`,
  { environment: { UV_THREADPOOL_SIZE: '1' } });
  assert.deepEqual([code, stderr, stdout], [0, '', 'AbortError 1\n']);
});

test('what is opened when it is aborted is closed, not left to be collected', async (t) => {
  const store = openStore(t);
  const closed = t.mock.method(Session.prototype, Symbol.dispose);
  const controller = new AbortController();
  const opening = store.createSession({}, { signal: controller.signal });
  while (store.statsSync().sessionsOpen === 0);  // JavaScript has not heard of it yet
  controller.abort();
  await assert.rejects(opening, { name: 'AbortError' });
  await until(() => store.statsSync().sessionsOpen === 0);
  assert.equal(closed.mock.callCount(), 1);
});

test('whatever opens or goes through pages takes a signal', async (t) => {
  const signal = AbortSignal.abort(new Error('no more'));
  const store = openStore(t);
  const session = store.createSessionSync();
  for (const begin of [() => Store.open('memory:', {}, { signal }),
    () => Window.create(1, { signal }), () => session.results({}, { signal }).next(),
    () => store.results({}, { signal }).next(), () => store.sessions({}, { signal }).next(),
    () => store.openMemory({ userId: 'ann' }, { signal })]) {
    await assert.rejects(begin, { message: 'no more' });
  }
});

test('an abort after the end changes nothing', async (t) => {
  const session = openSession(t);
  const controller = new AbortController();
  const id = await session.add(finding('x'), { signal: controller.signal });
  controller.abort();
  assert.equal((await session.get(id)).content, 'x');
});

test('files, backups and reports are found where they were asked for', async (t) => {
  const place = directory(t);
  const store = openStore(t, join(place, 'store'));
  const session = await store.createSession({ sessionId: 's' });
  await session.add(finding('tea'));
  const report = await store.backup(join(place, 'copy'));
  assert.equal(report.entries, 1);
  assert.equal(typeof report.durationMs, 'number');
  const copy = openStore(t, join(place, 'copy'));
  assert.equal(copy.openSessionSync('s').countSync(), 1);
  assert.ok((await session.files()).files.some(({ name }) => name === 'memory.jsonl'));
  assert.match(await store.metrics(), /varve_entries/);
});

test('what is printed of a handle is what its user knows', (t) => {
  const store = openStore(t);
  assert.equal(inspect(store), 'Store {}');
  assert.equal(inspect(store.sessionSync('s')), "Session { id: 's' }");
});

test('only the library makes stores and sessions', () => {
  assert.throws(() => new Session(), { name: 'TypeError', message: /Store/ });
  assert.throws(() => new Store('memory:'), { name: 'TypeError', message: /Store/ });
});
