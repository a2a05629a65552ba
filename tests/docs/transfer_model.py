"""What an import adds and refuses: docs/export-import.md and docs/format.md as they are written,
without any of the library's ways."""
import datetime
import hashlib
import json
import re
import unicodedata

from canonical_json import Integer, canonical, parse

ASSIGNED = ("seq", "batch", "checksum", "session_id")
ID = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]{0,127}\Z")
TYPE = re.compile(r"[a-z][a-z0-9_]{0,31}\Z")
RELATION = re.compile(r"[A-Za-z0-9_.:-]{1,64}\Z")
CHECKSUM = re.compile(r"sha256:[0-9a-f]{64}\Z")
TIME = re.compile(r"(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d)(\.\d+)?([Zz]|[+-]\d\d:\d\d)\Z")
DEPTH_MAX, DIGITS_MAX, CALLS_MAX = 64, 1024, 256
MILLISECONDS_FROM = 1e11
OF_ENTRIES = {"checksum", "decay_factor", "expires_at", "importance", "references", "relations",
              "seq", "session_id", "span_id", "tags", "trace_id", "ttl_seconds"}
EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)


class Refused(Exception):
    pass


def require(condition, what):
    if not condition:
        raise Refused(what)


def rfc3339(time_ms):
    time = EPOCH + datetime.timedelta(milliseconds=time_ms)
    return time.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def time_of(text):
    match = TIME.match(text) if isinstance(text, str) else None
    require(match, "a time")
    day, clock, fraction, offset = match.groups()
    try:
        moment = datetime.datetime.fromisoformat(
            f"{day}T{clock}{'+00:00' if offset in 'Zz' else offset}")
    except ValueError:
        raise Refused("a time") from None
    milliseconds = int((fraction or ".0")[1:4].ljust(3, "0"))
    return (moment - EPOCH) // datetime.timedelta(milliseconds=1) + milliseconds


def is_number(value):
    """A number keeps its token, and an integer its kind."""
    return isinstance(value, str) and type(value) is not str


def is_text(value):
    return type(value) is str


def check_value(value, depth=1):
    if isinstance(value, (list, dict)):
        require(depth <= DEPTH_MAX, "depth")
        for inner in value.values() if isinstance(value, dict) else value:
            check_value(inner, depth + 1)
        value = "".join(value) if isinstance(value, dict) else ""
    if is_number(value):
        require(len(value) <= DIGITS_MAX and abs(float(value)) < float("inf"), "a number")
    elif is_text(value):
        require(not re.search("[\ud800-\udfff]", value), "a surrogate")


def read(text):
    """The object of a line."""
    try:
        value = parse(text)
    except ValueError as problem:
        raise Refused(str(problem)) from None
    check_value(value)
    require(isinstance(value, dict), "an object")
    return value


def is_id(value):
    return is_text(value) and ID.match(value)


def is_tag(value):
    return is_text(value) and 1 <= len(value) <= 64 and all(
        unicodedata.category(each)[0] in "LMN" or each in "._:/-" for each in value)


def is_list_of(fits, value):
    return isinstance(value, list) and all(map(fits, value))


def in_range(value, lowest, highest):
    return is_number(value) and lowest <= float(value) <= highest


RULES = {
    "id": is_id,
    "type": lambda value: is_text(value) and TYPE.match(value),
    "importance": lambda value: in_range(value, 0, 1),
    "decay_factor": lambda value: in_range(value, 0, 1),
    "tags": lambda value: is_list_of(is_tag, value),
    "references": lambda value: is_list_of(is_id, value),
    "relations": lambda value: isinstance(value, dict) and all(
        RELATION.match(name) and is_list_of(is_id, ids) for name, ids in value.items()),
    "trace_id": lambda value: is_text(value) and 1 <= len(value) <= 128,
    "span_id": lambda value: is_text(value) and 1 <= len(value) <= 128,
    "schema_version": lambda value: isinstance(value, Integer) and 0 <= int(value) <= 1,
    "ttl_seconds": lambda value: is_number(value) and 0 < float(value) <= 1e10,
    "timestamp": lambda value: time_of(value) is not None,
    "expires_at": lambda value: time_of(value) is not None}


def checksum_of(members):
    plain = {name: value for name, value in members.items() if name != "checksum"}
    return "sha256:" + hashlib.sha256(canonical(plain).encode()).hexdigest()


def check_entry(members):
    """The rules of an add; a checksum must be that of what was written."""
    require("type" in members and "content" in members, "type and content")
    for name, fits in RULES.items():
        require(name not in members or fits(members[name]), name)
    require(not {"ttl_seconds", "expires_at"} <= members.keys(), "two ends")
    if "checksum" in members:
        given = members["checksum"]
        require(is_text(given) and CHECKSUM.match(given), "checksum")
        require(given == checksum_of(members), "checksum")


