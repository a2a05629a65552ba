#!/usr/bin/env python3
"""A changed type, order, name, constant or annotation of a header does not go unnoticed.

Every declaration of the real headers is changed, one at a time. bindings/generate --check compares
what the headers say now with the generated files: here the dictionary itself is compared, which is
what all of them are made of. And where a C program would be misled, tests/abi/check.c and
check.cpp, as they were made from the headers before the change, must not compile.
"""
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "bindings"))
sys.dont_write_bytecode = True
from generator import check, model  # noqa: E402
from generator.source import HeaderError  # noqa: E402

HEADERS = {path.name: path.read_text() for path in (ROOT / "include/varve").glob("*.h")}
FUNCTION = re.compile(r"^VARVE_API [^;]*;", re.M)
STRICT = ["-Wall", "-Wextra", "-Werror", "-pedantic-errors", "-fsyntax-only"]
COMPILERS = [(name, language) for pair in (("gcc", "g++"), ("clang-14", "clang++-14"))
             for name, language in zip(pair, ("c", "cpp")) if shutil.which(name)]


def complaint(compiler, language, folder):
    """What a compiler says to the check file against the headers in `folder`."""
    standard = "-std=c11" if language == "c" else "-std=c++11"
    done = subprocess.run([compiler, standard, *STRICT, f"-I{folder}/include",
                           str(ROOT / f"tests/abi/check.{language}")],
                          capture_output=True, text=True)
    return done.stderr if done.returncode != 0 else ""


def tree(folder, changes):
    """The headers below `folder`, some of them changed."""
    (folder / "include/varve").mkdir(parents=True)
    for name, text in HEADERS.items():
        (folder / "include/varve" / name).write_text(changes.get(name, text))


def seen_by_generator(folder):
    try:
        return model.read(folder) != API
    except HeaderError:
        return True


API = model.read(ROOT)


def changed_functions(change):
    """(header, function, text of the header) with `change` made to one function at a time;
    functions that it does not apply to are left out."""
    for header, text in HEADERS.items():
        for match in FUNCTION.finditer(text):
            for changed in change(match.group()):
                name = re.search(r"(varve_\w+)\(", match.group())[1]
                yield header, name, text[:match.start()] + changed + text[match.end():]


def each(pattern, replacement):
    """A change of every place at which `pattern` stands in a function, one at a time."""
    def change(function):
        for match in re.finditer(pattern, function):
            yield function[:match.start()] + match.expand(replacement) + function[match.end():]
    return change


def swapped(function):
    """Two neighbours in the list of parameters, with their names."""
    inside = re.search(r"\((.*)\)", function, re.S)
    params = inside[1].split(",")
    for index in range(len(params) - 1):
        other = params[:index] + [params[index + 1], params[index]] + params[index + 2:]
        yield function[:inside.start(1)] + ",".join(other) + function[inside.end(1):]


TYPES = [(r"\bsize_t\b", "uint32_t"), (r"\buint64_t\b", "int64_t"), (r"\bint32_t\b", "int64_t"),
         (r"\buint32_t\b", "int32_t"), (r"\bdouble\b", "float"), (r"\bfloat\b", "double"),
         (r"\bvarve_status_t\b(?= *\n?varve)", "int64_t"), (r"\bconst char\b", "char"),
         (r"\bvarve_session_t\b", "varve_store_t"), (r"\bvarve_store_t\b", "varve_error_t"),
         (r"\bvarve_error_t\b", "varve_store_t"), (r"\bchar \*\*(?=\w+_out)", "char *")]


