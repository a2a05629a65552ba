#!/usr/bin/env python3
"""The documentation names what exists, and its examples work.

    VARVE_CLI=varve VARVE_LIBRARY=libvarve.so docs_test.py             checks
    VARVE_CLI=varve VARVE_LIBRARY=libvarve.so docs_test.py --update    renews the shown output
"""

import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import unittest

import markdown

SOURCE = pathlib.Path(__file__).resolve().parents[2]
TIMEOUT_S = 60
# What a C block without main() may use.
SNIPPET_PARAMETERS = ("varve_store_t *store, varve_session_t *session, const char *entry, "
                      "const char *id")
SHELL_LANGUAGES = ("sh", "console", "bash")
NEEDED_PAGES = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "docs/format.md",
                "docs/architecture.md", "docs/decisions.md", "docs/errors.md")
PAGES_WITH_TESTS = ("docs/reliability.md", "docs/security.md")


def pages():
    """{path: text} of every Markdown page of the repository."""
    found = [path for folder in ("docs", "examples", "bench", "bindings", "tests")
             for path in sorted((SOURCE / folder).rglob("*.md"))
             if not {"node_modules", "corpus"} & set(path.parts)]
    found += sorted(SOURCE.glob("*.md"))
    return {path: path.read_text(encoding="utf-8") for path in found}


def name_of(path):
    return str(path.relative_to(SOURCE))


def run(words, **options):
    """(exit code, both outputs)"""
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          timeout=TIMEOUT_S, check=False, **options)
    return done.returncode, done.stdout.decode("utf-8")


def clean_environment(**changes):
    kept = {k: v for k, v in os.environ.items() if not k.startswith("VARVE_")}
    program = pathlib.Path(os.environ["VARVE_CLI"]).resolve()
    return {**kept, "PATH": f"{program.parent}:{kept['PATH']}", "LC_ALL": "C.UTF-8", **changes}


def shell_lines(text):
    """Commands of a page's shell blocks; a block with `$` has its output in it."""
    for block in markdown.blocks(text):
        if block.language not in SHELL_LANGUAGES:
            continue
        prompted = "\n$ " in "\n" + block.text
        for line in block.text.splitlines():
            if line.startswith("$ "):
                yield line[2:]
            elif not prompted and line.strip():
                yield line


def run_console(block):
    """The text of a console block with the output that its commands really have."""
    result = []
    with tempfile.TemporaryDirectory(prefix="varve-docs-") as directory:
        for line in block.splitlines():
            if line.startswith("$ "):
                _, output = run(["sh", "-c", line[2:]], cwd=directory, env=clean_environment())
                result += [line, *output.splitlines()]
    return "\n".join(result) + "\n"


def help_of(*command):
    return run([os.environ["VARVE_CLI"], *command, "--help"], env=clean_environment())[1]