def made(members, now_ms):
    """The entry that these members become, without what is assigned."""
    entry = {"timestamp": rfc3339(now_ms), "importance": Integer("0.5"), "tags": [],
             "references": [], "decay_factor": Integer("1"), **members,
             "schema_version": Integer("1")}
    for name in ASSIGNED:
        entry.pop(name, None)
    seconds = entry.pop("ttl_seconds", None)
    if seconds is not None:
        entry["expires_at"] = rfc3339(now_ms + int(float(seconds) * 1000))
    for name in {"timestamp", "expires_at"} & entry.keys():
        entry[name] = rfc3339(time_of(entry[name]))
    return entry


def key_of(*parts):
    """Stands for an id that is derived from these: equal keys are equal ids."""
    return "?" + json.dumps(parts)


def is_key(value):
    return isinstance(value, str) and value.startswith('?["')


class Element:
    """An entry to be added. `key`: for an id that is derived."""

    def __init__(self, kind, key, members):
        self.kind, self.key, self.members = kind, key, members


def kind_of(members):
    type_ = members.get("type")
    if "content" not in members:
        if type_ == "entity" and {"name", "entityType"} <= members.keys():
            return "mcp"
        if type_ == "relation" and {"from", "to", "relationType"} <= members.keys():
            return "mcp"
    there = {name for name, value in members.items() if value is not None}
    if "role" not in there:
        return "entry"
    if "type" not in there:
        return "chat"
    own = OF_ENTRIES & there or "id" in there and not isinstance(members.get("content"), list)
    return "chat" if type_ == "message" and "content" in there and not own else "entry"


def entity_key(name):
    return key_of("entity", name)


def of_memory_server(members):
    """The entry of an entity or a relation; ids of other entities are keys."""
    content = {name: value for name, value in members.items() if name != "type"}
    if members["type"] == "entity":
        name, kind = members["name"], members["entityType"]
        observations = members.get("observations", [])
        content["message"] = f"{name} ({kind})" + (
            ": " + "; ".join(observations) if observations else "")
        tag = kind.replace(" ", "-")
        return Element("mcp", entity_key(name), {
            "type": "finding", "content": content, "tags": [tag] if is_tag(tag) else []})
    ends = [entity_key(members["from"]), entity_key(members["to"])]
    content["message"] = f"{members['from']} {members['relationType']} {members['to']}"
    key = key_of("relation", members["from"], members["relationType"], members["to"])
    return Element("mcp", key, {
        "type": "finding", "content": content,
        "references": ends if ends[0] != ends[1] else ends[:1],
        "relations": {"from": ends[:1], "to": ends[1:]}})


def parts_in(content):
    """A list of parts, or one part."""
    return [content] if isinstance(content, dict) else content if isinstance(content, list) else []


def texts_of(content):
    """The texts in the content of a message or of a part."""
    if is_text(content):
        return [content]
    found = []
    for part in parts_in(content):
        if is_text(part):
            found.append(part)
        elif isinstance(part, dict) and response_in(part):
            found.append(text_of_response(response_in(part)))
        elif isinstance(part, dict) and part.get("type") != "thinking":
            said = texts_of(part.get("text")) if is_text(part.get("text")) else []
            said += texts_of(part.get("content"))
            kind = part["type"] if is_text(part.get("type")) and part["type"] else "tool_use"
            unsaid = "text" in part or kind.endswith(("tool_use", "_result"))
            found += [] if said == [""] else said or ([] if unsaid else [f"[{kind}]"])
    return list(filter(None, found))


def inner(part, *names):
    """As Gemini has calls and results in a part."""
    return next((part[name] for name in names if isinstance(part.get(name), dict)), None)


def response_in(part):
    return inner(part, "functionResponse", "function_response")


def text_of_response(response):
    """Its name and what it gave: an object, often of one member."""
    name = response["name"] if is_text(response.get("name")) else ""
    given = response.get("response")
    if given is None:
        return name
    text = given if is_text(given) else canonical(given)
    if isinstance(given, dict) and len(given) == 1:
        [(member, value)] = given.items()
        if member in ("result", "output", "content", "message", "error"):
            text = ("error: " if member == "error" else "") + (
                value if is_text(value) else canonical(value))
    return " ".join(filter(None, [name, text]))


def kind_of_part(part):
    if is_text(part):
        return "text"
    return part["type"] if isinstance(part, dict) and is_text(part.get("type")) else None


