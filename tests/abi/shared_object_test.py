#!/usr/bin/env python3
"""Shows that shared_object.py notices each rule broken, on libraries built for the purpose."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import shared_object  # noqa: E402

GOOD = "int varve_one(void) { return 1; }\n"
GOOD_FLAGS = ["-Wl,-soname,libgood.so.1", "-Wl,-z,nodelete", "-Wl,-z,now", "-Wl,-z,relro"]


class SharedObject(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def problems(self, source=GOOD, flags=GOOD_FLAGS, extra=(), wanted=("varve_one",),
                 compiler=("cc", "-xc"), soname="libgood.so.1"):
        path = pathlib.Path(self.folder.name)
        (path / "source").write_text(source)
        library = path / "lib.so"
        subprocess.run([*compiler, "-fPIC", "-shared", str(path / "source"), "-xnone",
                        "-o", str(library), *flags, *extra], check=True)
        return shared_object.problems(str(library), soname, set(wanted))

    def assert_only(self, problems, text):
        self.assertEqual(len(problems), 1, problems)
        self.assertIn(text, problems[0])

    def test_good_library_has_no_problems(self):
        self.assertEqual(self.problems(), [])

    def test_extra_export(self):
        self.assert_only(self.problems(GOOD + "int leak(void) { return 2; }"), "exports leak")

    def test_missing_export(self):
        self.assert_only(self.problems(wanted=("varve_one", "varve_two")),
                         "does not export varve_two")

    def test_empty_list_of_exports(self):
        self.assert_only(self.problems(wanted=()), "nothing can be checked")

    def test_weak_export(self):
        self.assert_only(self.problems("__attribute__((weak)) " + GOOD), "weak symbol")

    def test_unique_export(self):
        source = ("int varve_one = 1;\n"
                  "__asm__(\".type varve_one, @gnu_unique_object\");\n")
        self.assert_only(self.problems(source), "unique symbol")

    def test_static_tls(self):
        source = ("static __thread int x __attribute__((tls_model(\"initial-exec\")));\n"
                  "int varve_one(void) { return ++x; }\n")
        self.assert_only(self.problems(source), "STATIC_TLS")

    def test_text_relocation(self):
        source = GOOD + "__asm__(\".text\\n.quad varve_one\\n\");\n"
        self.assert_only(self.problems(source, extra=["-Wl,-z,notext"]), "TEXTREL")

    def test_rpath(self):
        self.assert_only(self.problems(extra=["-Wl,-rpath,/opt/x", "-Wl,--disable-new-dtags"]),
                         "RPATH")

    def test_runpath(self):
        self.assert_only(self.problems(extra=["-Wl,-rpath,/opt/x", "-Wl,--enable-new-dtags"]),
                         "RUNPATH")

    def test_unloadable_without_nodelete(self):
        flags = [flag for flag in GOOD_FLAGS if "nodelete" not in flag]
        self.assert_only(self.problems(flags=flags), "NODELETE")

    def test_lazy_binding(self):
        flags = [flag for flag in GOOD_FLAGS if not flag.endswith(",now")]
        self.assert_only(self.problems(flags=[*flags, "-Wl,-z,lazy"]), "BIND_NOW")

    def test_no_relro(self):
        flags = [flag for flag in GOOD_FLAGS if not flag.endswith("relro")]
        self.assert_only(self.problems(flags=[*flags, "-Wl,-z,norelro"]), "RELRO")

    def test_executable_stack(self):
        self.assert_only(self.problems(extra=["-Wl,-z,execstack"]), "stack")

    def test_wrong_soname(self):
        self.assert_only(self.problems(soname="libgood.so.2"), "soname")

    def test_dynamic_libcrypto(self):
        source = ("const void *EVP_sha256(void);\n"
                  "const void *varve_one(void) { return EVP_sha256(); }\n")
        found = "\n".join(self.problems(source, extra=["-l:libcrypto.so.3"]))
        self.assertIn("needs libcrypto.so.3", found)
        self.assertIn("imports EVP_sha256", found)

    def test_dynamic_cxx_runtime(self):
        source = "#include <string>\nextern \"C\" void varve_one() { throw std::string(); }\n"
        found = "\n".join(self.problems(source, compiler=("c++", "-xc++")))
        self.assertIn("needs libstdc++.so.6", found)
        self.assertIn("imports __cxa_throw", found)

    def test_undefined_import(self):
        source = "int other(void);\nint varve_one(void) { return other(); }\n"
        self.assert_only(self.problems(source), "imports other")

    def test_missing_library_is_not_a_pass(self):
        with self.assertRaises(SystemExit) as caught:
            shared_object.problems("/nonexistent/lib.so", "x", {"varve_one"})
        self.assertEqual(caught.exception.code, 2)


if __name__ == "__main__":
    unittest.main()
