#!/usr/bin/env python3
"""Each public header compiles alone and twice in a row, as strict C and C++, by gcc and clang."""
import os
import pathlib
import shutil
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
INCLUDE = ROOT / "include"
HEADERS = sorted(path.relative_to(INCLUDE) for path in (INCLUDE / "varve").iterdir())
STRICT = ["-pedantic-errors", "-Wall", "-Wextra", "-Wshadow", "-Wundef", "-Werror",
          f"-I{INCLUDE}"]
C_DIALECTS = [["-xc", "-std=c99", "-Wstrict-prototypes", "-Wc++-compat"], ["-xc", "-std=c17"]]
CXX_DIALECTS = [["-xc++", "-std=c++11", "-Wold-style-cast"], ["-xc++", "-std=c++20"]]


def compilers():
    """gcc always; clang when there is one."""
    found = ["gcc"]
    clang = shutil.which("clang-14") or shutil.which("clang")
    return found + [clang] if clang else found


def complaint(compiler, dialect, source):
    flags = [flag for flag in dialect if flag != "-Wc++-compat" or "clang" not in compiler]
    # Compiled, not only parsed: gcc notices a dropped result no earlier.
    done = subprocess.run([compiler, *flags, *STRICT, "-c", "-o", os.devnull, "-"], input=source,
                          capture_output=True, text=True)
    return done.stderr if done.returncode != 0 else ""


def umbrella_example():
    """The program in the comment of varve.h, with a main around it."""
    comment = (INCLUDE / "varve/varve.h").read_text().split("*/")[0]
    lines = [line[5:] for line in comment.splitlines() if line.startswith(" *   ")]
    first = next(i for i, line in enumerate(lines) if line.startswith("varve_store_t *"))
    return "\n".join(["#include <stdio.h>", "#include <varve/varve.h>", "int main(void) {",
                      *lines[first:], "return 0;", "}", ""])


class Headers(unittest.TestCase):
    def test_there_are_headers(self):
        self.assertIn("base.h", [path.name for path in HEADERS])

    def test_each_compiles_alone(self):
        for header in HEADERS:
            dialects = CXX_DIALECTS[1:] if header.suffix == ".hpp" else C_DIALECTS + CXX_DIALECTS
            source = f"#include <{header}>\n#include <{header}>\nextern int not_empty;\n"
            for compiler in compilers():
                for dialect in dialects:
                    with self.subTest(header=str(header), compiler=compiler, dialect=dialect):
                        self.assertEqual(complaint(compiler, dialect, source), "")

    def test_umbrella_includes_every_header(self):
        umbrella = (INCLUDE / "varve/varve.h").read_text()
        for header in HEADERS:
            if header.suffix == ".h" and header.name != "varve.h":
                self.assertIn(f'#include "{header}"', umbrella)

    def test_the_example_of_the_umbrella_compiles_without_a_warning(self):
        for compiler in compilers():
            for dialect in C_DIALECTS + CXX_DIALECTS:
                with self.subTest(compiler=compiler, dialect=dialect):
                    self.assertEqual(complaint(compiler, dialect, umbrella_example()), "")

    def test_a_bad_header_is_noticed(self):
        self.assertNotEqual(complaint("gcc", C_DIALECTS[0], "bool f(int &x);\n"), "")
        self.assertNotEqual(complaint("gcc", C_DIALECTS[0], "int f();\n"), "")
        self.assertNotEqual(complaint("gcc", CXX_DIALECTS[0], "int f(int class);\n"), "")


if __name__ == "__main__":
    unittest.main()