class Pages(unittest.TestCase):
    def setUp(self):
        self.pages = pages()

    def test_needed_pages_are_there(self):
        found = {name_of(path) for path in self.pages}
        self.assertEqual(set(NEEDED_PAGES) - found, set())

    def test_links_resolve(self):
        checked = 0
        for path, text in self.pages.items():
            for target in markdown.links(text):
                if re.match(r"[a-z]+:", target):
                    continue
                checked += 1
                file, _, fragment = target.partition("#")
                other = (path.parent / file).resolve() if file else path
                with self.subTest(page=name_of(path), target=target):
                    self.assertTrue(other.exists(), "there is no such file")
                    if fragment:
                        self.assertIn(fragment, markdown.anchors(other.read_text("utf-8")))
        self.assertGreater(checked, 15)

    def test_pages_named_in_the_code_exist(self):
        """`docs/format.md#recovery` in a comment."""
        pattern = re.compile(r"\bdocs/(?:man/)?[a-z_-]+\.(?:md|1)(?:#[\w.-]*\w)?")
        files = [path for folder in ("src", "include", "tests", "bench", "scripts", "cmake")
                 for path in sorted((SOURCE / folder).rglob("*"))
                 if path.is_file() and "lint" not in path.parts
                 and path.suffix in (".h", ".hpp", ".c", ".cpp", ".py", ".cmake", "")]
        checked = 0
        for path in files:
            for target in pattern.findall(path.read_text("utf-8", "replace")):
                checked += 1
                file, _, fragment = target.partition("#")
                with self.subTest(file=name_of(path), target=target):
                    self.assertTrue((SOURCE / file).exists())
                    if fragment:
                        text = (SOURCE / file).read_text("utf-8")
                        self.assertIn(fragment, markdown.anchors(text))
        self.assertGreater(checked, 10)

    def test_tests_named_in_the_pages_exist(self):
        """`Suite.Test` and `tests/folder/file.cpp`."""
        sources = [path.read_text("utf-8") for path in (SOURCE / "tests").rglob("*_test.cpp")]
        known = {".".join(pair) for text in sources for pair in re.findall(
            r"^TEST(?:_[FP])?\((\w+),\s*(\w+)\)", text, re.MULTILINE)}
        named = 0
        for name in PAGES_WITH_TESTS:
            text = (SOURCE / name).read_text("utf-8")
            for test in re.findall(r"`([A-Z]\w+\.[A-Z]\w+)`", text):
                named += 1
                self.assertIn(test, known, name)
            for file in re.findall(r"`(tests/[\w/]+\.(?:cpp|py))`", text):
                named += 1
                self.assertTrue((SOURCE / file).is_file(), f"{name}: {file}")
        self.assertGreater(named, 50)

    def test_every_decision_is_in_the_table_once(self):
        text = (SOURCE / "docs/decisions.md").read_text(encoding="utf-8")
        head, _, rest = text.partition("\n## ")
        listed = [int(number) for row in re.findall(r"\|([ \d,]+)\|$", head, re.MULTILINE)
                  for number in row.split(",")]
        decided = [int(number) for number in re.findall(r"^(?:## )?(\d+)\. ", rest, re.MULTILINE)]
        self.assertGreater(len(decided), 80)
        self.assertEqual(sorted(listed), decided)

    def test_every_preset_is_named(self):
        presets = json.loads((SOURCE / "CMakePresets.json").read_text("utf-8"))["configurePresets"]
        named = re.search(r"The presets are `([a-z0-9 ]+)`", self.pages[SOURCE / "CONTRIBUTING.md"])
        self.assertEqual(sorted(named.group(1).split()), sorted(
            preset["name"] for preset in presets if not preset.get("hidden")))

    def test_tables_have_as_many_cells_as_their_heads(self):
        for path, text in self.pages.items():
            plain = re.sub(r"`[^`\n]*`", "", re.sub(r"^```.*?^```$", "", text,
                                                    flags=re.MULTILINE | re.DOTALL))
            for table in re.findall(r"(?:^\|.*\n)+", plain, re.MULTILINE):
                counts = {row.replace("\\|", "").count("|") for row in table.splitlines()}
                self.assertEqual(len(counts), 1, f"{name_of(path)}: {table[:200]}")


class Figures(unittest.TestCase):
    """The README shows a few rows of the benchmarks' table; they are those of the last run."""

    def rows(self, text):
        """{first cell: {head of the column: cell}} of the first table of a text."""
        table = re.search(r"(?:^\|.*\n)+", text, re.MULTILINE).group()
        head, _, *rest = [[cell.strip() for cell in row.strip("|").split("|")]
                          for row in table.splitlines()]
        return {row[0]: dict(zip(head[1:], row[1:])) for row in rest}

    def test_readme_shows_those_of_the_last_run(self):
        readme = (SOURCE / "README.md").read_text("utf-8")
        bench = (SOURCE / "bench/README.md").read_text("utf-8")
        measured = self.rows(bench.partition("\n## Last run\n")[2])
        shown = self.rows(readme.partition("**What does it cost?**")[2])
        self.assertGreater(len(shown), 3)
        for name, figures in shown.items():
            for engine, figure in figures.items():
                self.assertEqual(figure, measured[name][engine], f"{name}: {engine}")


class LogLines(unittest.TestCase):
    def test_each_message_is_on_the_page_of_operations(self):
        page = (SOURCE / "docs/operations.md").read_text("utf-8")
        # Whatever text is given with a level, in any folder: one of both, or with more behind it.
        call = re.compile(r"Level::k(?:Debug|Info|Warn|Error)\b[^;]*;")
        messages = set()
        for path in (SOURCE / "src").rglob("*.cpp"):
            text = re.sub(r'"\s*\n\s*"', "", path.read_text("utf-8"))
            for given in call.findall(text):
                messages.update(re.findall(r'"([^"]{8,}?)(?:: )?"', given))
        self.assertGreater(len(messages), 30)
        self.assertEqual([message for message in sorted(messages) if message not in page], [])


