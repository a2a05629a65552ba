"""As much of the C ABI as the documentation's examples need, through ctypes."""

import ctypes
import json

_NUL_TERMINATED = ctypes.c_size_t(-1).value
_TOKEN_COUNTER = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t,
                                  ctypes.POINTER(ctypes.c_uint64))


class Failure(Exception):
    def __init__(self, function, name, message, details):
        super().__init__(f"{function}: {name}: {message} {details}")
        self.name = name
        self.details = details


class Library:
    """`now_ms` is the time that every store of this library tells."""

    def __init__(self, path):
        self._lib = ctypes.CDLL(path)
        self.now_ms = 0
        self._clock_type = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)
        self._clock = self._clock_type(lambda _: self.now_ms)
        for name in ("varve_status_name", "varve_error_message", "varve_error_details",
                     "varve_version"):
            getattr(self._lib, name).restype = ctypes.c_char_p

    def call(self, name, *arguments):
        """Calls a fallible function; the trailing error is added here."""
        error = ctypes.c_void_p()
        status = getattr(self._lib, name)(*arguments, ctypes.byref(error))
        if status == 0:
            return
        message = self._lib.varve_error_message(error).decode()
        details = json.loads(self._lib.varve_error_details(error))
        self._lib.varve_error_free(error)
        raise Failure(name, self._lib.varve_status_name(status).decode(), message, details)

    def text(self, name, *arguments):
        """The text that a function gives, which it allocates."""
        out, length = ctypes.c_void_p(), ctypes.c_size_t()
        self.call(name, *arguments, ctypes.byref(out), ctypes.byref(length))
        value = ctypes.string_at(out, length.value).decode("utf-8")
        self._lib.varve_free(out)
        return value

    def open_store(self, uri, config=None):
        store = ctypes.c_void_p()
        self.call("varve_store_open", *given(str(uri)), *given(config), ctypes.byref(store))
        self.call("varve_store_set_clock", store, self._clock, None)
        return Store(self, store)

    def open_window(self, capacity):
        window = ctypes.c_void_p()
        self.call("varve_window_new", ctypes.c_size_t(capacity), ctypes.byref(window))
        return Window(self, window)


def given(value):
    """Text in: pointer and length. Anything but text goes as JSON."""
    if value is None:
        return None, 0
    if not isinstance(value, str):
        value = json.dumps(value, ensure_ascii=False)
    return value.encode("utf-8"), ctypes.c_size_t(_NUL_TERMINATED)


def answer_of(library, function, handle, query):
    results = ctypes.c_void_p()
    library.call(function, handle, *given(query), ctypes.byref(results))
    out, length = ctypes.c_void_p(), ctypes.c_size_t()
    library.call("varve_results_json", results, ctypes.byref(out), ctypes.byref(length))
    answer = json.loads(ctypes.string_at(out, length.value))
    library._lib.varve_results_free(results)
    return answer


class Store:
    def __init__(self, library, handle):
        self._library, self._handle = library, handle

    def create(self, **options):
        return self._session("varve_session_create", options)

    def open(self, session_id):
        return self._session("varve_session_open", session_id)

    def _session(self, function, argument):
        handle = ctypes.c_void_p()
        self._library.call(function, self._handle, *given(argument), ctypes.byref(handle))
        return Session(self._library, handle)

    def open_memory(self, options):
        handle = ctypes.c_void_p()
        self._library.call("varve_memory_open", self._handle, *given(options),
                           ctypes.byref(handle))
        return Memory(self._library, handle)

    def set_token_counter(self, count):
        """count: from bytes to a number; None for the estimate."""
        def tell(_, text, length, tokens_out):
            tokens_out[0] = count(ctypes.string_at(text, length))
            return 0
        self._counter = _TOKEN_COUNTER(tell) if count else None
        self._library.call("varve_store_set_token_counter", self._handle, self._counter, None)

    def query(self, query):
        return answer_of(self._library, "varve_store_query", self._handle, query)

    def close(self):
        self._library._lib.varve_store_close(self._handle)


class Session:
    def __init__(self, library, handle):
        self._library, self._handle = library, handle

    def add(self, entry):
        return self._library.text("varve_session_add", self._handle, *given(entry))

    def add_batch(self, entries):
        return self._library.text("varve_session_add_batch", self._handle, *given(entries))

    def put_vector(self, entry_id, values):
        numbers = (ctypes.c_float * len(values))(*values)
        self._library.call("varve_session_put_vector", self._handle, *given(entry_id), numbers,
                           ctypes.c_uint32(len(values)))

    def get(self, entry_id):
        return self._library.text("varve_session_get", self._handle, *given(entry_id))

    def delete(self, entry_id, reason):
        self._library.call("varve_session_delete", self._handle, *given(entry_id), *given(reason))

    def compact(self):
        return json.loads(self._library.text("varve_session_compact", self._handle, *given(None)))

    def kv_set(self, key, value):
        self._library.call("varve_kv_set", self._handle, *given(key), *given(value))

    def say(self, role, content):
        self._library.call("varve_transcript_append", self._handle, *given(role), *given(content))

    def query(self, query):
        return answer_of(self._library, "varve_session_query", self._handle, query)

    def context(self, request):
        return json.loads(self._library.text("varve_context_build", self._handle, *given(request)))

    def record(self, kind, payload):
        return self._library.text("varve_context_record", self._handle, *given(kind),
                                  *given(payload))

    def export(self, form):
        return self._library.text("varve_session_export", self._handle, *given(form))

    def import_text(self, text):
        return json.loads(self._library.text("varve_session_import", self._handle, *given(text)))

    def stats(self):
        return json.loads(self._library.text("varve_session_stats", self._handle))

    def verify(self):
        return json.loads(self._library.text("varve_session_verify", self._handle, *given(None)))

    def repair(self):
        return json.loads(self._library.text("varve_session_repair", self._handle, *given(None)))

    def close(self):
        self._library._lib.varve_session_close(self._handle)


class Memory:
    def __init__(self, library, handle):
        self._library, self._handle = library, handle

    def record(self, session_id, message):
        return self._library.text("varve_memory_record", self._handle, *given(session_id),
                                  *given(message))

    def store(self, message):
        return self._library.text("varve_memory_store", self._handle, *given(message))

    def context(self, session_id, max_tokens=0):
        return json.loads(self._library.text("varve_memory_context", self._handle,
                                             *given(session_id), ctypes.c_uint64(max_tokens)))

    def search(self, query):
        return answer_of(self._library, "varve_memory_search", self._handle, query)

    def load(self, session_id):
        self._library.call("varve_memory_load", self._handle, *given(session_id))

    def delete(self, entry_id, reason):
        self._library.call("varve_memory_delete", self._handle, *given(entry_id), *given(reason))

    def clear(self):
        self._library.call("varve_memory_clear", self._handle)

    def close(self):
        self._library._lib.varve_memory_close(self._handle)


class Window:
    def __init__(self, library, handle):
        self._library, self._handle = library, handle
        library._lib.varve_window_size.restype = ctypes.c_size_t

    def add(self, message):
        self._library.call("varve_window_add", self._handle, *given(message))

    def recent(self, most=_NUL_TERMINATED):
        return json.loads(self._library.text("varve_window_recent", self._handle,
                                             ctypes.c_size_t(most)))

    def text(self):
        return self._library.text("varve_window_text", self._handle)

    def size(self):
        return self._library._lib.varve_window_size(self._handle)

    def clear(self):
        self._library.call("varve_window_clear", self._handle)

    def close(self):
        self._library._lib.varve_window_free(self._handle)
