"""What a memory and a window answer: varve/memory.h, varve/window.h and docs/tiers.md as they are
written, and the estimate of tokens of docs/context.md, without any of the library's ways.
"""
import json
import math
import re

HOUR_MS = 3_600_000
NEVER = math.inf
LINE_END = re.compile("\r\n|[\n\v\f\r\x85\u2028\u2029]")
CONTROL = re.compile("[\0-\x1f\x7f\x85\u2028\u2029]")
# Runs of characters and what they weigh.
RUNS = [(re.compile(pattern), weight) for pattern, weight in (
    ("[A-Z]?[a-z]+", lambda run: len(run) / 7),
    ("[A-Z]+(?![a-z])", lambda run: len(run) / 3),
    ("[0-9]+", lambda run: len(run) / 3),
    (r"[!-/:-@\[-`{-~]+", lambda run: len(run) / 2),
    (" +", lambda run: len(run) > 1),
    (r"[\0-\x1f\x7f]+", lambda run: 1),
    (r"[^\0-\x7f]+", lambda run: sum({2: 1, 3: 1.5, 4: 3}[len(each.encode())] for each in run)))]


def estimate(text):
    """docs/context.md#tokens."""
    tokens, at = 0, 0
    while at < len(text):
        run, weight = next((found, weight) for pattern, weight in RUNS
                           if (found := pattern.match(text, at)))
        tokens += math.ceil(weight(run[0]))
        at = run.end()
    return tokens


def calls_of(message):
    """The tools that it calls; an object among its members calls none without a role."""
    return [{"id": call.get("id"), **call["function"]} for call in message.get("tool_calls", [])]


def type_of(message):
    if "role" not in message:
        return "observation"
    if message["role"] == "tool":
        return "tool_result"
    return "tool_call" if calls_of(message) else "message"


def text_of_parts(parts, role):
    """What a list of parts says, as one makes it that has any; None when it is no such list."""
    if not all(isinstance(part, dict) and "type" in part for part in parts):
        return None
    if not parts and role == "tool":
        return None
    return "\n\n".join(filter(None, (part["text"] if part["type"] == "text"
                                     else f"[{part['type']}]" for part in parts)))


def taken(message):
    """A call or a result that is no message is the content of one."""
    if "role" in message or "content" in message or "call_id" not in message:
        return message
    type_ = "tool_result" if message["type"].endswith("_output") else "tool_call"
    item = {name: value for name, value in message.items() if name != "timestamp"}
    return {"type": type_, "content": item, "timestamp": message["timestamp"]}