class Commands(unittest.TestCase):
    def test_commands_and_options_exist(self):
        checked = 0
        for path, text in pages().items():
            for line in shell_lines(text):
                for piece in re.split(r"\s*(?:\||&&|;)\s*", line):
                    # sed etc. may hold an unbalanced quote after the split; those are not ours.
                    if piece.startswith(("varve ", "scripts/")):
                        with self.subTest(page=name_of(path), line=line):
                            self.check(shlex.split(piece, comments=True))
                            checked += 1
        self.assertGreater(checked, 8)

    def check(self, words):
        options = {word.split("=")[0] for word in words[1:] if re.match(r"-{1,2}[a-zA-Z]", word)}
        if words[0].startswith("scripts/"):
            script = SOURCE / words[0]
            self.assertTrue(os.access(script, os.X_OK))
            known = script.read_text("utf-8")
        else:
            command = next((w for w in words[1:] if re.fullmatch(r"[a-z]+", w)), None)
            rows = re.findall(r"^    ([a-z]+(?:, [a-z]+)*) {2,}", help_of(), re.MULTILINE)
            listed = [name for row in rows for name in row.split(", ")]
            if command is not None:
                self.assertIn(command, listed)
            known = help_of() + (help_of(command) if command else "")
        for option in options:
            self.assertRegex(known, rf"(?<![\w-]){re.escape(option)}(?![\w-])")

    def test_shown_output_is_what_is_printed(self):
        checked = 0
        for path, text in pages().items():
            for block in markdown.blocks(text):
                if block.language == "console":
                    checked += 1
                    with self.subTest(page=name_of(path), line=block.line):
                        self.assertEqual(block.text, run_console(block.text))
        self.assertGreaterEqual(checked, 1)


class CExamples(unittest.TestCase):
    def test_readme_shows_the_example_as_it_is(self):
        shown = [block.text for block in markdown.blocks((SOURCE / "README.md").read_text("utf-8"))
                 if block.language == "c"]
        self.assertIn((SOURCE / "examples/remember.c").read_text("utf-8"), shown)

    def test_examples_are_quoted_as_they_are(self):
        text = (SOURCE / "examples/README.md").read_text("utf-8")
        quoted = [block.text for block in markdown.blocks(text) if block.language == "cpp"]
        programs = [path.read_text("utf-8") for path in (SOURCE / "examples").glob("*.cpp")]
        self.assertGreaterEqual(len(quoted), 2)
        for block in quoted:
            self.assertIn(block, programs)
        for path in (SOURCE / "examples").iterdir():
            if path.suffix in (".c", ".cpp"):
                self.assertTrue(f"[{path.name}]({path.name})" in text, path.name)

    def test_blocks_compile_and_run(self):
        checked = 0
        for path, text in pages().items():
            for block in markdown.blocks(text):
                if block.language == "c":
                    checked += 1
                    with self.subTest(page=name_of(path), line=block.line):
                        self.compile_and_run(block.text)
        self.assertGreaterEqual(checked, 1)

    def compile_and_run(self, code):
        library = pathlib.Path(os.environ["VARVE_LIBRARY"]).resolve()
        whole = "main(" in code
        if not whole:
            code = ("#include <stdio.h>\n#include <string.h>\n#include <varve/varve.h>\n"
                    f"void snippet({SNIPPET_PARAMETERS});\nvoid snippet({SNIPPET_PARAMETERS}) {{\n"
                    f"(void)store; (void)session; (void)entry; (void)id;\n{code}\n}}\n")
        with tempfile.TemporaryDirectory(prefix="varve-docs-") as directory:
            source = pathlib.Path(directory) / "example.c"
            source.write_text(code, encoding="utf-8")
            program = pathlib.Path(directory) / "example"
            compiler = [os.environ.get("CC", "cc"), "-std=c99", "-Wall", "-Wextra", "-Werror",
                        f"-I{SOURCE / 'include'}", str(source), "-o", str(program)]
            link = [str(library), f"-Wl,-rpath,{library.parent}"] if whole else ["-c"]
            status, output = run([*compiler, *link])
            self.assertEqual(status, 0, output)
            if whole:
                status, output = run([str(program)], cwd=directory, env=clean_environment())
                self.assertEqual(status, 0, output)
                self.assertTrue(output)


class PythonExample(unittest.TestCase):
    """The first example of the README; those of the bindings' READMEs are tried by their tests."""

    def test_readme_shows_what_it_prints(self):
        blocks = markdown.blocks((SOURCE / "README.md").read_text("utf-8"))
        number = next(n for n, block in enumerate(blocks) if block.language == "python")
        with tempfile.TemporaryDirectory(prefix="varve-docs-") as directory:
            # Again in the same place, as a reader does.
            for expected in (blocks[number + 1].text, None):
                status, output = run([sys.executable, "-B", "-c", blocks[number].text],
                                     cwd=directory, env=clean_environment(
                                         PYTHONPATH=str(SOURCE / "bindings/python/src"),
                                         VARVE_LIBRARY=os.environ["VARVE_LIBRARY"]))
                self.assertEqual(status, 0, output)
                if expected is not None:
                    self.assertEqual(output, expected)


def update():
    for path, text in pages().items():
        renewed = text
        for block in markdown.blocks(text):
            if block.language == "console":
                renewed = renewed.replace(block.text, run_console(block.text))
        if renewed != text:
            path.write_text(renewed, encoding="utf-8")


if __name__ == "__main__":
    if "--update" in sys.argv[1:]:
        update()
    else:
        unittest.main()
