"""bindings/api.json: the picture of the ABI that a change is reviewed by."""
import json

COLUMNS = 100


def render(value, indent):
    """JSON with everything on one line that fits."""
    flat = json.dumps(value, ensure_ascii=False)
    if len(flat) + indent <= COLUMNS or not isinstance(value, (dict, list)):
        return flat
    inner = " " * (indent + 1)
    if isinstance(value, dict):
        parts = [f"{json.dumps(key)}: {render(item, indent + 1)}" for key, item in value.items()]
        opening, closing = "{", "}"
    else:
        parts = [render(item, indent + 1) for item in value]
        opening, closing = "[", "]"
    first = parts[0] if indent == 0 else "\n" + inner + parts[0]
    rest = "".join(f",\n{inner}{part}" for part in parts[1:])
    return opening + first + rest + "\n" + " " * indent + closing


def files(api):
    return {"bindings/api.json": render(api, 0) + "\n"}
