// Key-value store and transcript.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openSession, openStore } from './support.js';

test('kv: keys are set, listed and deleted', async (t) => {
  const session = openSession(t);
  await session.kvSet('name', 'Ann \0 😀');
  session.kvSetSync('topic', '');
  assert.equal(await session.kvGet('name'), 'Ann \0 😀');
  assert.equal(session.kvGetSync('working_memory'), '');
  assert.deepEqual((await session.kvList()).map(({ key }) => key), ['name', 'topic']);
  await session.kvDelete('name');
  await assert.rejects(session.kvGet('name'), { code: 'VARVE_NOT_FOUND' });
});

test('transcript: turns come back in order', async (t) => {
  const session = openSession(t);
  await session.transcriptAppend('user', 'Tea?\n### user');
  session.transcriptAppendSync('assistant', 'Yes \0');
  const turns = await session.transcriptLast();
  assert.deepEqual(turns.map(({ role, content }) => [role, content]),
    [['user', 'Tea?\n### user'], ['assistant', 'Yes \0']]);
  assert.deepEqual(session.transcriptLastSync(1).map(({ role }) => role), ['assistant']);
});

test('a session without kv says so', async (t) => {
  const session = openStore(t).createSessionSync({ stores: [] });
  await assert.rejects(session.kvSet('a', 'b'), { code: 'VARVE_UNSUPPORTED' });
});
