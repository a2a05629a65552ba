"""Finding the library, and what is said when it is not found or not fit."""
import os
import pathlib
import shutil
import subprocess

import pytest

import varve
from varve import _library, _raw

LIBRARY = varve.load()
ATTEMPT = """
import sys, varve
try:
    print("loaded", varve.load(*sys.argv[1:]), varve.library_version())
except varve.LibraryError as error:
    print(error)
    print(error.tried, error.abi_wanted, error.abi_found)
"""
WANTED = _raw.ABI_VERSION


def environment(**more):
    return {**os.environ, **{name: str(value) for name, value in more.items()}}


def shared_object(tmp_path, source):
    """A library made of a line of C."""
    (tmp_path / "made.c").write_text(source)
    path = tmp_path / "libmade.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", path, tmp_path / "made.c"], check=True)
    return path


@pytest.fixture
def package(tmp_path):
    """The package, alone in a folder, as if it had been installed there."""
    target = tmp_path / "site" / "varve"
    shutil.copytree(pathlib.Path(varve.__file__).parent, target,
                    ignore=shutil.ignore_patterns("__pycache__", "libvarve*"))
    return target


def told_by(run, *arguments, **more):
    return run(ATTEMPT, *arguments, env=environment(**more))


def test_a_missing_file(run, tmp_path):
    told = told_by(run, VARVE_LIBRARY=tmp_path / "none.so")
    assert f"{tmp_path}/none.so: no such file" in told
    assert f"ABI version {WANTED} wanted, none found" in told
    assert told.endswith(f" {WANTED} None\n")


def test_a_file_that_is_no_library(run, tmp_path):
    (tmp_path / "text.so").write_text("not a library")
    assert "text.so: " in told_by(run, VARVE_LIBRARY=tmp_path / "text.so")


def test_another_abi_version(run, tmp_path):
    path = shared_object(tmp_path, "unsigned varve_abi_version(void) { return 7; }")
    told = told_by(run, VARVE_LIBRARY=path)
    assert f"{path}: ABI version 7, {WANTED} is wanted" in told
    assert f"ABI version {WANTED} wanted, 7 found" in told
    assert told.endswith(f" {WANTED} 7\n")


def test_a_missing_symbol(run, tmp_path):
    path = shared_object(tmp_path, f"unsigned varve_abi_version(void) {{ return {WANTED}; }}")
    told = told_by(run, VARVE_LIBRARY=path)
    assert "a symbol is missing" in told and "varve_version" in told


def test_a_library_that_is_none_of_ours(run, tmp_path):
    path = shared_object(tmp_path, "int other(void) { return 0; }")
    assert "the symbol varve_abi_version is missing" in told_by(run, VARVE_LIBRARY=path)


def test_the_search_order(run, package, tmp_path):
    """Each place is looked at before the next; removing a library uncovers the one behind."""
    beside, above, named, given = (
        package / f"libvarve.so.{WANTED}", package.parent / "lib/libvarve.so",
        tmp_path / "named.so", tmp_path / "given.so")
    for path in (beside, above, named, given):
        path.parent.mkdir(exist_ok=True)
        shutil.copy(os.path.realpath(LIBRARY), path)
    site = {"PYTHONPATH": package.parent, "VARVE_LIBRARY": ""}
    assert told_by(run, given, **{**site, "VARVE_LIBRARY": named}).startswith(f"loaded {given} ")
    assert told_by(run, **{**site, "VARVE_LIBRARY": named}).startswith(f"loaded {named} ")
    assert told_by(run, **site).startswith(f"loaded {beside} ")
    beside.unlink()
    assert told_by(run, **site).startswith(f"loaded {above} ")
    above.unlink()
    shutil.copy(os.path.realpath(LIBRARY), tmp_path / f"libvarve.so.{WANTED}")
    assert told_by(run, **site, LD_LIBRARY_PATH=tmp_path).startswith(
        f"loaded libvarve.so.{WANTED} ")


def test_a_name_without_a_slash_is_of_a_file_in_the_working_directory(run, tmp_path):
    """And not of one that the system's loader knows."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    shared_object(tmp_path, "int nothing;").rename(elsewhere / "mine.so")
    shutil.copy(os.path.realpath(LIBRARY), tmp_path / "mine.so")
    there = f"import os\nos.chdir({str(tmp_path)!r})\n{ATTEMPT}"
    for arguments, named in ((["mine.so"], ""), ([], "mine.so")):
        told = run(there, *arguments,
                   env=environment(VARVE_LIBRARY=named, LD_LIBRARY_PATH=elsewhere))
        assert told.startswith("loaded ./mine.so "), told


def test_every_path_that_was_tried_is_listed(run, package):
    told = told_by(run, PYTHONPATH=package.parent, VARVE_LIBRARY="")
    for path in (package / f"libvarve.so.{WANTED}", package / "libvarve.so",
                 package.parent / f"lib/libvarve.so.{WANTED}", package.parent / "lib/libvarve.so"):
        assert f"  {path}: no such file\n" in told
    assert f"  libvarve.so.{WANTED}: " in told


def test_an_unfit_library_beside_the_package_is_passed_over(run, package, tmp_path):
    wrong = shared_object(tmp_path, "unsigned varve_abi_version(void) { return 7; }")
    shutil.copy(wrong, package / f"libvarve.so.{WANTED}")
    shutil.copy(os.path.realpath(LIBRARY), package / "libvarve.so")
    told = told_by(run, PYTHONPATH=package.parent, VARVE_LIBRARY="")
    assert told.startswith(f"loaded {package}/libvarve.so ")


def test_what_is_loaded_stays_loaded(tmp_path):
    assert varve.load(LIBRARY) == LIBRARY
    with pytest.raises(varve.LibraryError, match="is loaded already"):
        varve.load(tmp_path / "other.so")


def test_importing_the_package_loads_nothing(run):
    run("import varve, varve.aio\nfrom varve import _library\nassert _library._loaded is None",
        env=environment(VARVE_LIBRARY="/nowhere.so"))


def test_versions_agree():
    root = pathlib.Path(__file__).resolve().parents[3]
    header = (root / "include/varve/base.h").read_text()
    parts = [line.split()[2] for line in header.split("\n")
             if line.startswith("#define VARVE_VERSION_")]
    assert varve.__version__ == varve.library_version() == ".".join(parts)


def test_every_function_is_used_by_the_public_layer():
    source = "".join(path.read_text() for path in pathlib.Path(varve.__file__).parent.glob("*.py")
                     if path.name != "_raw.py")
    functions = [name for name in vars(_library.functions()) if name.startswith("varve_")]
    assert len(functions) > 40
    unused = {name for name in functions if name not in source}
    assert unused == {"varve_error_status"}, "a call's own answer is the status"
