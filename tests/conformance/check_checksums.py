#!/usr/bin/env python3
"""Checks every checksum of a memory.jsonl or tombstones.jsonl; needs Python only, not varve.

    check_checksums.py FILE...

A line's checksum is "sha256:" and the SHA-256 of the canonical line without its member `checksum`.
Prints one line a file; the exit code is 1 when a line is wrong. What varve accepts but does not
write is counted apart: lines without a checksum, and lines that are not in canonical form.
"""

import dataclasses
import hashlib
import sys

from canonical_json import canonical, parse


def check_line(line):
    """None when the line carries no checksum, else whether it is right. ValueError: not JSON."""
    members = parse(line)
    if not isinstance(members, dict):
        raise ValueError("the line is not a JSON object")
    checksum = members.pop("checksum", None)
    if checksum is None:
        return None
    digest = hashlib.sha256(canonical(members).encode("utf-8")).hexdigest()
    return checksum == "sha256:" + digest


def is_canonical(line):
    return canonical(parse(line)).encode("utf-8") == line


@dataclasses.dataclass
class Findings:
    right: int = 0
    without: int = 0
    not_canonical: int = 0
    problems: list = dataclasses.field(default_factory=list)  # (line number, text)

    @property
    def clean(self):
        """Whether every line is as varve writes it."""
        return not (self.problems or self.without or self.not_canonical)

    def __str__(self):
        text = f"{self.right} checksums right, {len(self.problems)} wrong"
        if self.without:
            text += f", {self.without} lines without one"
        if self.not_canonical:
            text += f", {self.not_canonical} lines not in canonical form"
        return text


def check_file(path):
    findings = Findings()
    with open(path, "rb") as file:
        for number, line in enumerate(file, 1):
            line = line.rstrip(b"\r\n")
            if not line.strip():
                continue
            try:
                answer = check_line(line)
                findings.not_canonical += not is_canonical(line)
            except ValueError as error:
                findings.problems.append((number, str(error)))
                continue
            if answer is None:
                findings.without += 1
            elif answer:
                findings.right += 1
            else:
                findings.problems.append((number, "the checksum is not that of the line"))
    return findings


def main(paths):
    if not paths:
        sys.exit(__doc__)
    clean = True
    for path in paths:
        findings = check_file(path)
        for number, text in findings.problems[:20]:
            print(f"{path}:{number}: {text}")
        clean = clean and not findings.problems
        print(f"{path}: {findings}")
    return 0 if clean else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
