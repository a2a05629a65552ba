"""README.md quotes the examples as they are, and what they print."""
import re

import pytest

import readme
from varve.errors import CLASSES
from varve import _raw

EXAMPLES = sorted(path.name for path in (readme.PACKAGE / "examples").glob("*.py"))


def test_every_example_is_quoted():
    assert len(EXAMPLES) == 5
    assert sorted(readme.quotes()) == EXAMPLES


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples(name):
    assert readme.quotes()[name] == readme.current(name), "run tests/readme.py --update"


def test_the_table_of_errors():
    rows = re.findall(r"^\| `(VARVE_\w+)` \| `(\w+)` \|", readme.README.read_text(), re.M)
    assert dict(rows) == {_raw.STATUS_NAMES[status]: cls.__name__
                          for status, cls in CLASSES.items()}
