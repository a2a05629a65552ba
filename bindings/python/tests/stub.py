"""A libvarve made of bindings/api.json, compiled against the headers: it counts what it has given
and not got back, notes the numbers that it is given, calls back, and fails when it is told to."""
import ctypes
import json
import pathlib
import subprocess

from varve import _raw

ROOT = pathlib.Path(__file__).resolve().parents[3]
FUNCTIONS = json.loads((ROOT / "bindings/api.json").read_text())["functions"]
NUMBERS_MAX = 4

PRELUDE = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <varve/varve.h>

int stub_texts, stub_errors, stub_handles, stub_status;
uint64_t stub_numbers[%d], stub_out, stub_tokens;
int64_t stub_time;
int stub_number_count, stub_is_calling;
char stub_answer[4096], stub_details[4096], stub_called[1 << 16];
static varve_log_fn log_fn;
static varve_clock_fn clock_fn;
static varve_token_fn token_fn;
static varve_progress_fn progress_fn;
static void *log_data, *clock_data, *token_data, *progress_data;

static varve_status_t work(const char *name) {
  varve_status_t status = stub_status;
  uint64_t tokens = 0;
  strcat(strcat(stub_called, name), " ");
  if (!stub_is_calling) return status;
  if (log_fn != NULL) log_fn(log_data, VARVE_LOG_WARN, "{\\"message\\":\\"x\\"}", 15);
  if (clock_fn != NULL) stub_time = clock_fn(clock_data);
  if (progress_fn != NULL && progress_fn(progress_data, "verify", UINT64_MAX, UINT64_MAX / 2 + 1))
    status = VARVE_CALLBACK;
  if (token_fn != NULL && token_fn(token_data, "two\\0words", 9, &tokens)) status = VARVE_CALLBACK;
  stub_tokens = tokens;
  return status;
}
/* Tokens: what is closed twice is closed once. */
static char is_open[1 << 20];
static uintptr_t last_token;
static void *opened(int *count) {
  if (last_token + 1 == sizeof is_open) abort();
  is_open[++last_token] = 1;
  ++*count;
  return (void *)last_token;
}
static void closed(const void *token, int *count) {
  if (token == NULL || !is_open[(uintptr_t)token]) return;
  is_open[(uintptr_t)token] = 0;
  --*count;
}
static char *copied(const char *text) { stub_texts++; return strdup(text); }
static void note(uint64_t number) { stub_numbers[stub_number_count++ %% %d] = number; }
""" % (NUMBERS_MAX, NUMBERS_MAX)

# What is not like the others.
OWN = {
    "varve_abi_version": "return VARVE_ABI_VERSION;",
    "varve_version": 'return "stub";',
    "varve_status_name": "note((uint64_t)(int64_t)status); return stub_answer;",
    "varve_free": "stub_texts -= text != NULL; free(text);",
    "varve_error_status": "(void)error; return stub_status;",
    "varve_error_message": '(void)error; return "told";',
    "varve_error_details": "(void)error; return stub_details;",
    "varve_error_free": "closed(error, &stub_errors);",
    "varve_store_set_log": "(void)store, (void)level; log_fn = fn; log_data = user_data; END",
    "varve_store_set_clock": "(void)store; clock_fn = fn; clock_data = user_data; END",
    "varve_store_set_token_counter": "(void)store; token_fn = fn; token_data = user_data; END",
    "varve_session_set_progress":
        "(void)session; progress_fn = fn; progress_data = user_data; END",
}
END = '''varve_status_t done = work("%s"); *error_out = NULL;
  if (done != VARVE_OK) *error_out = opened(&stub_errors);
  return done;'''


def _statements(function):
    """What a function does with its parameters: before the work, and when that was done."""
    before, after = [], []
    params = function["params"]
    for param, following in zip(params, params[1:] + [None]):
        name, role = param["name"], param["role"]
        if role == "in" and "*" not in param["type"] and name != "dimension":
            before.append(f"note((uint64_t){name});")
        elif role in ("handle_out", "owned_text", "borrowed_text"):
            given = {"handle_out": "opened(&stub_handles)", "owned_text": "copied(stub_answer)",
                     "borrowed_text": "stub_answer"}[role]
            before.append(f"*{name} = NULL;")
            after.append(f"*{name} = {given};")
            if role != "handle_out":
                after.append(f"*{following['name']} = strlen(stub_answer);")
        elif role == "out":
            after.append(f"*{name} = stub_out;")
        elif role not in ("owned_length", "borrowed_length", "error_out"):
            before.append(f"(void){name};")
    return before, after


def _definition(function):
    name, returns, params = function["name"], function["returns"], function["params"]
    head = ", ".join(f"{param['type']} {param['name']}" for param in params) or "void"
    if name in OWN:
        body = OWN[name].replace("END", END % name)
    elif returns == "void":
        body = f"closed({params[0]['name']}, &stub_handles);"
    elif returns == "varve_status_t":
        before, after = _statements(function)
        body = " ".join([*before, f'varve_status_t done = work("{name}");', "*error_out = NULL;",
                         "if (done != VARVE_OK) {",
                         "*error_out = opened(&stub_errors); return done; }", *after,
                         "return done;"])
    else:
        given = "stub_answer" if returns == "const char *" else "(size_t)stub_out"
        body = f'(void){params[0]["name"]}; work("{name}"); return {given};'
    return f"{returns} {name}({head}) {{ {body} }}"


class Stub:
    """The library, and what there is to tell and to ask of it."""

    def __init__(self, folder):
        source, self.path = folder / "stub.c", folder / "libstub.so"
        source.write_text(PRELUDE + "\n".join(map(_definition, FUNCTIONS)) + "\n")
        subprocess.run(["cc", "-shared", "-fPIC", "-Wall", "-Werror", f"-I{ROOT / 'include'}",
                        "-o", self.path, source], check=True)
        self.library = ctypes.CDLL(str(self.path))
        self.functions = _raw.Functions(self.library)

    def _of(self, kind, name):
        return kind.in_dll(self.library, f"stub_{name}")

    def begin(self, status=0, answer="{}", out=0, is_calling=False, details="{}"):
        """How the functions called from now on answer."""
        self._of(ctypes.c_int, "status").value = status
        self._of(ctypes.c_int, "is_calling").value = is_calling
        self._of(ctypes.c_int, "number_count").value = 0
        self._of(ctypes.c_uint64, "out").value = out
        self._of(ctypes.c_char * 4096, "answer").value = answer.encode()
        self._of(ctypes.c_char * 4096, "details").value = details.encode()
        self._of(ctypes.c_char * (1 << 16), "called").value = b""

    @property
    def left(self):
        """What was given and not got back: texts, errors, handles."""
        return tuple(self._of(ctypes.c_int, name).value for name in ("texts", "errors", "handles"))

    @property
    def numbers(self):
        """The numbers that functions were given, as uint64_t."""
        count = self._of(ctypes.c_int, "number_count").value
        return list(self._of(ctypes.c_uint64 * NUMBERS_MAX, "numbers"))[:count]

    @property
    def time(self):
        return self._of(ctypes.c_int64, "time").value

    @property
    def tokens(self):
        return self._of(ctypes.c_uint64, "tokens").value

    @property
    def called(self):
        return self._of(ctypes.c_char * (1 << 16), "called").value.decode().split()
