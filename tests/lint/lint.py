#!/usr/bin/env python3
"""Checks the tree: layers, sizes, columns, words, formatting.

  lint.py rules        what tests/lint/rules.py says
  lint.py format       clang-format-14 over src include tests bench examples; --fix rewrites

Exits 0 when clean, 1 with one line per problem, 77 when a tool is missing and CI is not set.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import rules  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FORMATTED = ("src", "include", "tests", "bench", "examples")
SKIPPED_FOLDERS = {".git", "build", "__pycache__", "golden", "corpus", "node_modules", "target"}
NOT_RUN = 77


def files(root):
    """Every file of the tree; with git, those it knows or would add."""
    listed = subprocess.run(
        ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        capture_output=True)
    if listed.returncode == 0 and (root / ".git").exists():
        names = listed.stdout.decode().rstrip("\0").split("\0")
        paths = [root / name for name in sorted(set(names))]
    else:
        paths = sorted(root.rglob("*"))
    for path in paths:
        inside = path.relative_to(root)
        if not SKIPPED_FOLDERS & set(inside.parts[:-1]) and path.is_file():
            yield inside.as_posix(), path


def check_rules(root):
    found, count = [], 0
    for name, path in files(root):
        try:
            text = path.read_text()
        except UnicodeDecodeError:
            continue  # data
        if name == "LICENSE" or not rules.rules_for(name, text):
            continue
        count += 1
        found += rules.problems(name, text)
    if count == 0:
        found.append(f"{root}: no file to check")
    return found, f"{count} files"


def missing_tool(name):
    print(f"{name} is not installed: not run")
    return 1 if os.environ.get("CI") else NOT_RUN


def check_format(root, fix):
    """The problems of clang-format, none when it may rewrite."""
    paths = [str(path) for name, path in files(root)
             if name.split("/")[0] in FORMATTED and name.endswith(rules.CXX_ENDINGS)]
    if not paths:
        return [f"{root}: no file to check"], ""
    action = ["-i"] if fix else ["--dry-run", "-Werror"]
    done = subprocess.run(["clang-format-14", *action, *paths], capture_output=True, text=True)
    places = {}  # file: lines, one problem for each file
    for line in done.stderr.splitlines():
        match = re.match(r"(.*?):(\d+):\d+: error: ", line)
        if match:
            places.setdefault(match[1].replace(f"{root}/", ""), []).append(int(match[2]))
    found = [f"{name}:{min(lines)}: not formatted ({len(lines)} places); tests/lint/lint.py format"
             " --fix" for name, lines in places.items()]
    if done.returncode != 0 and not found:
        found = [done.stderr.strip() or f"clang-format-14 exited with {done.returncode}"]
    return found, f"{len(paths)} files"


def main():
    arguments = sys.argv[1:]
    if arguments == ["rules"]:
        found, summary = check_rules(ROOT)
    elif arguments in (["format"], ["format", "--fix"]):
        if not shutil.which("clang-format-14"):
            return missing_tool("clang-format-14")
        found, summary = check_format(ROOT, "--fix" in arguments)
    else:
        print(__doc__, file=sys.stderr)
        return 2
    for problem in found:
        print(problem)
    print(f"{summary}, {len(found)} problems")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