def is_one_plain_text(parts):
    parts = parts_in(parts)
    if len(parts) != 1 or kind_of_part(parts[0]) != "text":
        return False
    return is_text(parts[0]) or parts[0].keys() == {"type", "text"} and is_text(parts[0]["text"])


CALLS = ("tool_use", "server_tool_use", "mcp_tool_use")


def parts_of(members):
    """Those of a message that are objects."""
    return [part for name in ("content", "parts") for part in parts_in(members.get(name))
            if isinstance(part, dict)]


def calls_among(parts):
    found = [part if kind_of_part(part) in CALLS else inner(part, "functionCall", "function_call")
             for part in parts]
    return [call for call in found if call is not None]


def results_among(parts):
    found = [part if kind_of_part(part) == "tool_result" else response_in(part) for part in parts]
    return [result for result in found if result is not None]


def type_of_message(members):
    if members["role"] in ("tool", "function"):
        return "tool_result"
    if members.get("tool_calls") or members.get("function_call") or calls_among(parts_of(members)):
        return "tool_call"
    return "tool_result" if results_among(parts_of(members)) else "message"


def time_of_number(number):
    """Since 1970, in the unit that its size tells."""
    if number < 0:
        return None
    in_ms = (number * 1000 if number < MILLISECONDS_FROM else number if number <= 2.5e14
             else number / 1000 if number <= 2.5e17 else number / 1e6)
    return int(in_ms + 0.5)


def time_of_text(text):
    offset = re.search(r"(?<=:\d\d)(\.\d+)? ?(UTC|[+-]\d\d(\d\d)?)$", text)
    usual = text + "Z"  # without an offset it is UTC
    if offset:
        said = "Z" if offset[2] == "UTC" else f"{offset[2][:3]}:{offset[3] or '00'}"
        usual = text[:offset.start()] + (offset[1] or "") + said
    for form in (text, usual):
        try:
            return time_of(form)
        except Refused:
            pass  # as if it were not there
    return time_of_number(float(text)) if re.fullmatch(r"\d+(\.\d+)?", text) else None


def time_of_message(members):
    for name in ("timestamp", "created_at", "createdAt", "created"):
        value = members.get(name)
        found = (time_of_number(float(value)) if is_number(value)
                 else time_of_text(value) if is_text(value) else None)
        if found is not None:
            return found
    return None


def text_or_none(value):
    return value if is_text(value) else None


def calls_of(members):
    """[(id, name)] of the calls that a message makes, each with None for what it has not."""
    calls = members.get("tool_calls")
    made = [call for call in (calls if isinstance(calls, list) else []) if isinstance(call, dict)]
    function = members.get("function_call")
    made += [function] if isinstance(function, dict) else []
    made += calls_among(parts_of(members))
    found = [(call.get("id"), (inner(call, "function") or call).get("name")) for call in made]
    return [tuple(map(text_or_none, each)) for each in found]


def answers_of(members):
    """[(id, name)] of those whose results a message has."""
    id_ = None if members["role"] == "assistant" else members.get("tool_call_id")
    names = [members.get(name) for name in ("tool_name", "name") if is_text(members.get(name))]
    is_tools = members["role"] in ("tool", "function")
    found = [(id_, names[0] if is_tools and names else None)]
    for result in results_among(parts_of(members)):
        ids = ("tool_use_id", "toolUseId") if kind_of_part(result) == "tool_result" else ("id",)
        found.append((next((result[id_] for id_ in ids if is_text(result.get(id_))), None),
                      result.get("name")))
    return [tuple(map(text_or_none, each)) for each in found]


def is_answer(answer, call):
    """By the id, or where the answer has none, by the name."""
    at = 0 if answer[0] is not None else 1
    return answer[at] is not None and answer[at] == call[at]


def content_of(members):
    content = {name: value for name, value in members.items() if name != "content"}
    said = members.get("content")
    if is_text(said):
        content["message"] = said
        return content
    texts = texts_of(parts_in(members.get("parts") if said is None else said))
    if texts:
        content["message"] = "\n\n".join(texts)
    if said is not None and not is_one_plain_text(said):
        content["parts" if members.get("parts") is None else "content_parts"] = said
    return content


def of_chat(members, place, calls):
    """calls: those of the messages before it, [(as calls_of, key of its entry)]."""
    entry = {"type": type_of_message(members), "content": content_of(members)}
    answered = [next((key for call, key in calls[:-CALLS_MAX - 1:-1] if is_answer(answer, call)),
                     None) for answer in answers_of(members)]
    references = list(dict.fromkeys(filter(None, answered)))
    if references:
        entry["references"] = references
    time_ms = time_of_message(members)
    if time_ms is not None:
        entry["timestamp"] = rfc3339(time_ms)
    return Element("chat", key_of("chat", place, canonical(members)), entry)


