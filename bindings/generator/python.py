"""bindings/python/src/varve/_raw.py: constants, callback types and functions for ctypes."""
import re
import textwrap

INTEGERS = {"char": "c_char", "size_t": "c_size_t", "double": "c_double", "float": "c_float",
            **{f"{sign}int{bits}_t": f"c_{sign}int{bits}"
               for sign in ("", "u") for bits in (8, 16, 32, 64)}}


class _Types:
    """The ctypes expression for the C types of one api."""

    def __init__(self, api):
        self.entries = {entry["name"]: entry for entry in api["types"]}

    def base(self, name):
        entry = self.entries.get(name)
        if entry and entry["kind"] == "integer":
            return INTEGERS[entry["as"]]
        if entry and entry["kind"] == "handle":
            return "c_void_p"  # a token; looked at by the library only
        return name if entry else INTEGERS[name]

    def of(self, text):
        if text == "void":
            return "None"
        name, stars = text.replace("const ", "").rstrip("*").strip(), text.count("*")
        kind = self.entries.get(name, {}).get("kind")
        if text == "const char *":
            return "c_char_p"
        if name == "void" or (kind == "handle" and stars == 1):
            return "c_void_p"
        if name == "char" and stars == 2:
            return "POINTER(c_void_p)"
        inner = self.base(name)
        for _ in range(stars - 1 if kind == "handle" else stars):
            inner = f"POINTER({inner})"
        return inner

    def of_callback(self, params):
        """Text with a length stays an address: it may hold NULs."""
        for index, param in enumerate(params):
            sized = index + 1 < len(params) and params[index + 1]["type"] == "size_t"
            yield "c_void_p" if param["type"] == "const char *" and sized else self.of(
                param["type"])


def doc(text, indent=""):
    """A comment as the string that documents what stands before it."""
    if not text:
        return []
    quoted = text.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    if quoted.endswith('"'):
        quoted += " "
    lines = textwrap.indent(f'"""{quoted}"""', indent, lambda line: line.strip() != "")
    return lines.split("\n")


def constant_lines(api):
    for constant in api["constants"]:
        yield f"{constant['name']} = {constant['value']}"
        yield from doc(constant["doc"])
    names = [c["name"] for c in api["constants"] if c["type"] == "varve_status_t"]
    yield ""
    yield "STATUS_NAMES = {"
    yield from (f'    {name}: "{name}",' for name in names)
    yield "}"


def type_lines(api, types):
    for entry in api["types"]:
        if entry["kind"] == "callback":
            inside = ", ".join([types.of(entry["returns"]), *types.of_callback(entry["params"])])
            yield ""
            yield f"{entry['name']} = CFUNCTYPE({inside})"
            yield from doc(entry["doc"])
        elif entry["kind"] == "struct":
            fields = ", ".join(f'("{f["name"]}", {types.of(f["type"])})' for f in entry["fields"])
            yield ""
            yield f"class {entry['name']}(Structure):"
            yield from doc(entry["doc"], "    ")
            yield f"    _fields_ = [{fields}]"


def function_lines(api, types):
    for function in api["functions"]:
        inside = "".join(f"{types.of(param['type'])}, " for param in function["params"])
        name = function["name"]
        parameters = ", ".join(f"{param['type']} {param['name']}".replace("* ", "*")
                               for param in function["params"]) or "void"
        yield f"        self.{name} = _function("
        yield f'            library, "{name}", {types.of(function["returns"])},'
        yield f"            ({inside.strip()}))"
        declaration = f"{function['returns']} {name}({parameters})".replace("* ", "*")
        yield from doc(f"{declaration}\n\n{function['doc']}", "        ")


HEAD = '''"""The C ABI of varve for ctypes. Users have varve.Store and varve.Session instead."""
from __future__ import annotations

from ctypes import (IMPORTED)
from typing import Any, Callable
'''
MIDDLE = '''

def _function(library: CDLL, name: str, result: Any, parameters: tuple[Any, ...]
              ) -> Callable[..., Any]:
    """A function with its types; AttributeError names one that the library has not."""
    function = library[name]  # not shared with others who load the same file
    function.restype, function.argtypes = result, parameters
    return function


class Functions:
    """Every function of a loaded library."""

    def __init__(self, library: CDLL) -> None:
'''


def imported(body):
    """The names of ctypes that the text uses, in lines of their own."""
    names = sorted({"CDLL"} | set(re.findall(r"\b(c_\w+|POINTER|CFUNCTYPE|Structure)\b", body)))
    return textwrap.fill(", ".join(names), 96, subsequent_indent=" " * 20, initial_indent=" " * 20
                         ).strip()


def files(api):
    types = _Types(api)
    lines = [f"ABI_VERSION = {api['abi_version']}", f'VERSION = "{api["version"]}"', ""]
    lines += constant_lines(api)
    lines += type_lines(api, types)
    body = "\n".join(lines) + "\n" + MIDDLE + "\n".join(function_lines(api, types)) + "\n"
    return {"bindings/python/src/varve/_raw.py":
            f"# {api['generated']}\n{HEAD.replace('IMPORTED', imported(body))}\n{body}"}
