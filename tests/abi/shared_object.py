#!/usr/bin/env python3
"""Checks that a shared object is fit to be loaded by any host: Node, Go, Rust, Python.

  shared_object.py --soname libvarve.so.1 --exports bindings/generate build/ci/libvarve.so

Prints one line per broken rule and exits 1; exits 2 when the library cannot be examined.
"""
import argparse
import re
import subprocess
import sys

NEEDED_ALLOWED = re.compile(r"(libc|libm|libpthread|libdl|librt)\.so\.\d+|ld-linux[\w-]*\.so\.\d+")
# A host has its own copy of these libraries: importing one means binding to the host's.
HOST_PREFIXES = re.compile(
    r"(EVP|SSL|CRYPTO|OPENSSL|OSSL|BIO|X509|ERR|RAND|SHA\d*|BN|deflate|inflate|ZSTD|LZ4|sqlite3|"
    r"utf8proc|sb_stemmer|XXH\w*|simdjson|uv|napi)_?")
WEAK_IMPORTS_ALLOWED = {
    "__cxa_finalize", "__gmon_start__", "_ITM_deregisterTMCloneTable",
    "_ITM_registerTMCloneTable"}


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        print(f"{' '.join(command)}: {done.stderr.strip()}", file=sys.stderr)
        sys.exit(2)
    return done.stdout


def exported(library):
    """(name, nm letter) of each defined dynamic symbol, without the version nodes themselves."""
    for line in run("nm", "-D", "--defined-only", library).splitlines():
        _, letter, name = line.split()
        if letter != "A":
            yield name.split("@")[0], letter


def imported(library):
    """(name, version, nm letter) of each undefined dynamic symbol."""
    for line in run("nm", "-D", "--undefined-only", library).splitlines():
        letter, name = line.split()
        plain, _, version = name.partition("@")
        yield plain, version.lstrip("@"), letter


def export_problems(library, wanted):
    symbols = list(exported(library))
    names = {name for name, _ in symbols}
    for name in sorted(names - wanted):
        yield f"exports {name}, which no public header declares"
    for name in sorted(wanted - names):
        yield f"does not export {name}, which a public header declares"
    for name, letter in symbols:
        if letter in "uWVwv":
            kind = "unique" if letter == "u" else "weak"
            yield f"exports {name} as a {kind} symbol: another library can take its place"


def import_problems(library):
    for name, version, letter in imported(library):
        if HOST_PREFIXES.match(name):
            yield f"imports {name}: it would bind to a copy of the host's"
        elif not version.startswith("GLIBC_") and name not in WEAK_IMPORTS_ALLOWED:
            yield f"imports {name} ({letter}), which is not of the C library"


def dynamic_problems(library, soname):
    dynamic = run("readelf", "-dW", library)
    segments = run("readelf", "-lW", library)
    flags = set(re.findall(r"\w+", " ".join(re.findall(r"\((?:FLAGS|FLAGS_1)\)(.*)", dynamic))))
    found = re.findall(r"\(SONAME\).*\[(.*)\]", dynamic)
    if found != [soname]:
        yield f"has the soname {found}, not {soname}"
    if "STATIC_TLS" in flags:
        yield "STATIC_TLS: dlopen fails in a process that has used up its static TLS space"
    if "TEXTREL" in flags or "(TEXTREL)" in dynamic:
        yield "TEXTREL: code would be written to at load time"
    for tag in ("RPATH", "RUNPATH"):
        if f"({tag})" in dynamic:
            yield f"{tag}: it would look for libraries where it was built"
    if "NODELETE" not in flags:
        yield "NODELETE is missing: dlclose would unmap code that exit handlers still call"
    if not {"BIND_NOW", "NOW"} & flags:
        yield "BIND_NOW is missing"
    if "GNU_RELRO" not in segments:
        yield "RELRO is missing"
    if not re.search(r"GNU_STACK.*\sRW\s", segments):
        yield "the stack would be executable"
    for name in re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic):
        if not NEEDED_ALLOWED.fullmatch(name):
            yield f"needs {name}: only the C library may be needed at run time"


def problems(library, soname, wanted):
    if not wanted:
        return ["the list of wanted exports is empty: nothing can be checked"]
    return [*export_problems(library, wanted), *import_problems(library),
            *dynamic_problems(library, soname)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--soname", required=True)
    parser.add_argument("--exports", required=True, help="program that prints them with --list")
    parser.add_argument("library")
    arguments = parser.parse_args()
    wanted = set(run(sys.executable, "-B", arguments.exports, "--list").split())
    found = problems(arguments.library, arguments.soname, wanted)
    for problem in found:
        print(f"{arguments.library} {problem}")
    print(f"{len(wanted)} exports wanted, {len(found)} problems")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
