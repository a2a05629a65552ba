"""What a session holds, and what its files say of it: docs/format.md, docs/stores.md and the
comments of include/varve as they are written, without any of the library's ways."""
import copy
import datetime
import hashlib
import json
import math
import re
from collections import Counter

HOUR_MS = 3_600_000
PLURALS = {"conversation": "conversations", "decision": "decisions", "finding": "findings",
           "preference": "preferences"}
GIVEN_ONLY = ("session_id", "user_id", "agent_id", "if_exists", "stores")
ASSIGNED = ("seq", "batch", "checksum", "session_id")


def rfc3339(time_ms):
    time = datetime.datetime.fromtimestamp(time_ms / 1000, datetime.timezone.utc)
    return time.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def in_seconds(time_ms):
    return rfc3339(time_ms)[:19] + "Z"


def milliseconds(text):
    return round(datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp() * 1000)


def canonical(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def sealed(members):
    plain = {name: value for name, value in members.items() if name != "checksum"}
    digest = hashlib.sha256(canonical(plain).encode()).hexdigest()
    return {**plain, "checksum": "sha256:" + digest}


class Entry:
    def __init__(self, given, session_id, seq, now_ms, batch):
        data = {"timestamp": rfc3339(now_ms), "importance": 0.5, "tags": [], "references": [],
                "decay_factor": 1, "schema_version": 1, **given, "session_id": session_id,
                "seq": seq, **({"batch": batch} if batch else {})}
        ttl_seconds = data.pop("ttl_seconds", None)
        if ttl_seconds:
            data["expires_at"] = rfc3339(now_ms + int(ttl_seconds * 1000))
        self.data = sealed(data)
        self.id, self.line = data["id"], canonical(self.data)
        self.expires_ms = milliseconds(data["expires_at"]) if "expires_at" in data else math.inf

    def content(self):
        """What an import compares."""
        return {name: value for name, value in self.data.items() if name not in ASSIGNED}

    def usage(self):
        content = self.data["content"]
        return self.data.get("usage") or (isinstance(content, dict) and content.get("usage"))


def merged(target, patch):
    """RFC 7396."""
    if not isinstance(patch, dict):
        return patch
    result = dict(target) if isinstance(target, dict) else {}
    for name, value in patch.items():
        if value is None:
            result.pop(name, None)
        else:
            result[name] = merged(result.get(name), value)
    return result


def sum_of_usage(entries):
    used = [entry.usage() for entry in entries if entry.usage()]
    return {"entries": len(used),
            "input_tokens": sum(u.get("input_tokens", u.get("prompt_tokens", 0)) for u in used),
            "output_tokens": sum(u.get("output_tokens", u.get("completion_tokens", 0))
                                 for u in used),
            "cost_usd": sum(u.get("cost_usd", 0) for u in used)}


class Session:
    def __init__(self, options, now_ms):
        self.id, self.given = options["session_id"], options
        self.created_ms = self.written_ms = now_ms
        self.log, self.deletions, self.seq, self.generation = [], [], 0, 1
        self.keys, self.turns, self.compactions, self.restored_at = [], [], [], None
        self.own = {name: value for name, value in options.items() if name not in GIVEN_ONLY}
        self.unaware = set()  # stores that need not know how long it lives by now

    def copy(self):
        other = copy.copy(self)
        for name in ("log", "deletions", "keys", "turns", "compactions", "own", "unaware"):
            setattr(other, name, copy.copy(getattr(self, name)))
        return other

    # What is there.

    def age(self, now_ms):
        """1 when its time is over; None for one that has no end."""
        ttl_ms = self.own.get("ttl_hours", 0) * HOUR_MS
        is_fixed = self.own.get("ttl_policy") == "fixed"
        since_ms = self.created_ms if is_fixed else self.written_ms
        return (now_ms - since_ms) / ttl_ms if ttl_ms else None

    def is_over(self, now_ms):
        age = self.age(now_ms)
        return age is not None and age >= 1

    def may_be_over(self, now_ms):
        """The last write is known to an eighth of a sliding ttl."""
        age = self.age(now_ms)
        return age is not None and 7 / 8 <= age < 1

    def stores(self):
        return self.given.get("stores", ["kv", "transcript"])

    def deleted_ids(self):
        return {deletion["id"] for deletion in self.deletions}

    def used_ids(self):
        return self.deleted_ids() | {entry.id for entry in self.log}

    def kept(self):
        deleted = self.deleted_ids()
        return [entry for entry in self.log if entry.id not in deleted]

    def live(self, now_ms):
        return [entry for entry in self.kept() if entry.expires_ms > now_ms]

    def find(self, entry_id, now_ms):
        return next((entry for entry in self.live(now_ms) if entry.id == entry_id), None)

    # What changes it.

    def add(self, givens, now_ms, as_batch=True):
        for index, given in enumerate(givens):
            self.seq += 1
            is_part = as_batch and len(givens) > 1
            batch = {"i": index, "n": len(givens)} if is_part else None
            self.log.append(Entry(given, self.id, self.seq, now_ms, batch))
        self.written_ms = now_ms

    def delete(self, ids, reason, now_ms):
        self.deletions += [sealed({"id": entry_id, "reason": reason, "timestamp": rfc3339(now_ms)})
                           for entry_id in ids]
        if ids:
            self.written_ms = now_ms

    def update(self, patch, now_ms):
        self.own, self.written_ms = merged(self.own, patch), now_ms
        self.cut_to_caps()

    def cut_to_caps(self):
        def last(items, cap):
            return items[max(0, len(items) - cap):]
        self.keys = last(self.keys, self.own.get("kv_cap", 200))
        self.turns = last(self.turns, self.own.get("transcript_cap", 500))

    def set_key(self, key, value, now_ms):
        self.keys = [item for item in self.keys if item["key"] != key]
        if value is not None:
            self.keys.append({"key": key, "value": value, "ts": in_seconds(now_ms)})
        self.cut_to_caps()
        self.written_ms = now_ms

    def say(self, role, content, now_ms):
        if self.own.get("transcript_cap") == 0:
            return  # nothing is kept, so nothing is written
        self.turns.append({"role": role, "timestamp": in_seconds(now_ms), "content": content})
        self.cut_to_caps()
        self.written_ms = now_ms

    def compact(self, now_ms, is_purge, dry_run):
        """Returns the report."""
        live, kept = self.live(now_ms), self.kept()
        report = {"entries_before": len(self.log), "entries_after": len(live),
                  "bytes_before": len(self.log_text().encode()),
                  "bytes_after": sum(len(entry.line.encode()) + 1 for entry in live),
                  "dropped": {"deleted": len(self.log) - len(kept),
                              "expired": len(kept) - len(live), "evicted": 0, "damaged": 0}}
        changed = not dry_run and (is_purge or len(live) < len(self.log))
        if changed:
            self.log, self.generation = live, self.generation + 1
            cause = "purge" if is_purge else "asked"
            self.compactions.append({**report, "cause": cause, "timestamp": rfc3339(now_ms)})
            self.compactions = self.compactions[-20:]
        return {**report, "changed": changed}

    def restored_over(self, present, others, now_ms):
        """What a restore of this copy makes of it, and how many deletions it brings along."""
        made, known = self.copy(), self.deleted_ids()
        for other in filter(None, [present, *others]):
            for deletion in other.deletions:
                if deletion["id"] not in known:
                    known.add(deletion["id"])
                    made.deletions.append(deletion)
        made.generation = max(self.generation, present.generation if present else 0) + 1
        made.restored_at, made.written_ms = rfc3339(now_ms), now_ms
        return made, len(made.deletions) - len(self.deletions)

    # What is said of it.

    def log_text(self):
        return "".join(entry.line + "\n" for entry in self.log)

    def deletions_text(self):
        return "".join(canonical(deletion) + "\n" for deletion in self.deletions)

    def statistics(self):
        counts = Counter(entry.data["type"] for entry in self.kept())
        return {**{plural: 0 for plural in PLURALS.values()},
                **{PLURALS.get(name, name): count for name, count in counts.items()}}

    def metadata(self):
        """Without counts, times of writing and durations."""
        return {"session_id": self.id, "version": 1, "created_at": rfc3339(self.created_ms),
                "generation": self.generation, "stores": self.stores(), **self.own,
                **{name: self.given[name] for name in ("user_id", "agent_id")
                   if name in self.given},
                **({"compactions": self.compactions,
                    "last_compaction": self.compactions[-1]["timestamp"]}
                   if self.compactions else {}),
                **({"restored_at": self.restored_at} if self.restored_at else {})}

    def keys_text(self):
        def quoted(text):
            return json.dumps(text, ensure_ascii=False)
        rows = ",\n".join('    {{ "key": {}, "value": {}, "ts": {} }}'.format(
            quoted(item["key"]), quoted(item["value"]), quoted(item["ts"])) for item in self.keys)
        return '{\n  "cap": %d,\n  "entries": [%s]\n}\n' % (
            self.own.get("kv_cap", 200), f"\n{rows}\n  " if rows else "")

    def turns_text(self):
        return "\n".join(f"### {turn['role']} — {turn['timestamp']}\n\n"
                         f"{escaped(turn['content'])}\n" for turn in self.turns)


def escaped(content):
    content = re.sub(r"(\\+)(?=u0000|u0020|\0)", lambda match: match[1] * 2, content)
    content = content.replace("\0", "\\u0000")
    content = re.sub(r"(?m)^(\\*)### ", r"\\\1### ", content)
    if content.endswith("  "):
        content = content[:-1] + "\\u0020"
    return content.replace("\n", "  \n")
