"""Builds the wheel, installs it into a new environment, and runs README's first example there.

    python packaging_check.py FOLDER
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import zipfile

import readme

FIRST = "remember_and_recall.py"
LIBRARY_BYTES_MAX = 16 * 2**20  # with debug information five times as much


def built(folder):
    """The wheel, made from a copy of the sources, so that nothing is left among them."""
    subprocess.run([sys.executable, "-B", readme.PACKAGE.parent / "package", "--output", folder,
                    "python"], check=True, stdout=subprocess.DEVNULL)
    wheel, = folder.glob("*.whl")
    return wheel


def check_contents(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    sources = {f"varve/{path.name}" for path in (readme.PACKAGE / "src/varve").glob("*.py")}
    inside = {name for name in names if name.startswith("varve/")}
    wanted = sources | {"varve/py.typed", "varve/libvarve.so.1"}
    assert inside == wanted, f"{sorted(inside ^ wanted)} is missing or too much"
    library = zipfile.ZipFile(wheel).getinfo("varve/libvarve.so.1")
    assert library.file_size < LIBRARY_BYTES_MAX, f"{library.file_size} bytes: is it stripped?"
    for each in ("LICENSE", "LICENSE.third-party"):
        assert any(name.endswith(f"/{each}") for name in names), f"{each} is not in the wheel"
    assert "-py3-none-linux_" in wheel.name, f"{wheel.name} is not for one platform"


def check_sources(folder):
    """What `setup.py sdist` packs is what a distribution builds from."""
    copy = folder / "sources"
    shutil.copytree(readme.PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    subprocess.run([sys.executable, "setup.py", "-q", "sdist"], cwd=copy, check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    packed, = (copy / "dist").glob("*.tar.gz")
    names = [name.partition("/")[2] for name in tarfile.open(packed).getnames()]
    for each in ("LICENSE", "README.md", "pyproject.toml", "setup.py", "src/varve/py.typed"):
        assert each in names, f"{each} is not in {packed.name}"
    licence = (readme.PACKAGE / "LICENSE").read_text()
    assert licence == (readme.PACKAGE.parent.parent / "LICENSE").read_text(), "another licence"


def run_example(folder, wheel):
    """As a newcomer does: an environment, the wheel, the example; no path to the library."""
    quiet = {name: value for name, value in os.environ.items()
             if name not in ("VARVE_LIBRARY", "PYTHONPATH", "VIRTUAL_ENV")}
    python = folder / "venv/bin/python"
    subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True, env=quiet)
    subprocess.run([python, "-m", "pip", "install", "--quiet", "--no-index", wheel], check=True,
                   env=quiet)
    project = folder / "project"
    project.mkdir()
    program, printed = readme.quotes()[FIRST]
    (project / FIRST).write_text(program)
    done = subprocess.run([python, FIRST], cwd=project, env=quiet, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout == printed, done.stdout
    where = subprocess.run([python, "-c", "import varve; print(varve.load())"], env=quiet,
                           cwd=project, capture_output=True, text=True).stdout.strip()
    assert where == str(next((folder / "venv").rglob("libvarve.so.1"))), where


def main():
    folder = pathlib.Path(sys.argv[1]).resolve()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    wheel = built(folder)
    check_contents(wheel)
    check_sources(folder)
    run_example(folder, wheel)
    print(f"{wheel.name}: built, installed, and its example run")


if __name__ == "__main__":
    main()
