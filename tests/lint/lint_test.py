#!/usr/bin/env python3
"""The style checkers notice what they are for, and let good code pass."""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import lint  # noqa: E402
import rules  # noqa: E402
import tidy  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def complaints(path, text):
    return list(rules.problems(path, text))


def function(lines, head="int f()"):
    return head + " {\n" + "  g();\n" * (lines - 2) + "}\n"


class StandardHeaders(unittest.TestCase):
    def found(self, code):
        return complaints("src/base/a.cpp", code)

    def test_what_is_used_is_included(self):
        found = self.found("void f() {\n  std::sort(a, b);\n}\n")
        self.assertEqual(found, ["src/base/a.cpp:2: std::sort needs #include <algorithm>"])
        self.assertEqual(self.found("#include <algorithm>\nvoid f() { std::sort(a, b); }\n"), [])

    def test_what_is_only_said_needs_none(self):
        self.assertEqual(self.found('// std::sort is slower.\nconst char* a = "std::sort";\n'), [])
        self.assertEqual(self.found("std::count_if_any(a);\nstd::sort_heap_of_ours();\n"), [])

    def test_c_has_none(self):
        self.assertEqual(complaints("examples/a.c", "int std;\n"), [])


class Layers(unittest.TestCase):
    def assert_refused(self, path, include, word):
        found = complaints(path, f"#pragma once\n\n#include {include}\n")
        self.assertEqual(len(found), 1, found)
        self.assertIn(f"{path}:3: ", found[0])
        self.assertIn(word, found[0])

    def assert_fine(self, path, include):
        self.assertEqual(complaints(path, f"#pragma once\n#include {include}\n"), [])

    def test_down_is_fine(self):
        self.assert_fine("src/log/a.h", '"entry/entry.h"')
        self.assert_fine("src/capi/a.cpp", '"store/store.h"')
        self.assert_fine("src/entry/a.cpp", '"json/tree.h"')
        self.assert_fine("src/log/a.h", '"log/b.h"')
        self.assert_fine("src/io/a.cpp", "<sys/stat.h>")

    def test_up_is_refused(self):
        self.assert_refused("src/base/a.h", '"io/file_system.h"', "arrows")
        self.assert_refused("src/log/a.cpp", '"index/index.h"', "arrows")
        self.assert_refused("src/io/a.cpp", '"json/tree.h"', "arrows")
        self.assert_refused("src/entry/a.cpp", '"io/file_system.h"', "arrows")
        self.assert_refused("src/store/a.cpp", '"capi/guard.h"', "arrows")

    def test_folders_within_a_folder_have_an_order(self):
        self.assert_fine("src/session/query/a.cpp", '"session/entry/entry_cache.h"')
        self.assert_fine("src/session/query/a.cpp", '"session/core.h"')
        self.assert_fine("src/cli/commands/a.cpp", '"cli/view/table.h"')
        self.assert_refused("src/session/query/a.cpp", '"session/session.h"', "arrows")
        self.assert_refused("src/session/entry/a.h", '"session/query/query.h"', "arrows")
        self.assert_refused("src/cli/view/a.cpp", '"cli/arguments/help.h"', "arrows")
        self.assert_refused("src/session/misc/a.cpp", '"session/core.h"', "no place")

    def test_cli_is_a_customer_of_the_abi(self):
        self.assert_fine("src/cli/a.cpp", "<varve/varve.h>")
        self.assert_fine("src/cli/a.cpp", '"cli/view/table.h"')
        self.assert_fine("src/cli/a.cpp", "<CLI/CLI.hpp>")
        self.assert_refused("src/cli/a.cpp", '"base/status.h"', "arrows")

    def test_public_headers_stay_out_of_the_middle(self):
        self.assert_refused("src/log/a.cpp", "<varve/store.h>", "public header")
        self.assert_fine("src/base/status.h", '"varve/base.h"')

    def test_libraries_are_hidden(self):
        self.assert_fine("src/base/sha256.cpp", "<openssl/sha.h>")
        self.assert_refused("src/log/a.cpp", "<openssl/evp.h>", "hidden")

    def test_public_headers_use_little(self):
        self.assert_fine("include/varve/a.h", "<stdint.h>")
        self.assert_fine("include/varve/a.hpp", "<string_view>")
        self.assert_refused("include/varve/a.h", "<stdbool.h>", "public header")
        self.assert_refused("include/varve/a.h", "<string_view>", "public header")
        self.assert_refused("include/varve/a.hpp", "<boost/json.hpp>", "public header")
        self.assert_refused("include/varve/a.h", '"base/status.h"', "public header")

    def test_paths_are_full_and_folders_known(self):
        self.assert_refused("src/log/a.cpp", '"scan.h"', "write the path")
        self.assert_refused("src/misc/a.cpp", '"base/status.h"', "no place")