class Mutations(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def assert_all_noticed(self, changes, at_least, compiled=True):
        """`changes` are (header, text, what). All are shown to the generator; a dozen from all over
        the list to the compilers, who take turns."""
        changes = list(changes)
        self.assertGreaterEqual(len(changes), at_least)
        step = max(1, len(changes) // 12)
        shown = []
        for number, (header, text, what) in enumerate(changes):
            folder = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
            tree(folder, {header: text})
            self.assertTrue(seen_by_generator(folder), f"{what}: the generator does not notice")
            if compiled and number % step == 0:
                shown.append((COMPILERS[len(shown) % len(COMPILERS)], folder, what))
            else:
                shutil.rmtree(folder)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            answers = pool.map(lambda item: complaint(*item[0], item[1]), shown)
        for (compiler, _, what), answer in zip(shown, answers):
            self.assertNotEqual(answer, "", f"{what}: {compiler[0]} does not notice")

    def test_the_check_files_compile_and_are_current(self):
        tree(self.folder, {})
        self.assertFalse(seen_by_generator(self.folder))
        for path, text in check.files(API).items():
            self.assertEqual((ROOT / path).read_text(), text)
        for compiler, language in COMPILERS:
            self.assertEqual(complaint(compiler, language, self.folder), "")

    def test_a_changed_type(self):
        for pattern, other in TYPES:
            with self.subTest(f"{pattern} to {other}"):
                changes = [(header, text, f"{name}: {pattern} to {other}") for header, name, text
                           in changed_functions(each(pattern, other))]
                self.assert_all_noticed(changes, 0)

    def test_a_changed_order(self):
        changes = [(header, text, f"{name}: two parameters swapped") for header, name, text
                   in changed_functions(swapped)]
        self.assert_all_noticed(changes, 100, compiled=False)

    def test_a_changed_name_of_a_function(self):
        changes = [(header, text, f"{name} renamed") for header, name, text
                   in changed_functions(each(r"\b(varve_\w+)\(", r"\1_2("))]
        self.assert_all_noticed(changes, 40)

    def test_a_changed_name_of_a_parameter(self):
        changes = [(header, text, f"{name}: a parameter renamed") for header, name, text
                   in changed_functions(each(r"(\w+)((?: VARVE_\w+)*,)", r"\1_2\2"))]
        self.assert_all_noticed(changes, 100, compiled=False)

    def test_a_missing_annotation(self):
        changes = [(header, text, f"{name}: an annotation removed") for header, name, text
                   in changed_functions(each(r"\s+VARVE_(NULLABLE|OUT_OWNED|OUT_BORROWED|OUT)\b",
                                             ""))]
        self.assert_all_noticed(changes, 100, compiled=False)

    def test_a_result_that_may_be_dropped(self):
        changes = [(header, text, f"{name}: VARVE_MUST_USE removed") for header, name, text
                   in changed_functions(each(r"VARVE_MUST_USE\s+", ""))]
        self.assert_all_noticed(changes, 30, compiled=False)

    def test_a_missing_function(self):
        changes = [(header, text, f"{name} removed") for header, name, text
                   in changed_functions(lambda function: [""])]
        self.assert_all_noticed(changes, 40)

    def test_a_changed_constant(self):
        pattern = re.compile(r"^(  VARVE_\w+ = |#define VARVE_\w+ )(-?\d+)", re.M)
        changes = []
        for header, text in HEADERS.items():
            for match in pattern.finditer(text):
                changed = f"{match[1]}{int(match[2]) + 1}"
                changes.append((header, text[:match.start()] + changed + text[match.end():],
                                f"{changed.strip()}"))
        self.assert_all_noticed(changes, 20)

    def test_a_changed_type_definition(self):
        changes = []
        for header, text in HEADERS.items():
            for match in re.finditer(r"^typedef [^;]*;", text, re.M):
                definition = match.group()
                for pattern, other in TYPES + [(r"^typedef void", "typedef int32_t")]:
                    if "struct" in definition or not re.search(pattern, definition):
                        continue
                    changed = re.sub(pattern, other, definition, count=1)
                    changes.append((header, text[:match.start()] + changed + text[match.end():],
                                    f"{definition}: {pattern} to {other}"))
        self.assert_all_noticed(changes, 5)


class WrongReading(unittest.TestCase):
    """Should the parser misread a header, the compilers say so."""

    def assert_refused(self, api, what):
        with tempfile.TemporaryDirectory() as folder:
            for path, text in check.files(api).items():
                file = pathlib.Path(folder) / pathlib.Path(path).name
                file.write_text(text)
            for compiler, language in COMPILERS:
                done = subprocess.run(
                    [compiler, "-std=c11" if language == "c" else "-std=c++11", *STRICT,
                     f"-I{ROOT}/include", f"{folder}/check.{language}"], capture_output=True)
                self.assertNotEqual(done.returncode, 0, f"{what}: {compiler} does not notice")

    def changed(self, part, index, **members):
        entries = list(API[part])
        entries[index] = dict(entries[index], **members)
        return dict(API, **{part: entries})

    def test_a_parameter_too_few_or_too_many(self):
        for index in (4, 9, len(API["functions"]) - 2):
            params = API["functions"][index]["params"]
            self.assert_refused(self.changed("functions", index, params=params[:-1]), "too few")
            self.assert_refused(self.changed("functions", index, params=params + [
                {"name": "x", "type": "int32_t", "role": "in", "nullable": False}]), "too many")

    def test_another_result(self):
        self.assert_refused(self.changed("functions", 0, returns="int32_t"), "result")

    def test_another_value(self):
        self.assert_refused(self.changed("constants", 8, value=99), "value")

    def test_other_types(self):
        for index, entry in enumerate(API["types"]):
            if entry["kind"] == "integer":
                self.assert_refused(self.changed("types", index, **{"as": "int16_t"}), "integer")
            elif entry["kind"] == "callback":
                self.assert_refused(self.changed("types", index, returns="int16_t"), "callback")
            elif entry["kind"] == "handle":
                self.assert_refused(self.changed("types", index, name="varve_nobody_t"), "handle")


if __name__ == "__main__":
    unittest.main()
