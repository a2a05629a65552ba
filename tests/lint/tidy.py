#!/usr/bin/env python3
"""Runs clang-tidy-14 over src/**/*.cpp, in parallel, with the checks of .clang-tidy. Where the
build compiles several of them as one file, so does this: it takes a fifth of the time.

  tidy.py <build folder with compile_commands.json> [path part...]

A file is checked again only when it, a header of ours that it includes, the checks or its
compile command changed; what passed is remembered in <build>/tidy. Exits as lint.py does.
"""
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TOOL = "clang-tidy-14"
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.M)
NOT_RUN = 77


def own_includes(path, root, seen):
    """The file and every file of src/ and include/ that it reaches."""
    if path in seen:
        return seen
    seen.add(path)
    for name in INCLUDE.findall(path.read_text()):
        for folder in ("src", "include"):
            included = root / folder / name  # a batch names its sources by their whole path
            if included.is_file() and included.is_relative_to(root / folder):
                own_includes(included, root, seen)
    return seen


def fingerprint(path, command, root):
    digest = hashlib.sha256((root / ".clang-tidy").read_bytes() + command.encode())
    for part in sorted(own_includes(path, root, set())):
        digest.update(str(part).encode() + part.read_bytes())
    return digest.hexdigest()


def check(path, build):
    """The tool's complaints about one file, '' when it is clean."""
    done = subprocess.run(
        [TOOL, "-p", str(build), "--quiet", "--warnings-as-errors=*",
         "--extra-arg=-Wno-unknown-warning-option", "--extra-arg=-Wno-error", str(path)],
        capture_output=True, text=True)
    if done.returncode == 0:
        return ""
    return done.stdout.strip() or done.stderr.strip() or f"exit code {done.returncode}"


def sources_in(path, root):
    """The files of src/ that a compiled file stands for: itself, or those of its batch."""
    if path.is_relative_to(root / "src"):
        return [path] if path.suffix == ".cpp" else []
    if not path.is_file() or path.parent.name != "Unity":
        return []
    return [one for one in map(pathlib.Path, INCLUDE.findall(path.read_text()))
            if one.is_relative_to(root / "src")]


def sources(build, root, parts):
    """(path, command) of what is compiled of ours, the big ones first."""
    entries = json.loads((build / "compile_commands.json").read_text())
    chosen = []
    for path, command in {pathlib.Path(one["file"]): one["command"] for one in entries}.items():
        ours = sources_in(path, root)
        if any(not parts or any(part in str(one) for part in parts) for one in ours):
            chosen.append((sum(one.stat().st_size for one in ours), path, command))
    return [(path, command) for _, path, command in sorted(chosen, reverse=True)]


def run(build, root, parts):
    cache = build / "tidy"
    cache.mkdir(exist_ok=True)
    chosen = sources(build, root, parts)
    pending = {}
    for path, command in chosen:
        mark = cache / fingerprint(path, command, root)
        if not mark.exists():
            pending[path] = mark
    failures = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        jobs = {pool.submit(check, path, build): path for path in pending}
        for job in concurrent.futures.as_completed(jobs):
            path = jobs[job]
            if job.result():
                failures += 1
                print(f"--- {path}\n{job.result()}".replace(f"{root}/", ""))
            else:
                pending[path].touch()
    print(f"{len(chosen)} files, {len(pending)} checked now, {failures} with problems")
    return 1 if failures or not chosen else 0


def main():
    if len(sys.argv) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    if not shutil.which(TOOL):
        print(f"{TOOL} is not installed: not run")
        return 1 if os.environ.get("CI") else NOT_RUN
    return run(pathlib.Path(sys.argv[1]).resolve(), ROOT, sys.argv[2:])


if __name__ == "__main__":
    sys.exit(main())