class Sizes(unittest.TestCase):
    def test_file(self):
        limit = rules.FILE_LINES_MAX
        self.assertEqual(complaints("src/io/a.cpp", "int a;\n" * limit), [])
        self.assertIn("split", complaints("src/io/a.cpp", "int a;\n" * (limit + 1))[0])
        self.assertIn("split", complaints("tests/unit/io/a_test.cpp", "int a;\n" * (limit + 1))[0])

    def test_generated_files_are_exempt_by_their_first_line(self):
        long_file = "int a;\n" * 1000
        self.assertEqual(complaints("src/io/a.cpp", "// Generated by x.\n" + long_file), [])
        self.assertEqual(len(complaints("src/io/a.cpp", "\n// Generated by x.\n" + long_file)), 1)

    def test_function(self):
        limit = rules.FUNCTION_LINES_MAX
        self.assertEqual(complaints("src/io/a.cpp", function(limit)), [])
        found = complaints("src/io/a.cpp", "int before;\n\n" + function(limit + 1))
        self.assertEqual(found, [f"src/io/a.cpp:3: {limit + 1} lines, {limit} are allowed: "
                                 "int f()"])

    def test_functions_in_scopes(self):
        heads = ("A::A(int x)\n    : B(x), x_{x}, y_{1, 2}", "TEST(Log, Reads)",
                 "auto f() -> int", "template <typename T> T f(T (&x)[2]) noexcept",
                 "bool operator()(int a) const", "static const struct stat& f(const struct stat&)")
        surroundings = (("", ""), ('extern "C" {\n', "}\n"),
                        ("namespace a::b {\nclass C : public D {\n public:\n", "};\n}\n"))
        for head in heads:
            for before, after in surroundings:
                with self.subTest(head=head, before=before):
                    text = before + function(80, head) + after
                    lengths = [count for _, count, _ in rules.function_lengths(text)]
                    self.assertEqual(lengths, [80 + head.count("\n")])

    def test_what_is_not_a_function(self):
        text = ("constexpr int kTable[] = {\n" + "  1,\n" * 90 + "};\n"
                "struct A {\n" + "  int a = f(1);\n" * 90 + "};\n"
                "const std::map<int, int> kMap{\n" + "  {1, 2},\n" * 90 + "};\n"
                "enum class E : int {\n" + "  kA,\n" * 90 + "};\n")
        self.assertEqual(rules.function_lengths(text), [])

    def test_braces_in_literals_and_comments(self):
        text = ("int f() {\n  g('{', \"{\", 1'000, R\"({)\");  // {\n  /* { */\n}\n"
                "#define M {\nint h() {\n}\n")
        self.assertEqual([(line, count) for line, count, _ in rules.function_lengths(text)],
                         [(1, 4), (6, 2)])

    def test_unmatched_braces_are_a_problem(self):
        self.assertIn("cannot be measured", complaints("src/io/a.cpp", "int f() {\n")[0])


class Lines(unittest.TestCase):
    def test_columns_count_characters(self):
        self.assertEqual(complaints("src/io/a.cpp", "// " + "é" * 97 + "\n"), [])
        self.assertIn("101 columns", complaints("src/io/a.cpp", "// " + "e" * 98 + "\n")[0])
        self.assertIn("101 columns", complaints("scripts/test", "#!/bin/sh\n#" + "e" * 100)[0])
        self.assertEqual(complaints("README.md", "e" * 200 + "\n"), [])

    def test_blanks_and_tabs(self):
        self.assertIn("blanks", complaints("src/io/a.cpp", "int a; \n")[0])
        self.assertIn("tab", complaints("src/io/a.cpp", "\tint a;\n")[0])

    def test_macros_of_headers_are_not_asked_for_without_them(self):
        path = "src/io/posix_file.cpp"
        for line in ("#ifdef SYNC_FILE_RANGE_WRITE", "#if defined(__linux__) && defined(O_TMPFILE)",
                     "#if defined(SYS_openat2)", "#ifndef F_OFD_SETLK"):
            with self.subTest(line):
                self.assertEqual(len(complaints(path, f"{line}\n#endif\n")), 1)
        for text in ("#ifdef __linux__\n#endif\n",
                     "#if defined(VARVE_CLI) || !defined(NDEBUG)\n#endif\n",
                     "#include <sys/syscall.h>\n#if defined(SYS_openat2)\n#endif\n",
                     "#if __has_include(<fcntl.h>)\n#endif\n"):
            with self.subTest(text):
                self.assertEqual(complaints(path, text), [])

    def test_pragma_once(self):
        self.assertIn("#pragma once", complaints("src/io/a.h", "int f();\n")[0])


