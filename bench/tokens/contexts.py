#!/usr/bin/env python3
"""Contexts with the tokens that the built-in estimate gives them, one JSON object a line, for
compare.cjs.

    contexts.py --library build/release/libvarve.so SET [SET ...] > contexts.jsonl

SET is as in bench/retrieval/retrieval.py. A context is built for every question (or every
--step-th), of every budget, in two formats.
"""
import argparse
import pathlib
import sys
import json

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "retrieval"))
from retrieval import Varve, lines_of, load, text_in  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", type=pathlib.Path, nargs="+")
    parser.add_argument("--library", required=True, type=pathlib.Path)
    parser.add_argument("--budgets", default="500,2000")
    parser.add_argument("--step", type=int, default=5)
    options = parser.parse_args()
    varve = Varve(options.library)
    for directory in options.sets:
        store = varve.handle("varve_store_open", *text_in(b"memory:"),
                             *text_in({"storage": {"max_session_size_mb": 0}}))
        sessions = load(varve, store, directory)
        for question in lines_of(directory / "queries.jsonl")[::options.step]:
            for budget in map(int, options.budgets.split(",")):
                for form in ("markdown", "json"):
                    answer, _ = varve.context(sessions[question["session_id"]], {
                        "question": question["query"], "format": form,
                        "budget": {"max_tokens": budget}})
                    if answer["text"]:
                        print(json.dumps({"set": directory.name, "budget": budget, "format": form,
                                          "text": answer["text"],
                                          "estimate": answer["token_count"]}))
        varve.lib.varve_store_close(store)
    return 0


if __name__ == "__main__":
    sys.exit(main())
