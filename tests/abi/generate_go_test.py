#!/usr/bin/env python3
"""bindings/generator/go.py: what it writes for each role, and what it refuses to write."""
import copy
import importlib
import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "bindings"))
go = importlib.import_module("generator.go")


def param(name, c_type, role, nullable=False):
    return {"name": name, "type": c_type, "role": role, "nullable": nullable}


ERROR = param("error_out", "varve_error_t **", "error_out", True)
CALLBACK = {
    "name": "varve_tell_fn", "kind": "callback", "returns": "int32_t", "doc": "Tells.",
    "params": [{"name": "user_data", "type": "void *"}, {"name": "text", "type": "const char *"},
               {"name": "len", "type": "size_t"}, {"name": "word", "type": "const char *"},
               {"name": "count_out", "type": "uint64_t *"}]}
API = {
    "abi_version": 3, "version": "1.2.3",
    "types": [
        {"name": "varve_status_t", "kind": "integer", "as": "int32_t", "doc": "Outcome."},
        {"name": "varve_error_t", "kind": "handle", "doc": "One failure."},
        {"name": "varve_cup_t", "kind": "handle", "doc": "A cup."}, CALLBACK],
    "constants": [
        {"name": "VARVE_OK", "value": 0, "type": "varve_status_t", "doc": ""},
        {"name": "VARVE_COLD_TEA", "value": 9, "type": "varve_status_t", "doc": "not hot"},
        {"name": "VARVE_ALL", "value": 2**64 - 1, "type": "size_t", "doc": "all"},
        {"name": "VARVE_CUP_SIZE", "value": 4, "type": None, "doc": "a number"}],
    "functions": [
        {"name": "varve_cup_size", "header": "cup.h", "doc": "Size.", "returns": "size_t",
         "params": [param("cup", "varve_cup_t *", "handle", True)]},
        {"name": "varve_cup_fill", "header": "cup.h", "doc": "Fills.", "returns": "varve_status_t",
         "params": [
             param("cup", "varve_cup_t *", "handle"), param("tea_json", "const char *", "text"),
             param("tea_len", "size_t", "length"), param("level", "int32_t", "in"),
             param("values", "const float *", "in"), param("fn", "varve_tell_fn", "callback"),
             param("user_data", "void *", "user_data"),
             param("id_out", "char **", "owned_text"), param("id_len_out", "size_t *",
                                                             "owned_length"),
             param("score_out", "double *", "out"), param("next_out", "varve_cup_t **",
                                                          "handle_out"), ERROR]},
        {"name": "varve_cup_label", "header": "cup.h", "doc": "Label.", "returns": "const char *",
         "params": [param("cup", "varve_cup_t *", "handle")]}]}


def raw(api=API):
    return go.files(api)[go.RAW]


class Written(unittest.TestCase):
    def test_a_function_takes_and_gives_what_the_roles_say(self):
        self.assertIn(
            "func CupFill(cup Cup, teaJSON string, level int32, values *float32, fn uintptr, "
            "userData uintptr) (id []byte, score float64, next Cup, failure *Failure) {", raw())
        self.assertIn("uintptr(unsafe.Pointer(textData(teaJSON))), uintptr(len(teaJSON))", raw())
        self.assertIn("id = takeText(out.idOut, out.idLenOut)", raw())
        self.assertIn("return id, score, next, failureOf(Status(answer), out.errorOut)", raw())

    def test_a_borrowed_text_is_copied_and_not_freed(self):
        api = copy.deepcopy(API)
        for entry in api["functions"][1]["params"][7:9]:
            entry["role"] = entry["role"].replace("owned", "borrowed")
        self.assertIn("id = copyText(out.idOut, out.idLenOut)", raw(api))

    def test_a_text_that_is_returned_is_copied(self):
        self.assertIn("func CupLabel(cup Cup) string {", raw())
        self.assertIn("return textUntilNUL(pointerOf(answer))", raw())

    def test_a_callback_has_one_trampoline(self):
        self.assertIn("type TellFn func(text string, word string, countOut *uint64) int32", raw())
        self.assertEqual(raw().count("purego.NewCallback("), 1)
        self.assertIn("return fn(textOf(text, lenValue), textUntilNUL(word), countOut)", raw())

    def test_constants_and_statuses(self):
        self.assertIn("const ColdTea Status = 9\n", raw())
        self.assertIn("const All uint = ^uint(0)\n", raw())
        self.assertIn("const CupSizeConstant = 4\n", raw())  # there is a function of that name
        status = go.files(API)[go.STATUS]
        self.assertIn("// ErrColdTea is VARVE_COLD_TEA: not hot.\nconst ErrColdTea Status = 9\n",
                      status)
        self.assertNotIn("ErrOK", status)
        self.assertIn('9: "VARVE_COLD_TEA"', status)

    def test_versions_and_symbols(self):
        self.assertIn("const WantedABI = 3\n", raw())
        self.assertIn('const GeneratedFor = "1.2.3"\n', raw())
        for function in API["functions"]:
            self.assertIn(f'\t"{function["name"]}",\n', raw())

    def test_the_first_line_says_who_wrote_it(self):
        for path, text in go.files(API).items():
            self.assertRegex(text, r"^// Code generated by bindings/generate .* DO NOT EDIT\.\n",
                             path)

    def test_every_change_of_the_api_changes_the_text(self):
        for change in (lambda api: api["functions"].pop(), lambda api: api["constants"].pop(),
                       lambda api: api["functions"][1]["params"].pop(3),
                       lambda api: api["functions"][1]["params"][3].update(type="int64_t"),
                       lambda api: api["functions"][1]["params"][9].update(type="uint32_t *"),
                       lambda api: api["functions"].reverse(),
                       lambda api: api["types"][3].update(returns="int64_t")):
            api = copy.deepcopy(API)
            change(api)
            self.assertNotEqual(raw(api), raw())


class Refused(unittest.TestCase):
    def refused(self, change, complaint):
        api = copy.deepcopy(API)
        change(api)
        with self.assertRaisesRegex(go.GeneratorError, complaint):
            go.files(api)

    def test_floating_point_values_which_the_call_cannot_pass(self):
        self.refused(lambda api: api["functions"][1]["params"][3].update(type="double"),
                     "varve_cup_fill: level: a floating-point value")
        self.refused(lambda api: api["functions"][0].update(returns="double"), "floating-point")
        self.refused(lambda api: api["types"][3]["params"].append(
            {"name": "part", "type": "double"}), "varve_tell_fn: part")

    def test_what_has_no_form_in_go(self):
        self.refused(lambda api: api["types"][2].update(kind="struct"), "varve_cup_t.*struct")
        self.refused(lambda api: api["functions"][0].update(returns="varve_spoon_t"), "spoon")
        self.refused(lambda api: api["functions"][0].update(returns="void *"), "void")
        self.refused(lambda api: api["functions"][1]["params"].pop(2), "without its length")
        self.refused(lambda api: api["functions"][1]["params"].pop(8), "without its length")
        self.refused(lambda api: api["types"][3]["params"].pop(0), "user_data")
        self.refused(lambda api: api["functions"][1]["params"][4].update(type="float **"),
                     "pointer to a pointer")

    def test_an_api_without_statuses_has_no_errors(self):
        self.assertIn("const Err", go.files(API)[go.STATUS])
        api = copy.deepcopy(API)
        api.update(constants=api["constants"][3:])
        self.assertNotIn("const Err", go.files(api)[go.STATUS])


if __name__ == "__main__":
    unittest.main()
