#!/usr/bin/env python3
"""Checks that our own objects in libvarve.a never print, exit, abort, read the environment,
install signal handlers, or use the C library's global random numbers.

  silence.py build/ci/libvarve.a
  silence.py --self-test

(The shared object cannot tell: the C++ run-time in it imports some of these.)
"""
import pathlib
import re
import subprocess
import sys
import tempfile

FORBIDDEN = re.compile(
    r"(__)?v?f?printf(_chk)?|puts|putchar|fputs|fputc|putc|perror|stdout|stderr|"
    r"_ZSt4cout|_ZSt4cerr|_ZSt4clog|"
    r"exit|_exit|_Exit|quick_exit|abort|__assert_fail|raise|"
    r"getenv|secure_getenv|setenv|putenv|unsetenv|environ|"
    r"signal|sigaction|sigprocmask|pthread_sigmask|"
    r"s?rand|rand_r|random|srandom|d?rand48|lrand48|setlocale|system|popen|fork|vfork")


def problems(archive):
    done = subprocess.run(["nm", "--undefined-only", "-A", archive],
                          capture_output=True, text=True)
    if done.returncode != 0 or not done.stdout.strip():
        return [f"{archive}: cannot be examined: {done.stderr.strip() or 'nothing undefined'}"]
    found = []
    for line in done.stdout.splitlines():
        place, _, name = line.rpartition(" ")
        if FORBIDDEN.fullmatch(name.split("@")[0]):
            found.append(f"{place.split(':')[-2]} uses {name}")
    return sorted(set(found))


def self_test():
    cases = {"int printf(const char*,...); void f(void) { printf(\"x\\n%d\", 1); }": "printf",
             "void exit(int); void f(void) { exit(1); }": "exit",
             "char *getenv(const char*); char *f(void) { return getenv(\"HOME\"); }": "getenv",
             "int snprintf(char*,unsigned long,const char*,...);"
             "void f(char *b, int n) { snprintf(b, 3, \"%d\", n); }": None}
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder)
        for source, expected in cases.items():
            (path / "x.c").write_text(source)
            subprocess.run(["cc", "-c", "-fno-builtin", str(path / "x.c"),
                            "-o", str(path / "x.o")], check=True)
            subprocess.run(["ar", "rcs", str(path / "x.a"), str(path / "x.o")], check=True)
            wanted = [f"x.o uses {expected}"] if expected else []
            found = problems(str(path / "x.a"))
            if found != wanted:
                return f"for {source!r}: expected {wanted}, found {found}"
        if not problems(str(path / "missing.a")):
            return "a missing archive passed"
    return None


def main():
    if sys.argv[1:] == ["--self-test"]:
        failure = self_test()
        print(failure or "ok")
        return 1 if failure else 0
    found = problems(sys.argv[1])
    print("\n".join(found) if found else "ok")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
