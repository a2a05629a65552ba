"""The sources: types, and the oldest Python that is promised."""
import ast
import pathlib
import subprocess
import sys

import varve

PACKAGE = pathlib.Path(varve.__file__).parent
SOURCES = sorted(PACKAGE.glob("*.py"))


def test_the_syntax_is_that_of_python_3_9():
    assert len(SOURCES) > 8
    for path in SOURCES:
        ast.parse(path.read_text(), feature_version=(3, 9))


def mypy(tmp_path, *paths):
    project = pathlib.Path(__file__).resolve().parent.parent / "pyproject.toml"
    return subprocess.run(
        [sys.executable, "-m", "mypy", f"--config-file={project}", f"--cache-dir={tmp_path}",
         *map(str, paths)], capture_output=True, text=True)


def test_types_are_whole(tmp_path):
    done = mypy(tmp_path, PACKAGE)
    assert done.returncode == 0, done.stdout


def test_users_of_the_package_are_checked(tmp_path):
    """py.typed is there: a wrong use of a method is an error for its user."""
    (tmp_path / "vectors.py").write_text(
        "from typing import Any\n"
        "class Numpy:\n"
        "    'An array: of a Sequence it has no index, no count and no reversed.'\n"
        "    def __len__(self) -> int: return 1\n"
        "    def __iter__(self) -> Any: return iter([0.5])\n"
        "    def __contains__(self, number: object) -> bool: return number == 0.5\n")
    user = tmp_path / "user.py"
    user.write_text("import collections.abc, datetime, varve, varve.aio\n"
                    "from vectors import Numpy\n"
                    "session: varve.Session\nother: varve.aio.Session\n"
                    "async def use() -> None:\n"
                    "    number: int = session.count(limit=1)\n"
                    "    later: int = await other.count()\n"
                    "    wrong: int = session.add({})\n"
                    "    also_wrong: int = await other.add({})\n"
                    "    some: list[varve.Result] = session.query()[:3]\n"
                    "    one: varve.Result = next(session.find(vector=[0.5]))\n"
                    "    options: varve.SessionOptions = {'if_exists': 'open'}\n"
                    "    session.store.session('s', options, user_id='ann')\n"
                    "    async for result in other.find(): one = result\n"
                    "    now = datetime.datetime.now(datetime.timezone.utc)\n"
                    "    given: varve.NewEntry = {'type': 'x', 'content': 1, 'timestamp': now}\n"
                    "    asked: varve.Query = {'time': {'start': now, 'end': now}, 'now': now}\n"
                    "    conditions = {'types': ['finding']}\n"
                    "    session.delete_where(conditions) + session.delete_where(asked)\n"
                    "    stored: varve.Entry = session.get(session.add(given))\n"
                    "    session.add(stored)\n"
                    "    config: varve.StoreConfig = {'concurrency': {'exclusive': True}}\n"
                    "    store = varve.Store('memory:', config, threads=2)\n"
                    "    request: varve.ContextRequest = {'budget': {'max_tokens': 5}}\n"
                    "    name: str = session.build_context(request)['items'][0]['source']\n"
                    "    name = store.usage({'user_id': 'ann'})['days'][0]['day']\n"
                    "    which: varve.UsageFilter = {'time': {'start': now}}\n"
                    "    number = store.usage(which)['total']['input_tokens']\n"
                    "    dry: varve.CompactOptions = {'dry_run': True}\n"
                    "    number = session.compact(dry)['dropped']['evicted']\n"
                    "    number = (await other.stats())['size_bytes']['vectors']\n"
                    "    stats = session.stats()\n"
                    "    stats['sizes']\n"
                    "    found: collections.abc.Sequence[varve.Result] = session.query()\n"
                    "    asked = {'vector': Numpy()}\n"
                    "    bad: varve.StoreConfig = {'concurrency': {'exclusiv': True}}\n")
    done = mypy(tmp_path, user)
    wrong = [8, 9, 33, 36]
    assert done.stdout.count("error:") == len(wrong), done.stdout
    assert all(f"user.py:{line}: error" in done.stdout for line in wrong), done.stdout
