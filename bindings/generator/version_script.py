"""src/capi/varve.map: what the shared object exports."""


def files(api):
    names = "".join(f"    {name};\n" for name in sorted(f["name"] for f in api["functions"]))
    return {"src/capi/varve.map":
            f"# {api['generated']}\n"
            f"VARVE_{api['abi_version']} {{\n  global:\n{names}  local:\n    *;\n}};\n"}