class Times:
    """When what does not tell it was said: a message, together with its neighbours."""

    def __init__(self, now_ms):
        self.now_ms, self.last_ms, self.undated = now_ms, None, set()

    def of(self, element, entry_id, new):
        told = element.members.get("timestamp")
        if element.kind != "chat":
            return self.now_ms
        if told:
            self.last_ms = time_of(told)
            for earlier in self.undated & new.keys():
                new[earlier]["timestamp"] = told
            self.undated = set()
        elif self.last_ms is None:
            self.undated.add(entry_id)
            return self.now_ms
        return self.last_ms


class Session:
    def __init__(self, name, entry_size_max):
        self.name, self.entry_size_max = name, entry_size_max
        self.entries, self.deleted, self.ids, self.seq = {}, set(), {}, 0

    def id_of(self, key):
        """An id that was derived: the library's, once it is known."""
        return self.ids.get(key, key)

    def element(self, text, place, form, is_array, seen, calls):
        """place: how many come before it in the text; seen: how often each entry without an id;
        calls: as of_chat."""
        members = read(text)
        kind = kind_of(members) if form == "auto" else {"mcp": "mcp", "chat": "chat"}.get(
            form, "entry")
        if kind == "mcp":
            require(kind_of(members) == "mcp", "mcp")
            return of_memory_server(members)
        if kind == "chat":
            require(is_text(members.get("role")), "role")
            return of_chat(members, place, calls)
        check_entry(members)
        form = "json" if form == "json" or is_array else "jsonl"
        if "id" in members:
            return Element(form, None, members)
        said = canonical({name: value for name, value in members.items() if name not in ASSIGNED})
        seen[said] = seen.get(said, -1) + 1
        return Element(form, key_of("import", said, seen[said]), members)

    def is_same(self, element, entry):
        """Whether the element says what this entry says, but for times that it does not have."""
        fresh = made(element.members, 0)
        times = {"timestamp"} - element.members.keys()
        if "ttl_seconds" in element.members:
            times.add("expires_at")
        if ("expires_at" in fresh) != ("expires_at" in entry):
            return False
        return all(canonical(self.resolved(fresh.get(name))) == canonical(entry.get(name))
                   for name in fresh.keys() | entry.keys() if name not in times | {"id"})

    def resolved(self, value):
        """With the ids that the library gave."""
        if is_key(value):
            return self.id_of(value)
        if isinstance(value, list):
            return [self.resolved(each) for each in value]
        if isinstance(value, dict):
            return {name: self.resolved(each) for name, each in value.items()}
        return value

    def take(self, elements, form, is_array, now_ms, dry_run=False):
        """elements: [(line, text)]. Gives the report, and the new entries by id or key."""
        report = {"added": 0, "existing": 0, "refused": [], "format": form}
        seen, new, calls = {}, {}, []
        times = Times(now_ms)
        for place, (line, text) in enumerate(elements):
            try:
                element = self.element(text, place, form, is_array, seen, calls)
                time_ms = times.of(element, self.id_of(element.key), new)
                self.check_size(element, now_ms, len(new))
                if element.kind == "chat":
                    calls += [(call, element.key) for call in calls_of(read(text))]
                if report["format"] == "auto":
                    report["format"] = element.kind
                is_new = self.put(element, new, time_ms)
            except Refused:
                report["refused"].append(line)
                continue
            report["added" if is_new else "existing"] += 1
        if not dry_run:
            self.entries.update(new)
        return report, new

    def check_size(self, element, now_ms, new_count):
        """A derived id is as long as the name of its kind, "_" and 32 digits."""
        entry_id = element.members.get("id") or json.loads(element.key[1:])[0] + "_" + 32 * "0"
        entry = self.resolved({**made(element.members, now_ms), "id": entry_id})
        size = len(self.line(entry, self.seq + new_count + 1).encode())
        require(size <= self.entry_size_max, "size")

    def put(self, element, new, now_ms):
        entry_id = element.members.get("id") or self.id_of(element.key)
        known = {**self.entries, **new} if entry_id in new else self.entries
        require(entry_id not in self.deleted, "deleted")
        if entry_id in known:
            require(self.is_same(element, known[entry_id]), "another entry")
            return False
        entry = self.resolved(made(element.members, now_ms))
        entry["id"] = entry_id
        new[entry_id] = entry
        return True

    def delete(self, entry_id):
        del self.entries[entry_id]
        self.deleted.add(entry_id)

    def line(self, entry, seq):
        members = {**entry, "session_id": self.name, "seq": Integer(str(seq))}
        return canonical({**members, "checksum": checksum_of(members)})
