"""What is readable of a session's log and tombstones, whatever was done to them, and what a
verification says of it: docs/format.md, docs/operations.md and the comments of include/varve as
they are written, without any of the library's ways."""
import datetime
import hashlib
import json
import pathlib
import re
import sys

sys.path.append(str(pathlib.Path(__file__).parent.parent / "conformance"))
from canonical_json import canonical, parse

ID = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]{0,127}")
TYPE = re.compile(r"[a-z][a-z0-9_]{0,31}")
CHECKSUM = re.compile(r"sha256:[0-9a-f]{64}")
TIME = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)")
SEQ_MAX = 2**53 - 1
DEPTH_MAX = 64
READ_DEPTH_MAX = 128  # of a line of the log
BLANKS = b" \t\r"


def depth_of(value):
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
    return (isinstance(value, (dict, list))) + max(map(depth_of, inner), default=0)


def members_of(line):
    """Of the JSON object that a line is; None for any other line."""
    try:
        value = parse(line.strip(BLANKS))
        canonical(value).encode()  # lone surrogates, numbers beyond a double
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) and depth_of(value) <= READ_DEPTH_MAX else None


def is_text(value):
    """Numbers are texts of a kind of their own, see canonical_json."""
    return type(value) is str


def is_number(value):
    return isinstance(value, str) and not is_text(value)


def are_texts(value):
    return isinstance(value, list) and all(map(is_text, value))


def time_ms(text):
    """None for what is no RFC 3339 time."""
    if not is_text(text) or not TIME.fullmatch(text):
        return None
    try:
        time = datetime.datetime.fromisoformat(text.upper().replace("Z", "+00:00"))
        return round(time.timestamp() * 1000)
    except ValueError:
        return None


def whole_number(value, least, most):
    return is_number(value) and float(value) == int(float(value)) and \
        least <= int(float(value)) <= most


def sealed(members):
    """The line, with its checksum."""
    plain = {name: value for name, value in members.items() if name != "checksum"}
    digest = hashlib.sha256(canonical(plain).encode()).hexdigest()
    return canonical({**plain, "checksum": "sha256:" + digest}).encode()


def is_sealed_right(members):
    """Whether the checksum, if there is one, is that of the line."""
    if "checksum" in members:
        return sealed(members) == canonical(members).encode()
    return not any(is_almost(name) and is_text(value) and CHECKSUM.fullmatch(value)
                   for name, value in members.items())


def is_almost(name, wanted="checksum"):
    """Whether one byte was changed, lost or added."""
    name, wanted = name.encode(), wanted.encode()
    at = next((i for i, (a, b) in enumerate(zip(name, wanted)) if a != b),
              min(len(name), len(wanted)))
    return name != wanted and any(name[at + mine:] == wanted[at + theirs:]
                                  for mine, theirs in ((1, 1), (0, 1), (1, 0)))


def is_batch(value):
    return (isinstance(value, dict) and whole_number(value.get("n"), 1, SEQ_MAX) and
            whole_number(value.get("i"), 0, int(float(value["n"])) - 1))


OPTIONAL = {
    "tags": are_texts, "references": are_texts, "importance": is_number, "batch": is_batch,
    "expires_at": lambda value: is_text(value) and time_ms(value) is not None,
    "relations": lambda value: isinstance(value, dict) and all(map(are_texts, value.values())),
    "seq": lambda value: whole_number(value, 1, SEQ_MAX), "trace_id": is_text,
    "schema_version": lambda value: whole_number(value, 0, 1),
}


def is_entry(members):
    return (is_text(members.get("id")) and ID.fullmatch(members["id"]) and
            is_text(members.get("type")) and TYPE.fullmatch(members["type"]) and
            is_text(members.get("timestamp")) and time_ms(members["timestamp"]) is not None and
            "content" in members and is_sealed_right(members) and
            all(name not in members or is_right(members[name])
                for name, is_right in OPTIONAL.items()))


def is_deletion(members):
    return (is_text(members.get("id")) and ID.fullmatch(members["id"]) and
            time_ms(members.get("timestamp", "2026-01-01T00:00:00Z")) is not None and
            is_text(members.get("reason", "")) and depth_of(members) <= DEPTH_MAX and
            is_sealed_right(members))


