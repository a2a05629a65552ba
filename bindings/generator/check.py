"""tests/abi/check.c and check.cpp: by them a compiler proves that the headers were read right.

Types of functions and callbacks, values of constants, integer types and members of structs are
compared with what bindings/api.json says.
"""


def pointer(returns, params, name=""):
    inside = ", ".join(param["type"] for param in params) or "void"
    return f"{returns} (*{name})({inside})"


OFF = "/* clang-format off */"


def constant_lines(api, word):
    for constant in api["constants"]:
        value = constant["value"]
        suffix = "ULL" if value >= 2**63 else "LL"
        kind = "unsigned long long" if value >= 2**63 else "long long"
        yield f"{word}(({kind}){constant['name']} == {value}{suffix}, \"{constant['name']}\");"


def of_kind(api, kind):
    return [entry for entry in api["types"] if entry["kind"] == kind]


def struct_lines(entry, word):
    mirror = f"struct check_{entry['name']}"
    yield f"{mirror} {{"
    for member in entry["fields"]:
        yield f"  {member['type']}{'' if member['type'].endswith('*') else ' '}{member['name']};"
    yield "};"
    yield f"{word}(sizeof({mirror}) == sizeof({entry['name']}), \"{entry['name']}\");"
    for member in entry["fields"]:
        name = member["name"]
        yield (f"{word}(offsetof({mirror}, {name}) == offsetof({entry['name']}, {name}), "
               f"\"{name}\");")


def function_lines(api):
    """A pointer of the type that was read takes the function, or the compiler refuses."""
    for function in api["functions"]:
        typed = pointer(function["returns"], function["params"], f"check_{function['name']}")
        yield f"extern {typed};"
        yield f"{typed} = {function['name']};"


def c_file(api):
    word = "_Static_assert"
    lines = [f"/* {api['generated']} */", OFF, "#include <varve/varve.h>", ""]
    lines += constant_lines(api, word)
    for entry in of_kind(api, "integer"):
        lines.append(f"{word}(_Generic(({entry['name']})0, {entry['as']}: 1, default: 0), "
                     f"\"{entry['name']}\");")
    for entry in of_kind(api, "callback"):
        lines.append(f"{word}(_Generic(({entry['name']})0, "
                     f"{pointer(entry['returns'], entry['params'])}: 1, default: 0), "
                     f"\"{entry['name']}\");")
    for entry in of_kind(api, "handle"):
        lines.append(f"{word}(_Generic(({entry['name']} *)0, struct {entry['name'][:-2]} *: 1, "
                     f"default: 0), \"{entry['name']}\");")
    for entry in of_kind(api, "struct"):
        lines += struct_lines(entry, word)
    lines += function_lines(api)
    return "\n".join(lines) + "\n"


def cpp_file(api):
    lines = [f"/* {api['generated']} */", OFF, "#include <varve/varve.h>", "",
             "#include <type_traits>", ""]
    lines += constant_lines(api, "static_assert")
    for entry in of_kind(api, "integer"):
        lines.append(f"static_assert(std::is_same<{entry['name']}, {entry['as']}>::value, "
                     f"\"{entry['name']}\");")
    for entry in of_kind(api, "callback"):
        lines.append(f"static_assert(std::is_same<{entry['name']}, "
                     f"{pointer(entry['returns'], entry['params'])}>::value, "
                     f"\"{entry['name']}\");")
    for entry in of_kind(api, "handle"):
        lines.append(f"static_assert(std::is_same<{entry['name']}, struct {entry['name'][:-2]}>"
                     f"::value, \"{entry['name']}\");")
    for entry in of_kind(api, "struct"):
        lines += struct_lines(entry, "static_assert")
    lines += function_lines(api)
    return "\n".join(lines) + "\n"


def files(api):
    return {"tests/abi/check.c": c_file(api), "tests/abi/check.cpp": cpp_file(api)}
