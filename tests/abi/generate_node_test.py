#!/usr/bin/env python3
"""bindings/generator/node.py: what it writes for each role, and what it refuses to write."""
import copy
import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "bindings"))
sys.dont_write_bytecode = True
from generator import node  # noqa: E402
from generator.source import HeaderError  # noqa: E402

RAW, TYPES = "bindings/node/src/raw.cpp", "bindings/node/lib/raw.d.ts"
CONSTANTS, CONSTANT_TYPES = "bindings/node/lib/constants.js", "bindings/node/lib/constants.d.ts"


def param(name, c_type, role, nullable=False):
    return {"name": name, "type": c_type, "role": role, "nullable": nullable}


def callback(name, returns, *params):
    return {"name": name, "kind": "callback", "returns": returns, "doc": "",
            "params": [{"name": "user_data", "type": "void *"},
                       *({"name": n, "type": t} for n, t in params)]}


def function(name, returns, *params):
    return {"name": name, "header": "cup.h", "doc": f"What {name} does.", "returns": returns,
            "params": list(params)}


ERROR = param("error_out", "varve_error_t **", "error_out", True)
CUP = param("cup", "varve_cup_t *", "handle")
TELL = param("fn", "varve_tell_fn", "callback", True)
USER_DATA = param("user_data", "void *", "user_data", True)
SIZE, OPEN, FILL, LABEL, LISTEN, CLOSE = range(6)
API = {
    "abi_version": 3, "version": "1.2.3", "generated": "Generated",
    "types": [
        {"name": "varve_status_t", "kind": "integer", "as": "int32_t", "doc": "Outcome."},
        {"name": "varve_error_t", "kind": "handle", "doc": "One failure."},
        {"name": "varve_cup_t", "kind": "handle", "doc": "A cup."},
        callback("varve_tell_fn", "void", ("level", "int32_t"), ("text", "const char *"),
                 ("len", "size_t")),
        callback("varve_go_on_fn", "int32_t", ("done", "uint64_t")),
        callback("varve_now_fn", "int64_t"),
        callback("varve_measure_fn", "int32_t", ("word", "const char *"),
                 ("count_out", "uint64_t *"))],
    "constants": [
        {"name": "VARVE_CALLBACK", "value": 60, "type": "varve_status_t", "doc": "of yours"},
        {"name": "VARVE_ABI_VERSION", "value": 3, "type": None, "doc": ""},
        {"name": "VARVE_ALL", "value": 2**64 - 1, "type": "size_t", "doc": "all"}],
    "functions": [
        function("varve_cup_size", "size_t", CUP),
        function("varve_cup_open", "varve_status_t", param("id", "const char *", "text"),
                 param("id_len", "size_t", "length"),
                 param("cup_out", "varve_cup_t **", "handle_out"), ERROR),
        function("varve_cup_fill", "varve_status_t", CUP,
                 param("tea_json", "const char *", "text", True),
                 param("tea_len", "size_t", "length"), param("level", "int32_t", "in"),
                 param("most", "uint64_t", "in"), param("values", "const float *", "in"),
                 param("dimension", "uint32_t", "in"),
                 param("id_out", "char **", "owned_text", True),
                 param("id_len_out", "size_t *", "owned_length", True), ERROR),
        function("varve_cup_label", "varve_status_t", CUP,
                 param("text_out", "const char **", "borrowed_text"),
                 param("text_len_out", "size_t *", "borrowed_length"), ERROR),
        function("varve_cup_listen", "varve_status_t", CUP, TELL, USER_DATA, ERROR),
        function("varve_cup_close", "void", CUP)]}


def files(change=None):
    api = copy.deepcopy(API)
    if change:
        change(api)
    return node.files(api)


def params(index):
    """The parameters of a function, as a place in an api."""
    return lambda api: api["functions"][index]["params"]


