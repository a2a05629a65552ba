#!/usr/bin/env python3
"""bindings/generate reads what the headers may hold and refuses the rest with its line."""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

GENERATE = pathlib.Path(__file__).resolve().parent.parent.parent / "bindings/generate"
BASE = """#define VARVE_ABI_VERSION 1
#define VARVE_VERSION_MAJOR 0
#define VARVE_VERSION_MINOR 2
#define VARVE_VERSION_PATCH 3
typedef int32_t varve_status_t;
typedef struct varve_error varve_error_t;
"""
BASE_LINES = BASE.count("\n")
ERROR_OUT = "varve_error_t **error_out VARVE_OUT_OWNED VARVE_NULLABLE"


def comment(params="", more=""):
    """The comment of a function; `params` is like "in:session out:error_out"."""
    told = "".join(" * @param[{}] {} x\n".format(*param.split(":")) for param in params.split())
    return f"/**\n * Does it.\n *\n{told} * @errors none\n * @thread any\n{more} */\n"


class Generate(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        (self.root / "include/varve").mkdir(parents=True)

    def run_generate(self, *options):
        return subprocess.run([sys.executable, "-B", str(GENERATE), "--no-languages",
                               "--root", str(self.root), *options], capture_output=True, text=True)

    def header(self, text):
        (self.root / "include/varve/base.h").write_text(BASE + text)

    def api(self, text):
        self.header(text)
        done = self.run_generate()
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads((self.root / "bindings/api.json").read_text())

    def refusal(self, text):
        self.header(text)
        done = self.run_generate("--list")
        self.assertEqual(done.returncode, 2, done.stdout)
        return done.stderr

    def assert_refused(self, declaration, problem, about=""):
        """`declaration` stands behind a comment, and is refused with the line it begins at."""
        before = comment(about)
        line = BASE_LINES + before.count("\n") + 1
        self.assertRegex(self.refusal(before + declaration),
                         rf"include/varve/base\.h:{line}: .*{re.escape(problem)}")

    def assert_parameter_refused(self, parameters, problem, about):
        self.assert_refused(f"VARVE_API void varve_f({parameters});", problem, about)


class Reads(Generate):
    def test_functions_over_several_lines(self):
        api = self.api(
            "/** An x. */\ntypedef struct varve_x varve_x_t;\n" +
            comment("in:x out:text_out out:text_len_out out:error_out") +
            "VARVE_API VARVE_MUST_USE varve_status_t\nvarve_b(const varve_x_t *x VARVE_NULLABLE,\n"
            "        char **text_out VARVE_OUT_OWNED VARVE_NULLABLE,\n"
            "        size_t *text_len_out VARVE_OUT VARVE_NULLABLE,\n"
            f"        {ERROR_OUT});\n" + comment() +
            "VARVE_API const char *varve_a(void);\n")
        first, second = api["functions"]
        self.assertEqual([second["name"], second["returns"], second["params"]],
                         ["varve_a", "const char *", []])
        self.assertEqual(first["header"], "base.h")
        self.assertTrue(first["doc"].startswith("Does it.\n\n@param[in] x x\n"), first["doc"])
        self.assertEqual(
            [(p["name"], p["type"], p["role"], p["nullable"]) for p in first["params"]],
            [("x", "const varve_x_t *", "handle", True),
             ("text_out", "char **", "owned_text", True),
             ("text_len_out", "size_t *", "owned_length", True),
             ("error_out", "varve_error_t **", "error_out", True)])
        self.assertIn({"name": "varve_x_t", "kind": "handle", "doc": "An x."}, api["types"])

    def test_the_role_of_every_parameter(self):
        api = self.api(
            "typedef struct varve_x varve_x_t;\ntypedef void (*varve_log_fn)(void *user_data);\n" +
            comment("in:x in:entry_json in:entry_len in:values in:dimension in:fn in:user_data "
                    "out:x_out out:line_out out:line_len_out out:count_out out:error_out") +
            "VARVE_API VARVE_MUST_USE varve_status_t varve_f(\n"
            "  varve_x_t *x, const char *entry_json, size_t entry_len, const float *values,\n"
            "  uint32_t dimension,\n"
            "  varve_log_fn fn VARVE_NULLABLE, void *user_data VARVE_NULLABLE,\n"
            "  varve_x_t **x_out VARVE_OUT_OWNED,\n"
            "  const char **line_out VARVE_OUT_BORROWED VARVE_NULLABLE,\n"
            "  size_t *line_len_out VARVE_OUT VARVE_NULLABLE,\n"
            f"  double *count_out VARVE_OUT VARVE_NULLABLE, {ERROR_OUT});\n")
        self.assertEqual([p["role"] for p in api["functions"][0]["params"]],
                         ["handle", "text", "length", "in", "in", "callback", "user_data",
                          "handle_out", "borrowed_text", "borrowed_length", "out", "error_out"])

    def test_types_and_constants(self):
        api = self.api(
            "typedef int32_t varve_level_t;\n/* of it */\nenum {\n"
            "  VARVE_LOW = -1, /**< below */\n  VARVE_HIGH = 7 /**< above */\n};\n"
            "/** A few. */\n#define VARVE_FEW 3\n#define VARVE_ALL SIZE_MAX\n"
            "#define VARVE_MARK /**< read by nobody */\n"
            "enum { VARVE_LOOSE = 0 };\n"
            "typedef struct varve_pair { int64_t a; const char *b; } varve_pair_t;\n"
            "/** Tells. */\ntypedef int32_t (*varve_tell_fn)(void *user_data, uint64_t done);\n" +
            comment() + "VARVE_API void varve_f(void);\n")
        known = {entry["name"]: entry for entry in api["types"]}
        self.assertEqual(known["varve_level_t"]["as"], "int32_t")
        self.assertEqual(known["varve_pair_t"]["fields"], [
            {"name": "a", "type": "int64_t"}, {"name": "b", "type": "const char *"}])
        self.assertEqual(known["varve_tell_fn"], {
            "name": "varve_tell_fn", "kind": "callback", "returns": "int32_t", "doc": "Tells.",
            "params": [{"name": "user_data", "type": "void *"},
                       {"name": "done", "type": "uint64_t"}]})
        self.assertEqual(api["constants"][4:], [
            {"name": "VARVE_LOW", "value": -1, "type": "varve_level_t", "doc": "below"},
            {"name": "VARVE_HIGH", "value": 7, "type": "varve_level_t", "doc": "above"},
            {"name": "VARVE_FEW", "value": 3, "type": None, "doc": "A few."},
            {"name": "VARVE_ALL", "value": 2**64 - 1, "type": "size_t", "doc": "A few."},
            {"name": "VARVE_LOOSE", "value": 0, "type": None, "doc": ""}])
        self.assertEqual((api["abi_version"], api["version"]), (1, "0.2.3"))

    def test_ignores_comments_and_cplusplus_blocks(self):
        api = self.api(
            "/* VARVE_API int varve_old(void); */\n// VARVE_API int varve_older(void);\n"
            "#ifdef __cplusplus\nextern \"C\" {\n#endif\n" + comment() +
            "VARVE_API int32_t varve_a(void);\n#ifdef __cplusplus\n}\n#endif\n")
        self.assertEqual([f["name"] for f in api["functions"]], ["varve_a"])


class Refuses(Generate):
    def test_declarations_outside_the_grammar(self):
        for text, problem in (
                ("static inline int32_t varve_f(void) { return 0; }", "`static` does not begin"),
                ("int32_t varve_f(void);", "`int32_t` does not begin"),
                ("extern int varve_value;", "`extern` does not begin"),
                ("struct varve_s { int32_t a; };", "`struct` does not begin"),
                ("union varve_u { int32_t a; };", "`union` does not begin"),
                ("VARVE_API int32_t other_f(void);", "not a valid name of a function"),
                ("VARVE_API int32_t varve_F(void);", "not a valid name of a function"),
                ("VARVE_API int32_t varve_value;", "`;` where `(` was expected"),
                ("VARVE_API int32_t varve_f();", "`)` is not a known type"),
                ("VARVE_API int32_t varve_f(long x);", "`long` is not a known type"),
                ("VARVE_API int32_t varve_f(int32_t);", "`)` is not a valid name of a parameter"),
                ("VARVE_API int32_t varve_f(int32_t x[4]);", "`[` in the parameters"),
                ("VARVE_API int32_t varve_f(int32_t x, ...);", "`...` is not a known type"),
                ("VARVE_API int32_t varve_f(void (*g)(void));", "`(` is not a valid name of a"),
                ("VARVE_API varve_unknown_t *varve_f(void);", "not a known type"),
                ("VARVE_API varve_error_t varve_f(void);", "`varve_error_t` by value"),
                ("VARVE_API char varve_f(void);", "`char` by value"),
                ("VARVE_API const int32_t varve_f(void);", "const without a pointer"),
                ("VARVE_API int32_t varve_f(void) VARVE_NOTE;", "behind the parameters"),
                ("typedef enum { VARVE_A = 1 } varve_a_t;", "`enum` is not a known type"),
                ("typedef long varve_long_t;", "not a known type"),
                ("typedef double varve_real_t;", "not an integer of fixed width"),
                ("typedef int32_t counter;", "not a valid name of a type"),
                ("typedef struct varve_x varve_y_t;", "not varve_x_t"),
                ("typedef struct varve_error varve_error_t;", "already declared"),
                ("enum { VARVE_A };", "`}` where `=` was expected"),
                ("enum { VARVE_A = 1 + 1 };", "`+` has no place"),
                ("enum { VARVE_A = 0x10 };", "not a decimal number"),
                ("enum { a = 1 };", "not a valid name of a constant"),
                ("@", "has no place in a header")):
            with self.subTest(text):
                self.assert_refused(text, problem)

    def test_preprocessor_lines_outside_the_grammar(self):
        for text, problem in (
                ("#include <stdio.h>", "outside the grammar"),
                ("#if VARVE_X\n#endif", "a condition outside the grammar"),
                ("#define VARVE_X (1 + 2)", "a #define outside the grammar"),
                ("#define varve_x(a) a", "a #define outside the grammar"),
                ("#pragma once", "outside the grammar"),
                ("#endif", "outside the grammar")):
            with self.subTest(text):
                self.assert_refused(text, problem)
        self.assertIn("a declaration under a condition", self.refusal(
            "#if defined(__GNUC__) || defined(__clang__)\ntypedef int32_t varve_x_t;\n#endif\n"))
        self.assertIn('only `extern "C" {`', self.refusal(
            "#ifdef __cplusplus\ntypedef int32_t varve_x_t;\n#endif\n"))
        self.assertIn("an #if without its #endif", self.refusal("#ifdef __cplusplus\n"))

    def test_a_declaration_without_end(self):
        self.assertIn("a declaration without end", self.refusal("VARVE_API int32_t varve_f(void)"))

    def test_a_name_declared_twice(self):
        self.assertIn("already declared", self.refusal(
            (comment() + "VARVE_API int32_t varve_f(void);\n") * 2))

    def test_headers_that_export_nothing(self):
        self.assertIn("export nothing", self.refusal(""))

    def test_a_header_without_the_abi_version(self):
        (self.root / "include/varve/base.h").write_text(
            comment() + "VARVE_API void varve_f(void);\n")
        self.assertIn("no line `#define VARVE_ABI_VERSION",
                      self.run_generate("--list").stderr)


class Conventions(Generate):
    """What the grammar allows and varve/base.h does not."""

    def test_outs_say_who_owns_them(self):
        for parameters, problem in (
                ("char **x, size_t *y", "without VARVE_OUT_OWNED"),
                ("char **x VARVE_OUT_BORROWED VARVE_NULLABLE", "without VARVE_OUT_OWNED"),
                ("const char **x VARVE_OUT_OWNED VARVE_NULLABLE", "without VARVE_OUT_BORROWED"),
                ("uint64_t *x", "without VARVE_OUT"),
                ("uint64_t *x VARVE_OUT", "VARVE_NULLABLE is missing"),
                ("varve_error_t **x VARVE_OUT_OWNED", "VARVE_NULLABLE is missing"),
                ("uint64_t x VARVE_OUT", "on a parameter that is not written"),
                ("uint64_t x VARVE_NULLABLE", "cannot be NULL"),
                ("uint64_t **x VARVE_OUT", "has no meaning"),
                ("varve_error_t ***x VARVE_OUT", "is not a handle"),
                ("char *x VARVE_OUT", "is not a form of text")):
            with self.subTest(parameters):
                told = "out:x" if "VARVE_OUT" in parameters else "in:x"
                told += " in:y" if "size_t *y" in parameters else ""
                self.assert_parameter_refused(parameters, problem, told)

    def test_the_out_of_a_handle_cannot_be_left_out(self):
        self.assertIn("cannot be NULL", self.refusal(
            "typedef struct varve_x varve_x_t;\n" + comment("out:x_out") +
            "VARVE_API void varve_f(varve_x_t **x_out VARVE_OUT_OWNED VARVE_NULLABLE);\n"))

    def test_text_goes_with_its_length(self):
        for parameters, problem, about in (
                ("const char *id", "a text without its length", "in:id"),
                ("const char *id, uint32_t id_len", "without its length", "in:id in:id_len"),
                ("const char *id, size_t length", "is called id_len", "in:id in:length"),
                ("char **a_out VARVE_OUT_OWNED VARVE_NULLABLE", "without its owned_length",
                 "out:a_out")):
            with self.subTest(parameters):
                self.assert_parameter_refused(parameters, problem, about)

    def test_errors_come_last_and_must_be_used(self):
        for declaration, problem, about in (
                (f"VARVE_API VARVE_MUST_USE varve_status_t varve_f({ERROR_OUT}, int32_t x);",
                 "error_out comes last", "out:error_out in:x"),
                (f"VARVE_API VARVE_MUST_USE int32_t varve_f({ERROR_OUT});",
                 "returns varve_status_t", "out:error_out"),
                (f"VARVE_API varve_status_t varve_f({ERROR_OUT});",
                 "VARVE_MUST_USE and error_out belong together", "out:error_out"),
                ("VARVE_API VARVE_MUST_USE varve_status_t varve_f(void);",
                 "VARVE_MUST_USE and error_out belong together", "")):
            with self.subTest(declaration):
                self.assert_refused(declaration, problem, about)

    def test_callbacks_take_user_data(self):
        self.assert_refused("typedef void (*varve_x_fn)(int32_t x);", "begins with `void *user")
        self.assertIn("a callback without its user_data", self.refusal(
            "typedef void (*varve_x_fn)(void *user_data);\n" + comment("in:fn") +
            "VARVE_API void varve_f(varve_x_fn fn);\n"))

    def test_comments_tell_of_everything(self):
        function = "VARVE_API void varve_f(int32_t a, int32_t b);"
        for about, more, problem in (
                ("in:a", "", "@param describes ['a'], but the parameters are ['a', 'b']"),
                ("in:b in:a", "", "@param describes ['b', 'a']"),
                ("in:a out:b", "", "@param[out] b: it is [in]"),
                ("in:a in:b", " * @tested\n", "@tested is not a tag"),
                ("in:a in:b", " * @errors none\n", "has 2 @errors"),
                ("in:a in:b", " * VARVE_NO_SUCH_CODE\n", "VARVE_NO_SUCH_CODE is not defined")):
            with self.subTest(problem):
                self.assertIn(problem, self.refusal(comment(about, more) + function))
        self.assertIn("no comment before it", self.refusal(function))
        self.assertIn("has 0 @thread", self.refusal(
            "/** @param[in] a x\n@param[in] b x\n@errors none */" + function))


class Writes(Generate):
    def test_check_notices_a_stale_file_and_does_not_write(self):
        self.header(comment() + "VARVE_API int32_t varve_f(void);\n")
        self.assertEqual(self.run_generate("--check").returncode, 1)
        self.assertEqual([p.name for p in self.root.iterdir()], ["include"])
        self.assertEqual(self.run_generate().returncode, 0)
        self.assertEqual(self.run_generate("--check").returncode, 0)
        for path in [p for p in self.root.rglob("*") if p.is_file() and p.suffix != ".h"]:
            with self.subTest(path.name):
                fresh = path.read_text()
                path.write_text(fresh + "\n")
                self.assertEqual(self.run_generate("--check").returncode, 1)
                self.assertEqual(path.read_text(), fresh + "\n")
                path.unlink()
                self.assertEqual(self.run_generate("--check").returncode, 1)
                path.write_text(fresh)
        self.assertEqual(self.run_generate("--check").returncode, 0)

    def test_every_file_says_in_its_first_line_that_it_is_generated(self):
        self.header(comment() + "VARVE_API int32_t varve_f(void);\n")
        self.run_generate()
        written = [p for p in self.root.rglob("*") if p.is_file() and p.suffix != ".h"]
        self.assertGreaterEqual(len(written), 4)
        for path in written:
            self.assertIn("enerated by bindings/generate", path.read_text().split("\n")[0])

    def test_map_hides_everything_else(self):
        self.header(comment() + "VARVE_API int32_t varve_f(void);\n")
        self.run_generate()
        text = (self.root / "src/capi/varve.map").read_text()
        self.assertIn("VARVE_1 {", text)
        self.assertRegex(text, r"global:\s+varve_f;\s+local:\s+\*;")


if __name__ == "__main__":
    unittest.main()
