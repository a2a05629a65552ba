"""Puts the shared library into the wheel: the file that VARVE_LIBRARY names.

Without it a pure wheel is made, which looks for the library where README.md says.
"""
import os
import pathlib
import re
import shutil

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py

HERE = pathlib.Path(__file__).parent
RAW = (HERE / "src/varve/_raw.py").read_text()
VERSION = re.search(r'^VERSION = "(.*)"$', RAW, re.M)[1]
ABI_VERSION = re.search(r"^ABI_VERSION = (\d+)$", RAW, re.M)[1]
LIBRARY = os.environ.get("VARVE_LIBRARY")


class WithLibrary(build_py):
    def run(self):
        super().run()
        if LIBRARY:
            target = pathlib.Path(self.build_lib) / "varve" / f"libvarve.so.{ABI_VERSION}"
            shutil.copy(os.path.realpath(LIBRARY), target)


class WithoutCompiling(Distribution):
    """The files go where those of a platform go, though there is nothing to compile."""

    def has_ext_modules(self):
        return LIBRARY is not None


commands = {"build_py": WithLibrary}
if LIBRARY:
    try:
        from setuptools.command.bdist_wheel import bdist_wheel
    except ImportError:  # setuptools before 70.1
        from wheel.bdist_wheel import bdist_wheel

    class PlatformWheel(bdist_wheel):
        """For one platform, but any Python 3: nothing is compiled against Python."""

        def get_tag(self):
            return ("py3", "none", super().get_tag()[2])

    commands["bdist_wheel"] = PlatformWheel

setup(version=VERSION, cmdclass=commands, distclass=WithoutCompiling)
