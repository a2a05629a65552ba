"""Which random runs a model test makes: so many as its test needs, or those it is asked for."""

import sys


def take_seeds(usual_count):
    """Takes [SEEDS [FIRST]] from the program's arguments, which unittest would not understand."""
    first = int(sys.argv.pop()) if len(sys.argv) > 2 else 0
    count = int(sys.argv.pop()) if len(sys.argv) > 1 else usual_count
    return range(first, first + count)
