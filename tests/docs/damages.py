"""What people, programs and disks do to the files of a session. Each function does one such thing
to the session's directory, by the dice it is given."""
import json

from damage_model import canonical, parse, sealed

ENTRY = {"id": "by-hand", "type": "finding", "timestamp": "2026-01-09T16:00:00Z",
         "content": "by hand zq99canary"}
CHECKSUM = "sha256:" + "0" * 64
# Members that are changed or added; None removes. What the model says of each is its business.
MEMBERS = [
    {"id": None}, {"id": "-x"}, {"id": 3}, {"id": "e1"}, {"id": "e4"}, {"type": None},
    {"type": "Bad"}, {"type": "odd"}, {"timestamp": "soon"}, {"timestamp": None},
    {"timestamp": "2026-01-10t16:00:00.5+02:00"}, {"content": None}, {"content": {"a": []}},
    {"importance": 7}, {"importance": "high"}, {"importance": 0.25}, {"tags": ["", "a b"]},
    {"tags": "a"}, {"tags": [1]}, {"references": ["no id"]}, {"references": {}},
    {"relations": {"a b": ["x y"]}}, {"relations": []}, {"expires_at": "2020-01-01T00:00:00Z"},
    {"expires_at": "2120-01-01T00:00:00Z"}, {"expires_at": 5}, {"trace_id": 5},
    {"decay_factor": "x"}, {"session_id": "other"}, {"seq": None}, {"seq": 0}, {"seq": "4"},
    {"seq": 1}, {"seq": 3}, {"seq": 9}, {"seq": 2**53}, {"seq": 10**40}, {"seq": 2.5},
    {"schema_version": "1"}, {"schema_version": 0.5}, {"batch": None}, {"batch": 4},
    {"batch": {"i": 3, "n": 2}}, {"checksum": "md5:0"}, {"checksum": None}, {"checksum": 4},
    {"checksun": CHECKSUM}, {"Checksum": "x"}, {"own": {"a": [10**30]}}, {"own": "é\u0000"}]
RAW = [b"garbage", b"", b"   \r", b"\0" * 9, b"[]", b"null", b"{}", b'{"id":"e2"}', b'"text"',
       b"{", b"\xff\xfe", b'{"id":"gone","reason":"","timestamp":"2026-01-10T14:26:45.678Z"}',
       b'{"a":1,"a":2}', b'{"x":"\\ud800"}', b'{"x":1e999}']


def lines_of(path):
    """All lines, and what follows the last line end."""
    data = path.read_bytes() if path.exists() else b""
    *lines, rest = data.split(b"\n")
    return lines, rest


def write(path, lines, rest=b""):
    path.write_bytes(b"".join(line + b"\n" for line in lines) + rest)


def tokens(value):
    """A value as parse gives it."""
    return parse(json.dumps(value))


def changed(line, changes, is_sealed):
    try:
        members = parse(line)
        canonical(members).encode()
    except ValueError:
        return line
    if not isinstance(members, dict):
        return line
    for name, value in changes.items():
        members.pop(name, None)
        if value is not None:
            members[name] = tokens(value)
    return sealed(members) if is_sealed and "checksum" not in changes else \
        canonical(members).encode()


def somewhere(dice, lines):
    return dice.randrange(len(lines)) if lines else None


def file_of(dice, folder):
    return folder / dice.choice(["memory.jsonl"] * 4 + ["tombstones.jsonl"])


def on_a_line(change):
    """Makes a change of a line one of a file."""
    def do(dice, folder):
        path = file_of(dice, folder)
        lines, rest = lines_of(path)
        if lines:
            at = somewhere(dice, lines)
            lines[at:at + 1] = change(dice, lines[at], lines)
            write(path, lines, rest)
    return do


def on_bytes(change):
    def do(dice, folder):
        path = file_of(dice, folder)
        data = bytearray(path.read_bytes() if path.exists() else b"")
        if data:
            path.write_bytes(bytes(change(dice, data)))
    return do