class Written(unittest.TestCase):
    def setUp(self):
        self.files = files()

    def assert_holds(self, path, *parts):
        for part in parts:
            self.assertIn(part, self.files[path])

    def test_arguments_are_read_by_their_roles(self):
        self.assert_holds(
            RAW, 'cup = in.handle<varve_cup_t>(0, "cup");',
            'tea_json = in.text(1, "tea_json", true);', 'level = in.number<int32_t>(2, "level");',
            'most = in.number<uint64_t>(3, "most");', 'values = in.floats(4, "values");',
            'id = in.text(0, "id", false);',
            "varve_cup_fill(cup, tea_json.data(), tea_json.size(), level, most, values.data(), "
            "static_cast<uint32_t>(values.size()), &id_out.data, &id_out.size, &outcome.error)")

    def test_texts_are_owned_or_borrowed(self):
        self.assert_holds(RAW, "OwnedText id_out;", "BorrowedText text_out;")

    def test_what_an_abandoned_call_opened_is_closed(self):
        self.assert_holds(RAW, "void discard() { library.varve_cup_close(cup_out); }")

    def test_what_closes_forgets_the_callbacks(self):
        self.assert_holds(RAW, "forget_callbacks(env, cup);")

    def test_what_borrows_or_calls_back_has_no_variant_on_another_thread(self):
        for name, later in (("open", True), ("fill", True), ("close", True), ("size", False),
                            ("label", False), ("listen", False)):
            row = f"{'now_or_later' if later else 'only_now'}<Cup{name.capitalize()}>()"
            self.assertIn(row, self.files[RAW])
            self.assertEqual(f"varve_cup_{name}_async(" in self.files[TYPES], later, name)

    def test_a_callback_has_one_trampoline_of_its_kind(self):
        self.assert_holds(
            RAW, "void call_varve_tell_fn(void *user_data, int32_t level, const char *text, "
            "size_t len) {\n  CallbackCall call(user_data);\n"
            "  call.add(static_cast<double>(level));\n  call.add(text, len);\n  call.tell();\n}",
            "  call.add(static_cast<double>(done));\n  return call.hear();\n}",
            "  return call.ask<int64_t>();\n}",
            "  call.add(word);\n  return call.fill(count_out);\n}",
            'fn = in.callback(1, "fn", CallbackKind::notice, cup);',
            "fn.given() ? call_varve_tell_fn : nullptr, fn.user_data()")

    def test_types_say_what_may_be_left_out(self):
        self.assert_holds(
            TYPES, "varve_cup_size(cup: Handle | null): number | bigint;",
            "varve_cup_open(id: Text): Handle;",
            "varve_cup_open_async(id: Text, cancel_flag?: Int32Array | null): Promise<Handle>;",
            "varve_cup_fill(cup: Handle | null, tea_json: Text | null | undefined, level: number, "
            "most: number | bigint, values: Float32Array): string;",
            "export type varve_tell_fn = (level: number, text: string) => void;",
            "export type varve_go_on_fn = (done: number) => number | void;",
            "export type varve_now_fn = () => number | bigint;",
            "  /**\n   * What varve_cup_label does.\n   */\n  varve_cup_label(")

    def test_constants_that_a_double_cannot_hold_are_bigints(self):
        self.assert_holds(CONSTANTS, "export const VARVE_CALLBACK = 60;",
                          "export const VARVE_ALL = 18446744073709551615n;")
        self.assert_holds(CONSTANT_TYPES, "/**\n * all\n */\n"
                          "export declare const VARVE_ALL: 18446744073709551615n;")

    def test_every_symbol_is_looked_up(self):
        for each in API["functions"]:
            self.assert_holds(RAW, f'{{"{each["name"]}", reinterpret_cast<void **>('
                              f'&library.{each["name"]})}},')
        self.assert_holds(RAW, "const Module module = {symbols, functions, 3, 60};")

    def test_the_first_line_says_who_wrote_it(self):
        for path, text in self.files.items():
            self.assertTrue(text.startswith("// Generated by bindings/generate from "), path)


class Refused(unittest.TestCase):
    def refused(self, complaint, change):
        with self.assertRaisesRegex(HeaderError, f"generator/node.py: .*{complaint}"):
            files(change)

    def test_a_text_or_a_callback_without_what_follows_it(self):
        self.refused("varve_cup_fill: the length of tea_json", lambda api: params(FILL)(api).pop(2))
        self.refused("varve_cup_fill: the length of id_out", lambda api: params(FILL)(api).pop(8))
        self.refused("varve_cup_listen: the user_data of fn",
                     lambda api: params(LISTEN)(api).pop(2))

    def test_types_without_a_form(self):
        for kind in ("long", "float", "varve_pair_t"):
            self.refused(f"varve_cup_fill: cannot pass a {kind}",
                         lambda api, kind=kind: params(FILL)(api)[3].update(type=kind))
        self.refused("varve_cup_fill: cannot give a float", lambda api: params(FILL)(api).insert(
            9, param("weight_out", "float *", "out")))
        self.refused("varve_tell_fn: cannot pass float \\*", lambda api: api["types"][3][
            "params"].append({"name": "values", "type": "float *"}))
        self.refused("cannot pass tea_json of role bag",
                     lambda api: params(FILL)(api)[1].update(role="bag"))

    def test_more_than_it_has_room_for(self):
        self.refused("more than one out", lambda api: params(FILL)(api).insert(
            9, param("count_out", "uint64_t *", "out")))
        self.refused("more than 7 arguments", lambda api: params(FILL)(api).extend(
            param(f"more{number}", "int32_t", "in") for number in range(3)))

    def test_a_handle_that_nothing_closes(self):
        self.refused("nothing closes a varve_cup_t", lambda api: api["functions"].pop())


if __name__ == "__main__":
    unittest.main()
