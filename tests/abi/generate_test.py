#!/usr/bin/env python3
"""bindings/generate reads what the headers may hold and refuses the rest with its line."""
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

GENERATE = pathlib.Path(__file__).resolve().parent.parent.parent / "bindings/generate"
BASE = "#define VARVE_ABI_VERSION 1\ntypedef int varve_status_t;\n"


class Generate(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        (self.root / "include/varve").mkdir(parents=True)
        (self.root / "src/capi").mkdir(parents=True)

    def run_generate(self, *options):
        return subprocess.run([sys.executable, "-B", str(GENERATE), "--root", str(self.root),
                               *options], capture_output=True, text=True)

    def header(self, text):
        (self.root / "include/varve/base.h").write_text(BASE + text)

    def names(self, text):
        self.header(text)
        done = self.run_generate("--list")
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.split()

    def refusal(self, text):
        self.header(text)
        done = self.run_generate("--list")
        self.assertEqual(done.returncode, 2, done.stdout)
        return done.stderr

    def test_reads_functions_over_several_lines(self):
        self.assertEqual(self.names(
            "typedef struct varve_x varve_x_t;\n"
            "VARVE_API VARVE_MUST_USE varve_status_t\nvarve_b(varve_x_t *x VARVE_NULLABLE,\n"
            "        char **text_out VARVE_OUT_OWNED VARVE_NULLABLE);\n"
            "VARVE_API const char *varve_a(void);\n"), ["varve_a", "varve_b"])

    def test_ignores_comments_and_cplusplus_blocks(self):
        self.assertEqual(self.names(
            "/* VARVE_API int varve_old(void); */\n// VARVE_API int varve_older(void);\n"
            "#ifdef __cplusplus\nextern \"C\" {\n#endif\n"
            "VARVE_API int32_t varve_a(void);\n"
            "#ifdef __cplusplus\n}\n#endif\n"), ["varve_a"])

    def test_refuses_what_it_does_not_know_with_its_line(self):
        for text in ("static inline int32_t varve_f(void) { return 0; }\n;",
                     "int32_t varve_f(void);", "extern int varve_value;",
                     "VARVE_API int32_t other_f(void);", "VARVE_API int32_t varve_value;",
                     "VARVE_API int32_t varve_F(void);", "VARVE_API int32_t varve_f();",
                     "VARVE_API int32_t varve_f(long x);", "VARVE_API int32_t varve_f(int32_t);",
                     "VARVE_API int32_t varve_f(int32_t x[4]);",
                     "VARVE_API int32_t varve_f(void (*g)(void));",
                     "VARVE_API varve_unknown_t *varve_f(void);",
                     "VARVE_API int32_t varve_f(const char *text, ...);",
                     "union varve_u { int32_t a; };"):
            with self.subTest(text):
                self.assertIn("include/varve/base.h:5", self.refusal("\n/* x\n*/" + text))

    def test_refuses_a_declaration_without_end(self):
        self.assertIn("base.h:3", self.refusal("VARVE_API int32_t varve_f(void)"))

    def test_refuses_a_name_declared_twice(self):
        self.assertIn("already declared",
                      self.refusal("VARVE_API int32_t varve_f(void);\n" * 2))

    def test_refuses_headers_that_export_nothing(self):
        self.assertIn("export nothing", self.refusal(""))

    def test_check_notices_a_stale_file_and_does_not_write(self):
        self.header("VARVE_API int32_t varve_f(void);\n")
        target = self.root / "src/capi/varve.map"
        self.assertEqual(self.run_generate("--check").returncode, 1)
        self.assertFalse(target.exists())
        self.assertEqual(self.run_generate().returncode, 0)
        self.assertEqual(self.run_generate("--check").returncode, 0)
        target.write_text(re.sub("varve_f", "varve_g", target.read_text()))
        self.assertEqual(self.run_generate("--check").returncode, 1)
        self.assertIn("varve_g", target.read_text())

    def test_map_hides_everything_else(self):
        self.header("VARVE_API int32_t varve_f(void);\n")
        self.run_generate()
        text = (self.root / "src/capi/varve.map").read_text()
        self.assertIn("VARVE_1 {", text)
        self.assertRegex(text, r"global:\s+varve_f;\s+local:\s+\*;")


if __name__ == "__main__":
    unittest.main()
