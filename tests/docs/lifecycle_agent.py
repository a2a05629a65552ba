#!/usr/bin/env python3
"""A process that uses stores and sessions, which it knows by name. Started as a program, it makes
the calls that it reads, one JSON array a line, and answers each with a line."""
import ctypes
import json
import os
import subprocess
import sys

from varve_library import Failure, Library, answer_of, given

_LOG = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int32, ctypes.c_void_p, ctypes.c_size_t)
_LOG_WARN = 2


class Agent:
    def __init__(self):
        self._library = Library(os.environ["VARVE_LIBRARY"])
        self._handles = {}
        self._logs = {}  # by store: (function, lines)

    def call(self, now_ms, method, *arguments):
        """The status, "OK" for example, and the answer."""
        self._library.now_ms = now_ms
        try:
            return "OK", getattr(self, method)(*arguments)
        except Failure as failure:
            return failure.name.removeprefix("VARVE_"), str(failure)

    def open_store(self, name, path, config):
        self._handles[name] = self._library.open_store(path, config)._handle

    def keep_log(self, name):
        """Keeps its warnings and errors for log_lines."""
        lines = []
        tell = _LOG(lambda _, __, text, length: lines.append(
            json.loads(ctypes.string_at(text, length))))
        self._library.call("varve_store_set_log", self._handles[name],
                           ctypes.c_int32(_LOG_WARN), tell, None)
        self._logs[name] = tell, lines

    def log_lines(self, name):
        """Those since the last call."""
        lines = self._logs[name][1]
        taken = lines[:]
        lines.clear()
        return taken

    def close_store(self, name):
        self._library._lib.varve_store_close(self._handles[name])

    def open_session(self, function, store, name, argument):
        handle = ctypes.c_void_p()
        self._library.call(function, self._handles[store], *given(argument), ctypes.byref(handle))
        self._handles[name] = handle

    def close_session(self, name):
        self._library._lib.varve_session_close(self._handles.pop(name))

    def text(self, function, name, *texts):
        arguments = [part for text in texts for part in given(text)]
        return self._library.text(function, self._handles[name], *arguments)

    def nothing(self, function, name, *texts):
        arguments = [part for text in texts for part in given(text)]
        self._library.call(function, self._handles[name], *arguments)

    def count(self, function, name, *texts):
        arguments = [part for text in texts for part in given(text)]
        found = ctypes.c_uint64()
        self._library.call(function, self._handles[name], *arguments, ctypes.byref(found))
        return found.value

    def put_vector(self, name, entry_id, values):
        numbers = (ctypes.c_float * len(values))(*values)
        self._library.call("varve_session_put_vector", self._handles[name], *given(entry_id),
                           numbers, ctypes.c_uint32(len(values)))

    def query(self, function, name, query):
        return answer_of(self._library, function, self._handles[name], query)

    def last_turns(self, name, count):
        return self._library.text("varve_transcript_last", self._handles[name],
                                  ctypes.c_size_t(count))

    def end(self):
        pass


class OtherProcess:
    """An agent in a process of its own."""

    def __init__(self):
        self._process = subprocess.Popen([sys.executable, "-B", __file__], text=True,
                                         stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def call(self, *call):
        self._process.stdin.write(json.dumps(call) + "\n")
        self._process.stdin.flush()
        return tuple(json.loads(self._process.stdout.readline()))

    def end(self):
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait()


def main():
    agent = Agent()
    for line in sys.stdin:
        print(json.dumps(agent.call(*json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
