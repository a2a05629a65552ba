// A libvarve with all functions of the API that does nothing but write down what it is given, and
// gives what can be told apart. It is made from bindings/api.json and compiled against the headers.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from './support.js';

const API = JSON.parse(readFileSync(join(ROOT, 'bindings', 'api.json'), 'utf8'));
const kindOf = new Map(API.types.map(({ name, kind }) => [name, kind]));
const INTEGER_OF = new Map(API.types.filter(({ as }) => as).map(({ name, as }) => [name, as]));

/** The range of each integer of C. */
export const RANGES = {
  int32_t: [-(2n ** 31n), 2n ** 31n - 1n], uint32_t: [0n, 2n ** 32n - 1n],
  int64_t: [-(2n ** 63n), 2n ** 63n - 1n], uint64_t: [0n, 2n ** 64n - 1n],
  size_t: [0n, 2n ** 64n - 1n] };

export const plain = (type) => INTEGER_OF.get(type) ?? type;
export const FUNCTIONS = API.functions;

/** The handle that a function gives: no other has it, and a double cannot hold it. */
export const handleOf = (name) =>
  0xF000_0000_0000_0001n + 2n * BigInt(FUNCTIONS.findIndex((each) => each.name === name));
export const SCORE = 0.1 + 0.2;

const PRELUDE = `
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <varve/varve.h>

static FILE *echo;
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static void begin(const char *name) {
  pthread_mutex_lock(&turn);
  if (echo == NULL) echo = fopen(getenv("VARVE_ECHO"), "a");
  fprintf(echo, "%s", name);
}
static void end(void) {
  fprintf(echo, "\\n");
  fflush(echo);
  pthread_mutex_unlock(&turn);
}
static void note_text(const char *text, size_t size) {
  fprintf(echo, text == NULL ? " null" : " '");
  for (size_t i = 0; text != NULL && i < size; i++) fprintf(echo, "%02x", (unsigned char)text[i]);
  fprintf(echo, text == NULL ? "" : "'");
}
static void note_handle(const void *handle) { fprintf(echo, " #%" PRIuPTR, (uintptr_t)handle); }
static void note_signed(int64_t number) { fprintf(echo, " %" PRId64, number); }
static void note_unsigned(uint64_t number) { fprintf(echo, " %" PRIu64, number); }
static void note_floats(const float *numbers, uint32_t count) {
  fprintf(echo, " %" PRIu32 ":", count);
  for (uint32_t i = 0; i < count; i++) fprintf(echo, "%g,", numbers[i]);
}
static char *copy(const char *text) { return strcpy(malloc(strlen(text) + 1), text); }
`;

/** How a function writes down a parameter, or what it gives by it. */
function statement(name, param, next) {
  const place = `${name}.${param.name}`;
  switch (param.type === 'const float *' ? 'floats' : param.role) {
    case 'handle': return `note_handle(${param.name});`;
    case 'text': return `note_text(${param.name}, ${next.name});`;
    case 'floats': return `note_floats(${param.name}, ${next.name});`;
    case 'in': {
      const sign = plain(param.type).startsWith('int') ? 'signed' : 'unsigned';
      return `note_${sign}(${param.name});`;
    }
    case 'callback':
      return `fprintf(echo, ${param.name} == NULL ? " none" : ` +
        `" function with %s", ${next.name} == NULL ? "nothing" : "its data");`;
    case 'handle_out': return `*${param.name} = (void *)${handleOf(name)}u;`;
    case 'owned_text': return `*${param.name} = copy("${place}"); *${next.name} = ${place.length};`;
    case 'borrowed_text': return `*${param.name} = "${place}"; *${next.name} = ${place.length};`;
    case 'out': return `*${param.name} = ${param.type === 'double *' ? SCORE : 'UINT64_MAX'};`;
    case 'error_out': return `*${param.name} = NULL;`;
    default: throw new Error(`echo.js does not know a parameter of role ${param.role}`);
  }
}

function answer({ name, returns }) {
  if (name === 'varve_abi_version') return 'return VARVE_ABI_VERSION;';
  if (returns === 'void') return '';
  if (returns === 'const char *') return `return "${name}";`;
  return returns === 'varve_status_t' ? 'return VARVE_OK;' : 'return SIZE_MAX;';
}

/** The parameters that say something themselves: not the length of a text, nor a count. */
export const telling = (params) => params.filter((param, at) => !(
  /length$|^user_data$/.test(param.role) || params[at - 1]?.type === 'const float *'));

function definition(api) {
  const { name, returns, params } = api;
  const declared = params.map(({ type, name: of }) => `${type} ${of}`).join(', ') || 'void';
  // What is freed was given by this library; all others are only looked at.
  if (name === 'varve_free') return `void varve_free(void *text) { free(text); }`;
  const statements = telling(params).map((param) =>
    `  ${statement(name, param, params[params.indexOf(param) + 1])}`);
  return [`${returns} ${name}(${declared}) {`, `  begin("${name}");`, ...statements, '  end();',
    `  ${answer(api)}`, '}'].join('\n');
}

/** Builds it, and gives its path and that of the file that it writes to. */
export function buildEcho() {
  const place = mkdtempSync(join(tmpdir(), 'varve-echo-'));
  process.on('exit', () => rmSync(place, { recursive: true, force: true }));
  const [source, path, written] = ['echo.c', 'libecho.so', 'written'].map((name) =>
    join(place, name));
  writeFileSync(source, `${PRELUDE}\n${FUNCTIONS.map(definition).join('\n\n')}\n`);
  execFileSync(process.env.CC ?? 'gcc', ['-shared', '-fPIC', '-pthread', '-Wall', '-Werror',
    `-I${join(ROOT, 'include')}`, '-o', path, source]);
  writeFileSync(written, '');
  process.env.VARVE_ECHO = written;
  return { path, written };
}

/** Whether a type is that of a handle to an error, which the addon keeps to itself. */
export const isOfErrors = ({ type, role }) => role === 'handle' && type.includes('varve_error_t')
  && kindOf.get('varve_error_t') === 'handle';