class Words(unittest.TestCase):
    def test_refused(self):
        for text in ("TO" "DO: later", "FIX" "ME", "XX" "X", "see /ho" "me/me/x", "cd /wo" "rk/x",
                     '"/ro' 'ot/.cache"', "https://crates" ".io/x", "registry" ".npmjs.org",
                     "pypi" ".org", "see issue" " 12", "the integra" "tor"):
            for path in ("src/io/a.cpp", "docs/a.md", "scripts/a.sh", "a.json"):
                with self.subTest(text=text, path=path):
                    self.assertEqual(len(complaints(path, text + "\n")), 1)

    def test_fine(self):
        for text in ("mkdtemp XXXXXX", "framework/work/x", "${prefix}/root/x", "to do", "XXH3",
                     "Whack", "the issue of 2 locks", "a/home/b"):
            self.assertEqual(complaints("src/io/a.cpp", f"// {text}\n"), [])

    def test_data_is_exempt(self):
        self.assertEqual(complaints("tests/golden/a.jsonl", "TO" "DO\n"), [])


class Tree(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        (self.root / "src/io").mkdir(parents=True)

    def write(self, name, text):
        (self.root / name).write_text(text)

    def test_an_empty_tree_is_not_a_pass(self):
        self.assertTrue(lint.check_rules(self.root)[0])
        self.assertTrue(lint.check_format(self.root, fix=False)[0])

    def test_files_are_found_and_build_is_not(self):
        self.write("src/io/a.cpp", "int a; \n")
        (self.root / "build").mkdir()
        self.write("build/b.cpp", "int b; \n")
        self.assertEqual(lint.check_rules(self.root)[0],
                         ["src/io/a.cpp:1: blanks at the end of the line"])

    @unittest.skipUnless(shutil.which("clang-format-14"), "clang-format-14 is not installed")
    def test_formatting(self):
        shutil.copy(ROOT / ".clang-format", self.root)
        self.write("src/io/a.cpp", "int  f ( ) { return 1 ; }\n")
        self.assertIn("src/io/a.cpp:1", lint.check_format(self.root, fix=False)[0][0])
        lint.check_format(self.root, fix=True)
        self.assertEqual(lint.check_format(self.root, fix=False)[0], [])

    @unittest.skipUnless(shutil.which(tidy.TOOL), "clang-tidy-14 is not installed")
    def test_tidy(self):
        shutil.copy(ROOT / ".clang-tidy", self.root)
        self.write("src/io/a.h", "#pragma once\nstruct bad_name { int member; };\n")
        self.write("src/io/a.cpp", '#include "io/a.h"\nint* f() { return 0; }\n')
        build = self.root / "build"
        build.mkdir()
        source = self.root / "src/io/a.cpp"
        (build / "compile_commands.json").write_text(
            f'[{{"directory": "{build}", "file": "{source}", '
            f'"command": "c++ -std=c++20 -I{self.root}/src -c {source}"}}]')
        found = tidy.check(source, build)
        self.assertIn("readability-identifier-naming", found)
        self.assertIn("modernize-use-nullptr", found)
        before = tidy.fingerprint(source, "c++", self.root)
        self.write("src/io/a.h", "#pragma once\nstruct GoodName { int member; };\n")
        self.assertNotEqual(tidy.fingerprint(source, "c++", self.root), before)
        self.write("src/io/a.cpp", '#include "io/a.h"\nint* f() { return nullptr; }\n')
        self.assertEqual(tidy.check(source, build), "")

    def test_tidy_without_files_is_not_a_pass(self):
        build = self.root / "build"
        build.mkdir()
        (build / "compile_commands.json").write_text("[]")
        done = subprocess.run(
            [sys.executable, "-B", "-c",
             "import pathlib, sys; sys.path.insert(0, sys.argv[1]); import tidy;"
             "sys.exit(tidy.run(pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]), []))",
             str(ROOT / "tests/lint"), str(build), str(self.root)], capture_output=True)
        self.assertEqual(done.returncode, 1)


if __name__ == "__main__":
    unittest.main()