class Line:
    """`text` is without the line end; `size` with it."""

    def __init__(self, offset, text, is_right):
        self.offset, self.text, self.size = offset, text, len(text) + 1
        self.is_blank = not text.strip(BLANKS)
        self.members = None if self.is_blank else members_of(text)
        self.is_valid = self.members is not None and bool(is_right(self.members))
        self.is_garbage = not self.is_blank and self.members is None
        self.id = self.members.get("id") if self.members else None
        self.seq = int(float(self.members["seq"])) if self.is_valid and "seq" in self.members \
            else 0
        self.is_repeated = False

    def batch(self):
        """Index and count."""
        batch = self.members.get("batch") if self.is_valid else None
        return [int(float(batch[name])) for name in "in"] if batch else (0, 1)

    def is_expired(self, now_ms):
        return "expires_at" in self.members and time_ms(self.members["expires_at"]) <= now_ms


class Lines:
    """A file of lines, apart from its torn tail, which begins at `end`."""

    def __init__(self, data, is_right, durable_seq=None):
        self.data = data
        *texts, rest = data.split(b"\n")
        self.all, offset = [], 0
        for text in texts:
            self.all.append(Line(offset, text, is_right))
            offset += len(text) + 1
        self.end = len(data) - len(rest)
        self._cut_garbage()
        if durable_seq is not None:
            self._cut_batch(durable_seq)
            self._cut_garbage()
        self.all = [line for line in self.all if line.offset < self.end]
        self.tail = data[self.end:]
        self.damaged = [line for line in self.all if not line.is_valid and not line.is_blank]

    def count(self):
        return sum(not line.is_blank for line in self.all)

    def _cut_garbage(self):
        for line in reversed([line for line in self.all if line.offset < self.end]):
            if line.is_garbage:
                self.end = line.offset
            elif not line.is_blank:
                break

    def _cut_batch(self, durable_seq):
        """An incomplete batch at the end, with what stands between its lines."""
        batch = []
        for line in reversed([line for line in self.all if line.offset < self.end]):
            if line.is_blank or line.is_garbage:
                continue
            index, count = line.batch()
            if count < 2 or not line.seq > durable_seq:
                break
            if batch and not (count == batch[0].batch()[1] and index < batch[0].batch()[0]):
                break
            batch.insert(0, line)
        if batch and len(batch) < batch[0].batch()[1]:
            self.end = batch[0].offset


