#!/usr/bin/env python3
"""What the README of a language tells a newcomer to do works, word by word.

    newcomer_test.py LANGUAGE

bindings/package makes the language's package; then the first commands of its README are run in an
empty folder, and have to end with what the README says the first example prints; so does the last
command, which is the program, when it is given again. VARVE_LIBRARY names the library. Exits with
77 and one line when the language's tools are missing.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TOOLS = {"python": ["python3", "strip"], "node": ["node", "npm", "g++", "strip"],
         "rust": ["cargo", "strip"], "go": ["go", "strip"]}
COMMANDS = re.compile(r"^```sh\n(.*?)^```$", re.M | re.S)
PRINTS = re.compile(r"^<!-- prints -->\n```\w*\n(.*?)^```$|^prints `([^`]+)`", re.M | re.S)
COMMANDS_MAX = 3
PACKAGE_BYTES_MAX = 8 * 2**20  # with debug information the library alone is ten times as much


def environment(home):
    """What a newcomer has: nothing that tells where the library or a package is. The tools keep
    what they fetched, and npm needs nothing from elsewhere."""
    taken = ("VARVE_LIBRARY", "PYTHONPATH", "VIRTUAL_ENV", "CARGO_TARGET_DIR", "CGO_ENABLED")
    kept = {name: value for name, value in os.environ.items() if name not in taken}
    return {**kept, "VARVE": str(home), "npm_config_offline": "true", "npm_config_audit": "false",
            "npm_config_fund": "false"}


def main():
    language, = sys.argv[1:]
    missing = [tool for tool in TOOLS[language] if not shutil.which(tool)]
    if missing:
        print(f"the README of {language} is not tried: {', '.join(missing)} is missing")
        return 77
    readme = (ROOT / "bindings" / language / "README.md").read_text()
    commands = COMMANDS.search(readme)[1]
    prints = next(filter(None, PRINTS.search(readme).groups())).rstrip("\n")
    assert 0 < len(commands.splitlines()) <= COMMANDS_MAX, commands
    with tempfile.TemporaryDirectory(prefix="varve-newcomer-") as folder:
        home, project = pathlib.Path(folder) / "varve", pathlib.Path(folder) / "project"
        project.mkdir()
        home.mkdir()
        (home / "bindings").symlink_to(ROOT / "bindings")
        packages = home / "build/packages"
        subprocess.run([sys.executable, "-B", ROOT / "bindings/package", "--output", packages,
                        language], check=True)
        for path in packages.glob("*.*"):
            assert path.stat().st_size < PACKAGE_BYTES_MAX, f"{path.name}: {path.stat().st_size}"
        twice = commands + commands.splitlines()[-1]
        done = subprocess.run(["bash", "-e", "-o", "pipefail", "-c", twice], cwd=project,
                              env=environment(home), stdout=subprocess.PIPE, text=True)
        assert done.returncode == 0, f"{commands}\nended with {done.returncode}:\n{done.stdout}"
        told = done.stdout.rstrip("\n")
        assert ("\n" + told).endswith(f"\n{prints}\n{prints}"), f"{told}\nis not twice\n{prints}"
    print(f"{commands}{prints}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