def line_of(message):
    """A message in the text of a window."""
    content = message.get("content")
    if content is None and "role" in message:
        content = message.get("refusal") or ""
    if isinstance(content, list) and "role" in message:
        text = text_of_parts(content, message["role"])
        content = content if text is None else text
    if not isinstance(content, str):
        content = json.dumps(content, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    for call in calls_of(message):
        said = " ".join(filter(None, (call["name"], call["arguments"])))
        content += ("\n" if content else "") + said
    speaker = message.get("role") or message.get("type", "entry")
    name = message.get("name", "")
    is_named = "role" in message and 0 < len(name.encode()) <= 64 and not CONTROL.search(name)
    if is_named and name != speaker:
        speaker += f" ({name})"
    return start_of_line(speaker) + LINE_END.sub("\n  ", content) + "\n"


def lacks_its_call(message, shown):
    """Whether it is a result of a call that was there when it was recorded."""
    called = {call["id"] for entry in shown for call in calls_of(entry.message)}
    ids = {entry.message["id"] for entry in shown}
    references = message.get("references", [])
    return bool(message.get("role") == "tool" and references and not ids & set(references)
                and message.get("tool_call_id") and message["tool_call_id"] not in called)


def start_of_line(speaker):
    """A colon ends the speaker: in it there is none but between letters or digits."""
    return re.sub("(?<![A-Za-z0-9]):|:(?![A-Za-z0-9])", ";", speaker) + ": "


class Refused(Exception):
    """The call fails with this status."""


class Entry:
    def __init__(self, message, time_ms, expires_ms):
        self.message, self.time_ms, self.expires_ms = message, time_ms, expires_ms
        self.is_deleted = False

    def lives(self, now_ms):
        return not self.is_deleted and now_ms < self.expires_ms


class Session:
    def __init__(self, user, ttl_ms, now_ms):
        self.user, self.ttl_ms, self.log = user, ttl_ms, {}
        self.written_ms = self.saved_ms = now_ms

    def lives(self, now_ms):
        return now_ms < max(self.written_ms, self.saved_ms) + self.ttl_ms

    def is_in_doubt(self, now_ms):
        """The last write is told to an eighth of the time, and may be that of a close or sync."""
        return self.lives(now_ms) and now_ms >= self.written_ms + self.ttl_ms * 7 / 8

    def answered_by(self, message, now_ms):
        """The ids of the calls that it answers: one or none, since it has one answer."""
        wanted = message.get("tool_call_id") if message["role"] != "assistant" else None
        name = message.get("name") if message["role"] == "tool" and wanted is None else None
        for entry in reversed(self.live(now_ms)):
            if entry.message["type"] != "tool_call":
                continue
            for call in calls_of(entry.message):
                if (call["id"] == wanted) if wanted is not None else (call["name"] == name):
                    return [entry.message["id"]]
        return []

    def add(self, message, now_ms, ttl_ms, is_recorded=False):
        """message: its times as numbers, in *_ms."""
        message = {"type": type_of(message), **message}
        if message["id"] in self.log:
            raise Refused("VARVE_ALREADY_EXISTS")
        if is_recorded and message["type"] == "tool_result" and "role" in message:
            references = self.answered_by(message, now_ms)
            message.update({"references": references} if references else {})
        expires_ms = message.get("expires_ms", now_ms + ttl_ms)
        if "ttl_seconds" in message:
            expires_ms = now_ms + message["ttl_seconds"] * 1000
        time_ms = message.get("time_ms", now_ms)
        self.log[message["id"]] = Entry(message, time_ms, expires_ms)
        self.written_ms = now_ms

    def live(self, now_ms):
        """Its entries, oldest first."""
        alive = [entry for entry in self.log.values() if entry.lives(now_ms)]
        return sorted(alive, key=lambda entry: entry.time_ms)


class Store:
    """Sessions by id, and long-term memories by user."""

    def __init__(self):
        self.sessions, self.long_term = {}, {}


class Window:
    def __init__(self, capacity):
        self.capacity, self.messages = capacity, []

    def add(self, message):
        self.messages = [*self.messages, taken(message)][-self.capacity:]

    def recent(self, most):
        return self.messages[max(0, len(self.messages) - most):]

    def text(self):
        return "".join(map(line_of, self.messages))


class Memory:
    """user None: the store belongs to one user."""

    def __init__(self, store, user, window, ttl_hours):
        self.store_, self.user, self.window = store, user, window
        self.ttl_ms = ttl_hours * HOUR_MS or NEVER
        self.working, self.begins_with_log = {}, True
        self.known = {}

    def session(self, name, now_ms):
        """None when there is none for this user."""
        session = self.store_.sessions.get(name)
        if session and session.lives(now_ms) and self.user in (None, session.user):
            return session
        return None

    def use(self, name, now_ms):
        """The same. Working memory is of one session, not of the next one of its name."""
        session = self.session(name, now_ms)
        others = self.store_.sessions.get(name)
        if session or not (others and others.lives(now_ms)):
            if self.known.pop(name, None) is not session:
                self.working.pop(name, None)
            if session:
                self.known[name] = session
        return session

    def record(self, name, message, now_ms):
        sessions, session = self.store_.sessions, self.use(name, now_ms)
        if not session:
            if name in sessions and sessions[name].lives(now_ms):
                raise Refused("VARVE_NOT_FOUND")
            session = sessions[name] = Session(self.user, self.ttl_ms, now_ms)
            self.known[name] = session
        session.add(message, now_ms, self.ttl_ms, is_recorded=True)
        loads = name not in self.working and self.begins_with_log
        if loads:
            self.load(name, now_ms)
        ids = self.working.setdefault(name, [])
        if not loads or message["id"] not in ids:
            ids.append(message["id"])
        del ids[:-self.window]

    def store(self, message, now_ms):
        session = self.store_.long_term.setdefault(self.user, Session(self.user, NEVER, now_ms))
        session.add(message, now_ms, NEVER)

    def context(self, name, max_tokens, now_ms):
        """(source, messages, tokens)"""
        session = self.use(name, now_ms)
        live = session.live(now_ms) if session else []
        ids = self.working.get(name, [])
        working = [entry for entry in live if entry.message["id"] in ids]
        if session and not working:
            self.working.pop(name, None)
        source = "working" if working else "short_term"
        shown, tokens = [], 0
        is_cut = bool(working) and len(ids) == self.window
        for entry in reversed(working or live):
            more = estimate(line_of(entry.message))
            if max_tokens and tokens + more > max_tokens:
                is_cut = True
                break
            shown.insert(0, entry)
            tokens += more
        is_cut = is_cut or bool(shown) and shown[0] is not next(iter(session.log.values()))
        while is_cut and shown and shown[0].message.get("role") == "tool":
            tokens -= estimate(line_of(shown.pop(0).message))
        gone = [entry for entry in shown if lacks_its_call(entry.message, shown)]
        tokens -= sum(estimate(line_of(entry.message)) for entry in gone)
        shown = [entry for entry in shown if entry not in gone]
        return source, [entry.message for entry in shown], tokens

    def load(self, name, now_ms):
        session = self.use(name, now_ms)
        if not session:
            raise Refused("VARVE_NOT_FOUND")
        newest = session.live(now_ms)[-self.window:]
        self.working[name] = [entry.message["id"] for entry in newest]

    def clear(self):
        self.working, self.begins_with_log = {}, False

    def own(self, now_ms):
        """(name, session) of its sessions; the name of long-term memory is None."""
        found = [(name, session) for name, session in self.store_.sessions.items()
                 if self.session(name, now_ms)]
        return found + [(None, session) for user, session in self.store_.long_term.items()
                        if self.user in (None, user)]

    def search(self, now_ms):
        """(session, id) of everything."""
        return [(name, entry.message["id"]) for name, session in self.own(now_ms)
                for entry in session.live(now_ms)]

    def delete(self, id_, now_ms):
        found = [session for _, session in self.own(now_ms)
                 if id_ in session.log and session.log[id_].lives(now_ms)]
        if not found:
            raise Refused("VARVE_NOT_FOUND")
        for session in found:
            session.log[id_].is_deleted, session.written_ms = True, now_ms