class Report:
    """What a verification says of the two files, and the entries that are there."""

    def __init__(self, log, tombstones, durable_seq, metadata):
        """`metadata`: what can be read of it; empty when nothing can."""
        accepted_seq, is_metadata_lost = metadata.get("compacted_through_seq", 0), not metadata
        self.log = Lines(log, is_entry, max(durable_seq, accepted_seq))
        self.tombstones = Lines(tombstones, is_deletion)
        self.bytes_of_both = len(log) + len(tombstones)
        self.last_seq, self.taken = 0, {}
        self.problems = [("metadata.json", 0, 0, "line")] if is_metadata_lost else []
        for line in self.log.all:
            if line.is_valid:
                self._number(line, accepted_seq)
                self._take(line)
            elif not line.is_blank:
                self._say(line, "line")
        self._end(durable_seq, accepted_seq)
        self.problems += [("tombstones.jsonl", line.offset, line.size, "line")
                          for line in self.tombstones.damaged]
        self._say_tail("memory.jsonl", self.log)
        self._say_tail("tombstones.jsonl", self.tombstones)
        self._count_deletions(metadata.get("durable_tombstones", 0))
        self.deleted_ids = {line.id for line in self.tombstones.all if line.is_valid}
        self.kept = [line for line in self.taken.values() if line.id not in self.deleted_ids]

    def _say(self, line, kind):
        length = line.size if kind == "line" else line.size - 1
        self.problems.append(("memory.jsonl", line.offset, length, kind))

    def _say_tail(self, name, lines):
        if lines.tail:
            self.problems.append((name, lines.end, len(lines.tail), "tail"))

    def _number(self, line, accepted_seq):
        if not line.seq:
            return
        if line.seq <= self.last_seq:
            return line.seq > accepted_seq and self._say(line, "order")
        first = max(self.last_seq, accepted_seq) + 1
        if first < line.seq:
            self.problems.append(("memory.jsonl", line.offset, 0,
                                  f"missing {first} to {line.seq - 1}"))
        self.last_seq = line.seq

    def _take(self, line):
        if line.id in self.taken:
            line.is_repeated = True
            return self._say(line, "again")
        self.taken[line.id] = line

    def _end(self, durable_seq, accepted_seq):
        first = max(self.last_seq, accepted_seq) + 1
        if durable_seq >= first:
            self.problems.append(("memory.jsonl", self.log.end, 0,
                                  f"early {first} to {durable_seq}"))

    def _count_deletions(self, durable_count):
        ids = {line.id for line in self.tombstones.all if line.is_valid}
        self.lost_deletions = max(0, durable_count - len(ids) - len(self.tombstones.damaged))
        if self.lost_deletions:
            self.problems.append(("tombstones.jsonl", self.tombstones.end, 0,
                                  f"deletions {self.lost_deletions}"))

    def live(self, now_ms):
        return [line for line in self.kept if not line.is_expired(now_ms)]

    def unreadable(self):
        """What a repair sets aside, apart from torn tails."""
        return self.tombstones.damaged + self.log.damaged + [
            line for line in self.log.all if line.is_repeated]

    @property
    def damaged(self):
        return len(self.unreadable())

    def is_of_version_0(self):
        entries = list(self.taken.values())
        numbered = [line for line in entries if line.seq] or entries
        return bool(numbered) and float(numbered[0].members.get("schema_version", 0)) < 1

    def damaged_ids(self):
        """Of lines that name an entry, though they are none."""
        return {line.id for line in self.log.damaged
                if line.members and is_text(line.id) and ID.fullmatch(line.id)} - set(self.taken)

    def may_be_damaged(self, entry_id):
        """Whether it stands in damaged bytes, from which it may be told or not."""
        return any(f'"{entry_id}"'.encode() in line.text for line in self.log.damaged)


def edited(line):
    """The members of a line that is an entry but for its checksum, without it."""
    members = {name: value for name, value in (line.members or {}).items() if name != "checksum"}
    others = {name: value for name, value in members.items() if not is_almost(name)}
    return members if is_entry(others) and "seq" in members else None


def resealed(report):
    """By offset, the lines that a repair makes of those that were edited."""
    edits, ids = {}, set(report.taken)
    numbers = [(line.offset, line.seq) for line in report.log.all
               if line.seq and not line.is_repeated]
    for line in report.log.damaged:
        members = edited(line)
        if not members or members["id"] in ids:
            continue
        seq = int(float(members["seq"]))
        before = max([(-1, 0)] + [each for each in numbers if each[0] < line.offset])
        after = min([each for each in numbers if each[0] > line.offset],
                    default=(0, SEQ_MAX + 1))
        if before[1] < seq < after[1]:
            edits[line.offset] = sealed(members)
            ids.add(members["id"])
            numbers.append((line.offset, seq))
    return edits


def told(problem):
    """A problem of a report, as this model has it."""
    reason = problem["reason"]
    deletions = re.match(r"(\d+) deletions? (?:is|are) missing", reason)
    numbers = re.search(r"seq (\d+)(?: to (\d+))?$", reason)
    span = f"{numbers[1]} to {numbers[2] or numbers[1]}" if numbers else ""
    kind = ("tail" if reason.startswith("torn tail") else "again" if "has the same id" in reason
            else "order" if "out of order" in reason
            else "early " + span if "the log ends too early" in reason
            else f"deletions {deletions[1]}" if deletions
            else "missing " + span if "missing: seq" in reason
            else "index" if "index" in reason else "line")
    return problem["file"], problem["offset"], problem["length"], kind


def read_session(folder):
    """The model's report of a session's directory."""
    def bytes_of(name):
        return (folder / name).read_bytes() if (folder / name).exists() else b""
    try:
        metadata = json.loads(bytes_of("metadata.json"))
    except ValueError:
        metadata = {}
    durable = metadata.get("durable_seq", 0)
    try:
        durable = max(durable, json.loads(bytes_of("lock"))["seq"])
    except ValueError:
        pass
    return Report(bytes_of("memory.jsonl"), bytes_of("tombstones.jsonl"), durable, metadata)
