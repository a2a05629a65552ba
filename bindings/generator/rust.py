"""The raw layer of the Rust crate: one struct of function pointers, filled when it is loaded.

Nothing of the API is named here: another header gives another raw.rs.
"""
import re

PATH = "bindings/rust/src/raw.rs"
NUMBERS = {
    "int8_t": "i8", "int16_t": "i16", "int32_t": "i32", "int64_t": "i64",
    "uint8_t": "u8", "uint16_t": "u16", "uint32_t": "u32", "uint64_t": "u64",
    "size_t": "usize", "int": "i32", "float": "f32", "double": "f64",
    "char": "c_char", "void": "c_void"}
RESERVED = set(
    "as async await box break const continue crate do dyn else enum extern final fn for gen if "
    "impl in let loop match mod move mut override priv pub ref return self static struct super "
    "trait try type typeof unsafe use virtual where while yield".split())
TYPE = re.compile(r"(?P<const>const )?(?P<name>\w+)\s*(?P<stars>\**)")

HEAD = """\
//! The C functions as they are: unsafe, unchecked, complete. [`Api`] has one function pointer for
//! each of them. The rest of this crate is made of these; it is here for what it does not cover.
#![allow(non_camel_case_types)]

use std::ffi::{c_char, c_void, CStr};
use std::marker::{PhantomData, PhantomPinned};
use std::mem::transmute;
"""

LOAD_DOC = """\
    /// Resolves every function; the first that is missing ends it with what `symbol` answered.
    ///
    /// # Safety
    /// `symbol` gives the address of the function of that name in a libvarve of this ABI version,
    /// which stays loaded for as long as the result or a copy of it is used.
"""


class Unsupported(Exception):
    """The dictionary has something that this module does not know how to say in Rust."""


def identifier(name):
    return "r#" + name if name in RESERVED else name


def doc(text, indent=""):
    """The header's comment, kept as it is laid out there: it is no Markdown."""
    lines = (text or "").strip("\n").split("\n")
    if not any(line.strip() for line in lines):
        return ""
    fenced = ["```text", *lines, "```"]
    return "".join(f"{indent}/// {line}".rstrip() + "\n" for line in fenced)


class Names:
    """What the types of the dictionary are called in Rust."""

    def __init__(self, api):
        self.kinds = {each["name"]: each["kind"] for each in api["types"]}

    def rust(self, spelled, nullable=False):
        match = TYPE.fullmatch(spelled.strip())
        if not match:
            raise Unsupported(f"the type `{spelled}`")
        name, stars = match["name"], len(match["stars"])
        if name not in NUMBERS and name not in self.kinds:
            raise Unsupported(f"the type `{name}`")
        base = NUMBERS.get(name, name)
        if self.kinds.get(name) == "callback":
            if stars:
                raise Unsupported(f"`{spelled}`, a pointer to a callback")
            return f"Option<{base}>" if nullable else base
        if stars == 0:
            return base
        inner = f"*const {base}" if match["const"] else f"*mut {base}"
        return "*mut " * (stars - 1) + inner

    def signature(self, each):
        params = ", ".join(
            f"{identifier(p['name'])}: {self.rust(p['type'], p.get('nullable', False))}"
            for p in each["params"])
        returns = each.get("returns") or "void"
        arrow = "" if returns == "void" else f" -> {self.rust(returns)}"
        return f'unsafe extern "C" fn({params}){arrow}'


def render_type(each, names):
    name, kind, text = each["name"], each["kind"], doc(each.get("doc"))
    if kind == "integer":
        return f"{text}pub type {name} = {names.rust(each['as'])};\n"
    if kind == "callback":
        return f"{text}pub type {name} = {names.signature(each)};\n"
    if kind == "handle":
        return (f"{text}#[repr(C)]\npub struct {name} {{\n    _private: [u8; 0],\n"
                f"    _marker: PhantomData<(*mut u8, PhantomPinned)>,\n}}\n")
    if kind == "struct":
        fields = "".join(f"    pub {identifier(f['name'])}: {names.rust(f['type'])},\n"
                         for f in each["fields"])
        return f"{text}#[repr(C)]\n#[derive(Clone, Copy)]\npub struct {name} {{\n{fields}}}\n"
    raise Unsupported(f"the kind `{kind}` of {name}")


def render_constant(each, names):
    """One without a type of its own is an i32 if that can hold it."""
    value = each["value"]
    if each.get("type"):
        kind = names.rust(each["type"])
    else:
        kind = "i32" if -2**31 <= value < 2**31 else "i64"
    if kind == "usize" and value == 2**64 - 1:
        value = "usize::MAX"
    return f"{doc(each.get('doc'))}pub const {each['name']}: {kind} = {value};\n"


def render_api(functions, names):
    out = ["/// Every function of the library.\n#[derive(Clone, Copy)]\npub struct Api {\n"]
    for each in functions:
        out.append(f"{doc(each.get('doc'), '    ')}    pub {each['name']}: "
                   f"{names.signature(each)},\n")
    out.append("}\n\nimpl Api {\n    /// The names of all functions, in the order of the headers.\n"
               "    pub const NAMES: &'static [&'static str] = &[\n")
    out += [f'        "{each["name"]}",\n' for each in functions]
    out.append(f"    ];\n\n{LOAD_DOC}"
               "    #[allow(clippy::missing_transmute_annotations)]\n"
               "    pub unsafe fn load<E>(\n"
               "        mut symbol: impl FnMut(&'static CStr) -> Result<*mut c_void, E>,\n"
               "    ) -> Result<Api, E> {\n"
               "        // SAFETY: the address is that of a function of this type.\n"
               "        Ok(unsafe {\n            Api {\n")
    out += [f'                {name}: transmute(symbol(c"{name}")?),\n'
            for name in (each["name"] for each in functions)]
    out.append("            }\n        })\n    }\n}\n")
    return "".join(out)


def files(api):
    names = Names(api)
    parts = [f"// {api['generated']}\n{HEAD}",
             "/// Version of the headers that this was generated from.\n"
             f"pub const VERSION: &str = \"{api['version']}\";\n"]
    parts += [render_type(each, names) for each in api["types"]]
    parts += [render_constant(each, names) for each in api["constants"]]
    parts.append(render_api(api["functions"], names))
    return {PATH: "\n".join(parts)}
