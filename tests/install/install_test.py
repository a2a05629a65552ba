#!/usr/bin/env python3
"""Installs a build, moves the installed tree, and builds and runs outside programs against it:
in C and C++, by pkg-config and by find_package, shared and static."""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
CONSUMER = HERE / "consumer"
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]
OPTIONS = None
LANGUAGES = {"C": "remember.c", "CXX": "remember_cxx.cpp"}


def run(command, expect=0, **environment):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True,
                          env={**os.environ, **{k: str(v) for k, v in environment.items()}})
    if (done.returncode == 0) != (expect == 0):
        raise AssertionError(f"{' '.join(map(str, command))} exited with {done.returncode}\n"
                             f"{done.stdout}{done.stderr}")
    return done.stdout


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.top = pathlib.Path(folder.name)
        cls.first = cls.top / "first"
        run([OPTIONS.cmake, "--install", OPTIONS.build, "--prefix", cls.first])
        cls.prefix = cls.top / "elsewhere/deeper/second"
        cls.prefix.parent.mkdir(parents=True)
        shutil.move(cls.first, cls.prefix)
        cls.libdir = next(cls.prefix.rglob("libvarve.so")).parent
        # A prefix without the shared library, where -lvarve can only mean libvarve.a.
        cls.static_prefix = cls.top / "static"
        shutil.copytree(cls.prefix, cls.static_prefix, symlinks=True)
        for path in cls.static_prefix.rglob("libvarve.so*"):
            path.unlink()

    def build_folder(self):
        return pathlib.Path(tempfile.mkdtemp(dir=self.top))

    def run_consumer(self, program, shared):
        needed = run(["readelf", "-d", program])
        self.assertEqual(f"libvarve.so.{OPTIONS.abi}" in needed, shared)
        output = run([program], LD_LIBRARY_PATH=self.libdir if shared else "")
        self.assertIn(f"varve {OPTIONS.version} remembers ", output)

    def pkg_config(self, prefix, *arguments):
        path = next(prefix.rglob("varve.pc")).parent
        return run(["pkg-config", *arguments], PKG_CONFIG_PATH=path).split()

    def link(self, language, flags):
        compiler = [OPTIONS.cc, "-std=c99"] if language == "C" else [OPTIONS.cxx, "-std=c++11"]
        program = self.build_folder() / "remember"
        run([*compiler, *WARNINGS, CONSUMER / LANGUAGES[language], "-o", program, *flags])
        return program

    def by_pkg_config(self, language, shared):
        package = "varve" if shared else "varve-static"
        flags = self.pkg_config(self.prefix, "--cflags", "--libs", package)
        self.run_consumer(self.link(language, flags), shared)

    def by_find_package(self, language, shared):
        build = self.build_folder()
        run([OPTIONS.cmake, "-S", CONSUMER, "-B", build, "-GNinja",
             f"-DCMAKE_PREFIX_PATH={self.prefix}", f"-DCONSUMER_LANGUAGE={language}",
             f"-DCONSUMER_TARGET={'varve' if shared else 'varve_static'}",
             f"-DCONSUMER_VERSION={OPTIONS.version}",
             f"-DCMAKE_C_COMPILER={OPTIONS.cc}", f"-DCMAKE_CXX_COMPILER={OPTIONS.cxx}"])
        run([OPTIONS.cmake, "--build", build])
        self.run_consumer(build / "remember", shared)

    def test_c_by_pkg_config_shared(self):
        self.by_pkg_config("C", shared=True)

    def test_c_by_pkg_config_static(self):
        self.by_pkg_config("C", shared=False)

    def test_cxx_by_pkg_config_shared(self):
        self.by_pkg_config("CXX", shared=True)

    def test_cxx_by_pkg_config_static(self):
        self.by_pkg_config("CXX", shared=False)

    def test_the_classes_for_cxx_need_cxx20_and_say_so(self):
        example = ROOT / "examples/tool_calls.cpp"
        flags = self.pkg_config(self.prefix, "--cflags", "--libs", "varve")
        program = self.build_folder() / "tool_calls"
        run([OPTIONS.cxx, "-std=c++20", *WARNINGS, example, "-o", program, *flags])
        self.assertIn("Why wait?", run([program], LD_LIBRARY_PATH=self.libdir))
        old = subprocess.run([OPTIONS.cxx, "-std=c++17", "-fsyntax-only", example, *flags],
                             capture_output=True, text=True)
        self.assertNotEqual(old.returncode, 0)
        errors = [line for line in old.stderr.splitlines() if " error: " in line]
        self.assertIn("varve.hpp needs C++20: -std=c++20", errors[0])
        in_headers = [line for line in errors if line.startswith(str(self.prefix))]
        self.assertEqual(in_headers, errors[:1])

    def example(self, header, first, last):
        """The program in the comment that a header begins with."""
        (path,) = self.prefix.rglob(header)
        comment = path.read_text().split("#ifndef")[0]
        lines = re.findall(r"^(?: \*|//)   (.*)$", comment, re.MULTILINE)
        begin = next(i for i, line in enumerate(lines) if line.startswith(first))
        return "\n".join(lines[begin:lines.index(last, begin) + 1])

    def run_example(self, compiler, suffix, includes, body):
        folder = self.build_folder()
        source = folder / f"example{suffix}"
        source.write_text("\n".join([*(f"#include <{name}>" for name in includes),
                                     "int main(void) {", body, "return 0;", "}", ""]))
        flags = self.pkg_config(self.prefix, "--cflags", "--libs", "varve")
        run([*compiler, *WARNINGS, source, "-o", folder / "example", *flags])
        done = subprocess.run([folder / "example"], cwd=folder, capture_output=True, text=True,
                              env={**os.environ, "LD_LIBRARY_PATH": str(self.libdir)})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def test_the_example_of_the_umbrella_finds_what_it_added(self):
        body = self.example("varve.h", "varve_store_t *", "varve_store_close(store);")
        shown = self.run_example([OPTIONS.cc, "-std=c99"], ".c", ["stdio.h", "varve/varve.h"], body)
        self.assertIn('"type":"finding"', shown)

    def test_the_example_of_the_classes_finds_what_it_added(self):
        last = "for (std::string_view entry : found.entries()) std::cout << entry << '\\n';"
        body = self.example("varve.hpp", "varve::Store", last)
        shown = self.run_example([OPTIONS.cxx, "-std=c++20"], ".cpp",
                                 ["iostream", "varve/varve.hpp"], body)
        self.assertIn('"type":"finding"', shown)

    def test_pkg_config_static_where_there_is_only_that(self):
        flags = self.pkg_config(self.static_prefix, "--static", "--cflags", "--libs", "varve")
        self.run_consumer(self.link("C", flags), shared=False)

    def test_pkg_config_tells_where_the_loader_is_to_look(self):
        flags = self.pkg_config(self.prefix, "--cflags", "--libs", "varve")
        (place,) = self.pkg_config(self.prefix, "--variable=libdir", "varve")
        program = self.link("C", [*flags, f"-Wl,-rpath,{place}"])
        self.assertIn("remembers", run([program], LD_LIBRARY_PATH=""))

    def test_c_by_find_package_shared(self):
        self.by_find_package("C", shared=True)

    def test_c_by_find_package_static(self):
        self.by_find_package("C", shared=False)

    def test_cxx_by_find_package_shared(self):
        self.by_find_package("CXX", shared=True)

    def test_cxx_by_find_package_static(self):
        self.by_find_package("CXX", shared=False)

    def test_c_static_in_a_project_that_has_varve_in_a_folder(self):
        project = self.build_folder()
        (project / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.25)\nproject(outside LANGUAGES C)\n"
            f"add_subdirectory({ROOT} varve EXCLUDE_FROM_ALL)\n"
            f"add_executable(remember {CONSUMER / 'remember.c'})\n"
            "target_link_libraries(remember PRIVATE varve::varve_static)\n")
        build = project / "build"
        run([OPTIONS.cmake, "-S", project, "-B", build, "-GNinja",
             f"-DCMAKE_C_COMPILER={OPTIONS.cc}", f"-DCMAKE_CXX_COMPILER={OPTIONS.cxx}"])
        # How that project is built is its own business, also when it is configured once more.
        cache = (build / "CMakeCache.txt").read_text()
        self.assertEqual(re.findall(r"^CMAKE_BUILD_TYPE:STRING=(.*)$", cache, re.M), [""])
        self.assertNotIn("varve_cli", run(["ninja", "-C", build, "-t", "targets", "all"]))
        # The library is there already, and takes minutes to build.
        shutil.copy(pathlib.Path(OPTIONS.build, "libvarve.a"), build / "varve/libvarve.a")
        commands = run(["ninja", "-C", build, "-t", "commands", "remember"]).splitlines()
        for command in [command for command in commands if "remember.c.o" in command]:
            run(["sh", "-c", f"cd '{build}' && {command}"])
        self.run_consumer(build / "remember", shared=False)

    def configure_without(self, pattern, *arguments, expect=0):
        """A project that finds varve where a distribution put one of the libraries elsewhere."""
        prefix = self.build_folder() / "prefix"
        shutil.copytree(self.prefix, prefix, symlinks=True)
        for path in prefix.rglob(pattern):
            path.unlink()
        project = self.build_folder()
        (project / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.25)\nproject(outside LANGUAGES C)\n"
            f"find_package(varve REQUIRED {' '.join(arguments)})\n"
            "foreach(name IN ITEMS varve varve_static)\n  if(TARGET varve::${name})\n"
            "    message(STATUS \"there is ${name}.\")\n  endif()\nendforeach()\n")
        done = subprocess.run(
            [OPTIONS.cmake, "-S", project, "-B", project / "build", "-GNinja",
             f"-DCMAKE_PREFIX_PATH={prefix}", f"-DCMAKE_C_COMPILER={OPTIONS.cc}"],
            capture_output=True, text=True)
        self.assertEqual(done.returncode == 0, expect == 0, done.stdout + done.stderr)
        return re.findall(r"there is (\w+)\.", done.stdout), " ".join(done.stderr.split())

    def test_find_package_offers_what_a_distribution_kept(self):
        self.assertEqual(self.configure_without("no such file")[0], ["varve", "varve_static"])
        self.assertEqual(self.configure_without("libvarve.a")[0], ["varve"])
        self.assertEqual(self.configure_without("libvarve.so*")[0], ["varve_static"])

    def test_find_package_knows_the_libraries_as_components(self):
        found, _ = self.configure_without("no such file", "COMPONENTS shared static")
        self.assertEqual(found, ["varve", "varve_static"])
        _, why = self.configure_without("libvarve.a", "COMPONENTS static", expect=1)
        self.assertIn("the static library is not installed", why)
        _, why = self.configure_without("no such file", "COMPONENTS dynamic", expect=1)
        self.assertIn("there is no component dynamic", why)

    def configure_varve(self, *arguments, build=None):
        """varve itself, in a folder of its own: (the exit code, what was told)"""
        done = subprocess.run(
            [OPTIONS.cmake, "-S", ROOT, "-B", build or self.build_folder(), "-GNinja",
             "-DVARVE_BUILD_TESTS=OFF", f"-DCMAKE_C_COMPILER={OPTIONS.cc}",
             f"-DCMAKE_CXX_COMPILER={OPTIONS.cxx}", *arguments], capture_output=True, text=True)
        return done.returncode, " ".join((done.stdout + done.stderr).split())

    def test_all_that_is_missing_is_told_at_once(self):
        nowhere = [f"-DCMAKE_FIND_ROOT_PATH={self.build_folder()}",
                   "-DCMAKE_FIND_ROOT_PATH_MODE_INCLUDE=ONLY",
                   "-DCMAKE_FIND_ROOT_PATH_MODE_LIBRARY=ONLY"]
        library = ["OpenSSL: openssl/sha.h, libcrypto.a", "utf8proc: utf8proc.h, libutf8proc.a",
                   "Snowball: libstemmer.h, libstemmer.a", "Boost 1.81 or later: boost/json.hpp",
                   "xxHash: xxhash.h"]
        program = "CLI11, for the command line (VARVE_BUILD_CLI): CLI/CLI.hpp"
        code, told = self.configure_varve(*nowhere)
        self.assertNotEqual(code, 0)
        for name in (*library, program):
            self.assertIn(name, told)
        code, told = self.configure_varve(
            *nowhere, "-DVARVE_BUILD_CLI=OFF", "-DVARVE_XXHASH_INCLUDE_DIR=/usr/include")
        self.assertNotEqual(code, 0)
        self.assertEqual([name for name in (*library, program) if name in told], library[:-1])

    def commands(self, target, *arguments):
        """By which commands a build configured with these arguments makes the target."""
        build = self.build_folder()
        code, told = self.configure_varve(*arguments, build=build)
        self.assertEqual(code, 0, told)
        return run(["ninja", "-C", build, "-t", "commands", target])

    def test_a_level_of_fortification_that_was_asked_for_stays(self):
        def levels(*arguments):
            compiled = self.commands("libvarve_base.a", "-DVARVE_BUILD_CLI=OFF",
                                     "-DCMAKE_BUILD_TYPE=Release", *arguments)
            return set(re.findall(r"-[UD]_FORTIFY_SOURCE\S*", compiled))

        self.assertEqual(levels(), {"-U_FORTIFY_SOURCE", "-D_FORTIFY_SOURCE=2"})
        self.assertEqual(levels("-DCMAKE_CXX_FLAGS=-O2 -D_FORTIFY_SOURCE=3"),
                         {"-D_FORTIFY_SOURCE=3"})

    def test_what_it_is_built_from_may_be_shared(self):
        cache = pathlib.Path(OPTIONS.build, "CMakeCache.txt").read_text()
        same = re.findall(r"^CMAKE_(?:BUILD_TYPE|UNITY_BUILD(?:_BATCH_SIZE)?):\w+=.*$", cache, re.M)
        commands = self.commands("libvarve.so", "-DVARVE_SHARED_DEPENDENCIES=ON",
                                 "-DVARVE_BUILD_CLI=OFF", *(f"-D{entry}" for entry in same))
        built = f" -o libvarve.so.{OPTIONS.abi}.{OPTIONS.version} "
        (command,) = [line for line in commands.splitlines() if built in line]
        folder = self.build_folder()
        library = folder / f"libvarve.so.{OPTIONS.abi}"
        # The objects are there already, and take minutes to build.
        run(["sh", "-c", f"cd '{OPTIONS.build}' && " + command.replace(built, f" -o {library} ")])
        needed = run(["readelf", "-d", library])
        for each in ("crypto", "utf8proc", "stemmer", "stdc++"):
            self.assertIn(f"Shared library: [lib{each}.so", needed)
        flags = self.pkg_config(self.prefix, "--cflags", "--libs", "varve")
        program = self.link("C", flags)
        self.assertIn("remembers", run([program], LD_LIBRARY_PATH=folder))

    def test_the_program_finds_the_library_wherever_each_is_put(self):
        for places, wanted in (({"LIBDIR": "lib64"}, "$ORIGIN/../lib64"),
                               ({"LIBDIR": "lib/some-linux-gnu"}, "$ORIGIN/../lib/some-linux-gnu"),
                               ({"LIBDIR": "/other/lib"}, "/other/lib"),
                               ({"LIBDIR": "lib", "BINDIR": "/other/bin"}, "/some/prefix/lib")):
            build = self.build_folder()
            code, told = self.configure_varve(
                "-DCMAKE_INSTALL_PREFIX=/some/prefix",
                *(f"-DCMAKE_INSTALL_{name}={place}" for name, place in places.items()), build=build)
            self.assertEqual(code, 0, told)
            steps = (build / "src/cli/cmake_install.cmake").read_text()
            (found,) = set(re.findall(r'NEW_RPATH "(.*)"', steps))
            self.assertEqual(found.replace("\\$", "$"), wanted, places)

    def test_find_package_refuses_another_version(self):
        run([OPTIONS.cmake, "-S", CONSUMER, "-B", self.build_folder(), "-GNinja",
             f"-DCMAKE_PREFIX_PATH={self.prefix}", "-DCONSUMER_LANGUAGE=C",
             "-DCONSUMER_TARGET=varve", "-DCONSUMER_VERSION=99.0"], expect=1)

    def test_find_package_takes_no_later_version_that_may_differ(self):
        """Before 1.0 a release may break the ABI, and the C++ header's interface."""
        major, minor, patch = map(int, OPTIONS.version.split("."))
        asked = f"{major}.{minor}"
        for later, is_taken in ((f"{asked}.{patch + 1}", True),
                                (f"{major}.{minor + 1}.0", major > 0), (f"{major + 1}.0.0", False)):
            prefix = self.build_folder() / "prefix"
            shutil.copytree(self.prefix, prefix, symlinks=True)
            (told,) = prefix.rglob("varve-config-version.cmake")
            told.write_text(told.read_text().replace(OPTIONS.version, later))
            run([OPTIONS.cmake, "-S", CONSUMER, "-B", self.build_folder(), "-GNinja",
                 f"-DCMAKE_PREFIX_PATH={prefix}", "-DCONSUMER_LANGUAGE=C",
                 f"-DCMAKE_C_COMPILER={OPTIONS.cc}", "-DCONSUMER_TARGET=varve",
                 f"-DCONSUMER_VERSION={asked}"], expect=0 if is_taken else 1)

    def test_pkg_config_tells_the_version(self):
        self.assertEqual(self.pkg_config(self.prefix, "--modversion", "varve"), [OPTIONS.version])

    def test_no_text_file_holds_a_path_of_this_machine(self):
        checked = 0
        for path in self.prefix.rglob("*"):
            if path.suffix in (".pc", ".cmake", ".h", ".hpp"):
                checked += 1
                text = path.read_text()
                for place in (self.first, ROOT, OPTIONS.build):
                    self.assertNotIn(str(place), text, path)
        self.assertGreater(checked, 5)

    def test_every_public_header_is_installed(self):
        wanted = {path.name for path in (ROOT / "include/varve").iterdir()}
        found = {path.name for path in (self.prefix / "include/varve").iterdir()}
        self.assertEqual(found, wanted)

    def test_documents_and_completions_are_installed(self):
        wanted = {"LICENSE": "LICENSE", "LICENSE.third-party": "LICENSE.third-party",
                  "docs/man/varve.1": "varve.1",
                  "src/cli/completions/varve.bash": "bash-completion/completions/varve",
                  "src/cli/completions/_varve": "site-functions/_varve",
                  "src/cli/completions/varve.fish": "vendor_completions.d/varve.fish"}
        installed = [str(path) for path in self.prefix.rglob("*")]
        for source, target in wanted.items():
            if (ROOT / source).exists():
                self.assertTrue(any(path.endswith("/" + target) for path in installed), target)

    def test_program_runs_where_it_was_moved_to(self):
        program = self.prefix / "bin/varve"
        if not (ROOT / "src/cli/CMakeLists.txt").exists():
            self.skipTest("there is no src/cli")
        self.assertIn(OPTIONS.version, run([program, "--version"], LD_LIBRARY_PATH=""))


def main():
    global OPTIONS
    parser = argparse.ArgumentParser()
    for name in ("build", "version", "abi", "cc", "cxx", "cmake"):
        parser.add_argument(f"--{name}", required=True)
    OPTIONS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    main()
