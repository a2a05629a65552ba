#!/usr/bin/env python3
"""A change of the ABI is a change of the raw layer of every language.

The dictionary of api.json, as it is, is changed in one place at a time: what each generator writes
must then differ from what it wrote before, or the generator must refuse the change.
"""
import copy
import importlib
import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "bindings"))
sys.dont_write_bytecode = True
from generator import model  # noqa: E402
from generator.source import HeaderError  # noqa: E402

API = model.read(ROOT)
LANGUAGES = {name: importlib.import_module(f"generator.{name}")
             for name in ("rust", "go", "node", "python")}
# Another type of the same shape, which no role of theirs excludes.
OTHER = {"size_t": "uint32_t", "int32_t": "int64_t", "uint32_t": "int32_t", "uint64_t": "int64_t",
         "int64_t": "int32_t", "double": "int32_t", "uint64_t *": "uint32_t *",
         "double *": "uint64_t *", "varve_status_t": "int64_t", "void": "int32_t"}


def written(language, api):
    """What a language's generator writes. That it refuses counts as a difference, too."""
    try:
        return LANGUAGES[language].files(api)
    except (HeaderError, LookupError) as refusal:  # LookupError: not even of the headers' grammar
        return {"refused": str(refusal)}
    except Exception as refusal:
        if type(refusal).__module__ != f"generator.{language}":
            raise
        return {"refused": str(refusal)}  # a class of its own


BEFORE = {language: written(language, API) for language in LANGUAGES}


class Changes(unittest.TestCase):
    def assert_all_noticed(self, changes, at_least):
        """`changes` are (what, function that changes an api in place)."""
        changes = list(changes)
        self.assertGreaterEqual(len(changes), at_least)
        for what, change in changes:
            api = copy.deepcopy(API)
            change(api)
            self.assertNotEqual(api, API, what)
            for language in LANGUAGES:
                self.assertTrue(written(language, api) != BEFORE[language],
                                f"{language} does not notice: {what}")

    def params(self):
        for index, function in enumerate(API["functions"]):
            for place, param in enumerate(function["params"]):
                yield index, place, param, f"{function['name']}: {param['name']}"

    def test_nothing_is_refused_today(self):
        for language, files in BEFORE.items():
            self.assertNotIn("refused", files, language)
            for path, text in files.items():
                self.assertEqual((ROOT / path).read_text(), text, path)

    def test_a_changed_type_of_a_parameter(self):
        # The second half of a text or an array is not a parameter of its own in every language.
        roles = ("in", "out")
        self.assert_all_noticed(
            ((f"{what} is another number", lambda api, i=i, p=p, t=OTHER[param["type"]]:
              api["functions"][i]["params"][p].update(type=t))
             for i, p, param, what in self.params()
             if param["role"] in roles and param["type"] in OTHER), 5)

    def test_another_handle(self):
        others = {"varve_session_t *": "varve_store_t *", "varve_store_t *": "varve_memory_t *"}
        self.assert_all_noticed(
            ((f"{what} is another handle", lambda api, i=i, p=p, t=others[param["type"]]:
              api["functions"][i]["params"][p].update(type=t))
             for i, p, param, what in self.params() if param["type"] in others), 40)

    def test_a_changed_result(self):
        self.assert_all_noticed(
            ((f"{function['name']} returns something else",
              lambda api, i=i, t=OTHER.get(function["returns"], "uint32_t"):
              api["functions"][i].update(returns=t))
             for i, function in enumerate(API["functions"]) if function["returns"] != "uint32_t"),
            60)

    def test_a_changed_order_of_parameters(self):
        def swap(api, i, p):
            params = api["functions"][i]["params"]
            params[p:p + 2] = reversed(params[p:p + 2])
        self.assert_all_noticed(
            ((f"{what} and the next swapped", lambda api, i=i, p=p: swap(api, i, p))
             for i, p, _, what in self.params() if p + 1 < len(API["functions"][i]["params"])),
            100)

    def test_a_changed_order_or_number_of_functions(self):
        def swap(api, i):
            api["functions"][i:i + 2] = reversed(api["functions"][i:i + 2])
        last = len(API["functions"]) - 1
        self.assert_all_noticed(
            [(f"function {i} and the next swapped", lambda api, i=i: swap(api, i))
             for i in range(0, last, 5)] +
            [(f"function {i} is gone", lambda api, i=i: api["functions"].pop(i))
             for i in range(0, last, 5)], 20)

    def test_a_changed_name(self):
        def rename(api, i):
            api["functions"][i]["name"] += "_2"
        self.assert_all_noticed(
            ((f"{function['name']} renamed", lambda api, i=i: rename(api, i))
             for i, function in enumerate(API["functions"])), 60)

    def test_a_changed_constant(self):
        def change(api, i, **members):
            api["constants"][i].update(members)
        self.assert_all_noticed(
            [(f"{c['name']} has another value", lambda api, i=i: change(api, i, value=1234))
             for i, c in enumerate(API["constants"])] +
            [(f"{c['name']} renamed", lambda api, i=i: change(api, i, name="VARVE_OTHER"))
             for i, c in enumerate(API["constants"])], 40)

    def test_a_missing_annotation(self):
        """Whose a text is decides who frees it: in Go and Node the raw layer itself, in Rust and
        Python the thin layer, whose calls are written by hand."""
        roles = {"owned_text": "borrowed_text", "borrowed_text": "owned_text"}
        changes = [(i, p, roles[param["role"]], what) for i, p, param, what in self.params()
                   if param["role"] in roles]
        self.assertGreater(len(changes), 25)
        for i, p, role, what in changes:
            api = copy.deepcopy(API)
            api["functions"][i]["params"][p]["role"] = role
            for language in ("go", "node"):
                self.assertTrue(written(language, api) != BEFORE[language], f"{language}: {what}")

    def test_a_changed_type_definition(self):
        self.assert_all_noticed(
            [(f"{entry['name']} is int16_t", lambda api, i=i: api["types"][i].update(
                {"as": "int16_t"})) for i, entry in enumerate(API["types"])
             if entry["kind"] == "integer"] +
            [(f"{entry['name']} returns uint32_t", lambda api, i=i: api["types"][i].update(
                returns="uint32_t")) for i, entry in enumerate(API["types"])
             if entry["kind"] == "callback"] +
            [(f"{entry['name']} has a parameter less", lambda api, i=i: api["types"][i][
                "params"].pop()) for i, entry in enumerate(API["types"])
             if entry["kind"] == "callback"], 6)


if __name__ == "__main__":
    unittest.main()