def flip(dice, data):
    data[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
    return data


def overwrite(dice, data):
    at, length = dice.randrange(len(data)), dice.choice([1, 20, 400])
    data[at:at + length] = bytes(len(data[at:at + length]))
    return data


def take_out(dice, data):
    at, length = dice.randrange(len(data)), dice.choice([1, 3, 300])
    del data[at:at + length]
    return data


def hand_written(dice, line, lines):
    number = dice.randrange(1000)
    entry = {**ENTRY, "id": f"hand{number}", **dice.choice([{}, {}, *MEMBERS])}
    text = json.dumps({name: value for name, value in entry.items() if value is not None},
                      ensure_ascii=False).encode()
    return [line, dice.choice([b"", b" \t"]) + text + dice.choice([b"", b"\r", b"  "])]


def nested(dice, line, lines):
    depth = dice.choice([60, 64, 126, 127, 128, 200])
    return [line[:-1] + b',"own":' + b"[" * (depth - 1) + b"]" * (depth - 1) + b"}"] \
        if line.endswith(b"}") else [line]


def other_words(dice, line, lines):
    """An edit in an editor, after which the checksum is wrong."""
    return [line.replace(b"canary", b"edited")]


DAMAGES = {
    "flip": on_bytes(flip), "overwrite": on_bytes(overwrite), "take_out": on_bytes(take_out),
    "truncate": on_bytes(lambda dice, data: data[:dice.randrange(len(data))]),
    "lose_the_start": on_bytes(lambda dice, data: data[dice.randrange(len(data)):]),
    "lose_the_last_byte": on_bytes(lambda dice, data: data[:-1]),
    "byte_order_mark": on_bytes(lambda dice, data: b"\xef\xbb\xbf" + data),
    "crlf": on_bytes(lambda dice, data: data.replace(b"\n", b"\r\n")),
    "append_half": on_bytes(lambda dice, data: data + data[:dice.randrange(len(data))]),
    "nuls_at_the_end": on_bytes(lambda dice, data: data + bytes(dice.choice([1, 50]))),
    "empty": on_bytes(lambda dice, data: b""),
    "delete_line": on_a_line(lambda dice, line, lines: []),
    "repeat_line": on_a_line(lambda dice, line, lines: [line, dice.choice(lines)]),
    "raw_line": on_a_line(lambda dice, line, lines: [line, dice.choice(RAW)]),
    "raw_in_place": on_a_line(lambda dice, line, lines: [dice.choice(RAW)]),
    "hand_written": on_a_line(hand_written),
    "edit": on_a_line(other_words),
    "edit_without_checksum": on_a_line(lambda dice, line, lines: [
        changed(line.replace(b"canary", b"edited"), {"checksum": None}, False)]),
    "edit_sealed": on_a_line(lambda dice, line, lines: [
        changed(line.replace(b"canary", b"edited"), {}, True)]),
    "member": on_a_line(lambda dice, line, lines: [
        changed(line, dice.choice(MEMBERS), dice.random() < 0.7)]),
    "nested": on_a_line(nested),
    "indented": on_a_line(lambda dice, line, lines: [
        b"\t" + line.replace(b',"', b' ,\t"', 2) + b" \r"]),
    "split": on_a_line(lambda dice, line, lines: [line[:len(line) // 2], line[len(line) // 2:]]),
    "double_member": on_a_line(lambda dice, line, lines: [line.replace(b"{", b'{"type":"a",', 1)]),
}


def swap(dice, folder):
    path = file_of(dice, folder)
    lines, rest = lines_of(path)
    if lines:
        a, b = somewhere(dice, lines), somewhere(dice, lines)
        lines[a], lines[b] = lines[b], lines[a]
        write(path, lines, rest)


def tombstone(dice, folder):
    path = folder / "tombstones.jsonl"
    lines, rest = lines_of(path)
    members = tokens({"id": dice.choice(["e2", "e3", "missing", "hand1"])})
    lines.insert(dice.randrange(len(lines) + 1),
                 dice.choice([canonical(members).encode(), sealed(members),
                              canonical({**members, "checksum": CHECKSUM}).encode()]))
    write(path, lines, rest)


def tombstones_lost(dice, folder):
    (folder / "tombstones.jsonl").unlink(missing_ok=True)


def metadata(dice, folder):
    path = folder / "metadata.json"
    if not path.exists():
        return
    change = dice.choice(["lost", "garbage", "title", "durable_seq", "durable_tombstones",
                          "through"])
    if change == "lost":
        return path.unlink()
    try:
        members = json.loads(path.read_bytes())
    except ValueError:
        return
    if change == "garbage":
        return path.write_bytes(path.read_bytes()[:dice.randrange(40)])
    name = "compacted_through_seq" if change == "through" else change
    members[name] = "mine" if change == "title" else dice.randrange(12)
    members.pop("checksum", None)
    path.write_text(json.dumps(members))


def lock(dice, folder):
    if dice.random() < 0.5:
        (folder / "lock").unlink(missing_ok=True)
    else:
        (folder / "lock").write_bytes(b"garbage")


def durability_forgotten(dice, folder):
    """As when the power went before it was noted: a batch at the end may be incomplete."""
    path = folder / "metadata.json"
    try:
        members = json.loads(path.read_bytes())
    except (FileNotFoundError, ValueError):
        return
    members["durable_seq"] = dice.randrange(members["durable_seq"] + 1)
    members.pop("checksum", None)
    path.write_text(json.dumps(members))
    for name in ("lock", "index.bin"):
        (folder / name).unlink(missing_ok=True)


DAMAGES.update({"swap": swap, "tombstone": tombstone, "tombstones_lost": tombstones_lost,
                "metadata": metadata, "lock": lock, "durability_forgotten": durability_forgotten})


def replace_files(folder):
    """By new files of the same names and contents."""
    for name in ("memory.jsonl", "tombstones.jsonl"):
        if (folder / name).exists():
            (folder / "saved").write_bytes((folder / name).read_bytes())
            (folder / "saved").rename(folder / name)


def index_lost(dice, folder):
    (folder / "index.bin").unlink(missing_ok=True)


def index_damaged(dice, folder):
    path = folder / "index.bin"
    data = bytearray(path.read_bytes() if path.exists() else b"x")
    if not data:
        return
    path.write_bytes(bytes(dice.choice([flip, overwrite, take_out])(dice, data)))
