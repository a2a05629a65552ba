"""What docs/threading.md and the headers promise of processes that share a store, checked on a
history: calls with the moments of their beginning and end. A call that ended before another began
came before it; of two that overlap either may have come first. A call that was not answered may
have had its effect or not, until somebody sees it."""
import collections
import math

LASTING = ["commit", "interval", "os"]  # sessions of this durability, which nobody deletes
PASSING = ["one", "two"]  # sessions that are deleted, created anew and restored
MEMBERS = ["title", "m0", "m1"]  # of the metadata of a session
NEVER = math.inf
TTL_SLACK_NS = 5_000_000  # a time of expiry is told in milliseconds

# What a call may answer besides OK. BUSY: a writer in the way, or a log that keeps being replaced.
_OTHER_ANSWERS = {
    "get": {"NOT_FOUND"}, "delete": {"NOT_FOUND"},
    "kv_get": {"NOT_FOUND"}, "kv_delete": {"NOT_FOUND"},
    "create": {"ALREADY_EXISTS"}, "drop": {"NOT_FOUND"},
    "restore": {"NOT_FOUND"}, "sessions": {"INVALID_ARGUMENT"},
    **{what: {"SIZE_LIMIT"} for what in ("add", "add_batch", "import", "kv_set", "say")},
    "put_vector": {"NOT_FOUND", "SIZE_LIMIT"},
}


class Call:
    def __init__(self, thread, what, session, told, start):
        self.thread, self.what, self.session, self.told = thread, what, session, told or {}
        self.start, self.end, self.status, self.answer = start, NEVER, None, None

    @property
    def is_lasting(self):
        return self.session in LASTING

    @property
    def is_sure(self):
        return self.status == "OK"

    @property
    def may_count(self):
        """Whether it had its effect, or may have had it."""
        return self.status in ("OK", None)

    def __repr__(self):
        end = "never" if self.end == NEVER else f"{self.end / 1e6:.3f}"
        answer = str(self.answer)
        return (f"[{self.start / 1e6:.3f} to {end}] {self.thread}: {self.what} {self.session} "
                f"{self.told} -> {self.status} {answer[:200]}")


def part_of(call, about):
    """One entry of an import, which is not atomic: after a failure some of them may be there."""
    part = Call(call.thread, call.what, call.session, dict(call.told, entries=[about]), call.start)
    if call.is_sure:
        part.status, part.end = call.status, call.end
    return part


def call_is_old(call):
    """Whether it stands for what was in a log of version 0."""
    return call.what == "add" and call.told.get("is_old", False)


class Entry:
    """`end`: when it was there for certain; NEVER for one that nobody answered or saw."""

    def __init__(self, about, call):
        self.id, self.tag, self.word, ttl_seconds = about
        self.call, self.start = call, call.start
        self.end = call.end if call.is_sure else NEVER
        self.ttl_seconds = ttl_seconds
        self.deletions = []  # (start, end); end: NEVER if it may not have had an effect
        self.gone_by = NEVER  # when somebody missed it after it was there
        self.seq = self.checksum = None
        self.migrated = NEVER  # when it was first seen with a number, in a log that had none
        if ttl_seconds:
            ttl_ns = ttl_seconds * 1e9
            self.deletions.append((call.start + ttl_ns - TTL_SLACK_NS,
                                   call.end + ttl_ns + TTL_SLACK_NS))

    def was_deleted_before(self, moment):
        return self.gone_by < moment or any(end < moment for _, end in self.deletions)

    def may_be_deleted_by(self, moment):
        return any(start < moment for start, _ in self.deletions)

    def must_be_seen(self, start, end):
        """By who looked from `start` to `end`."""
        return self.end < start and not self.may_be_deleted_by(end)


class Wrong(Exception):
    pass


def check(holds, message, *calls):
    if not holds:
        raise Wrong("\n  ".join([message, *map(repr, calls)]))


def check_one_moment(call, start, end, low, high, forbidden):
    """That some moment of [start, end] is in [low, high] and in none of the open intervals."""
    at, last = max(start, low), min(end, high)
    for begin, finish in sorted(forbidden):
        if begin < at < finish:
            at = finish
    check(at <= last, "what was seen was never there at one moment", call)


class Register:
    """A key whose value is replaced: all writes, and what reads of it say."""

    def __init__(self):
        self.writes = []  # (value or None, start, end, call)

    def write(self, value, call):
        self.writes.append([value, call.start, call.end if call.is_sure else NEVER, call])

    def saw(self, value, end):
        """A value that was seen was written by then."""
        for write in self.writes:
            if write[0] is not None and write[0] == value:
                write[2] = min(write[2], end)

    def span(self, value, read):
        """From when until when the key had this value, at most. None: it had none."""
        if value is not None:
            found = [write for write in self.writes if write[0] == value]
            check(found, f"a value {value} that nobody wrote", read)
            _, start, end, _ = found[0]
            return start, min([w[2] for w in self.writes if w[1] > end], default=NEVER)
        return None

    def check_read(self, value, read):
        """A value seen alone."""
        span = self.span(value, read)
        if span:
            check(span[0] < read.end, "a value before it was written", read)
            check(span[1] >= read.start, f"an old value {value}", read)
            return
        sets = [w for w in self.writes if w[0] is not None and w[2] < read.start]
        for _, start, end, call in sets:
            removed = any(w[0] is None and w[1] < read.end and w[2] > start for w in self.writes)
            check(removed, "a key that was set and not deleted is missing", read, call)


class SessionModel:
    """A session that lasts."""

    def __init__(self, name):
        self.name, self.entries, self.vectors = name, {}, collections.defaultdict(list)
        self.keys = collections.defaultdict(Register)
        self.turns, self.following = {}, {}

    # --- what was done

    def take(self, call):
        if call.what in ("add", "add_batch"):
            for about in call.told["entries"]:
                self.entries[about[0]] = Entry(about, call)
        elif call.what == "import":
            for about in call.told["entries"]:
                self.entries[about[0]] = Entry(about, part_of(call, about))
        elif call.what in ("kv_set", "update") and call.may_count:
            self.keys[call.told["key"]].write(call.told["value"], call)
        elif call.what == "kv_delete" and call.may_count:
            self.keys[call.told["key"]].write(None, call)
        elif call.what == "put_vector" and call.may_count and call.told["id"] in self.entries:
            self.vectors[call.told["id"]].append(call)
        elif call.what == "say" and call.may_count:
            self.turns[call.told["turn"]] = [call.start, call.end if call.is_sure else NEVER, call]

    def take_deletion(self, call):
        """When all entries are known."""
        ids = [i for i in call.told["ids"] if i in self.entries]
        if not call.may_count or (call.what == "delete_where" and call.answer == 0):
            return
        is_sure = call.is_sure and (call.what == "delete" or call.answer == len(call.told["ids"]))
        for entry_id in ids:
            self.entries[entry_id].deletions.append(
                (call.start, call.end if is_sure else NEVER))

    # --- what was seen, before anything is checked

    def saw(self, found, start, end):
        for entry_id, seq, checksum in found:
            entry = self.entries.get(entry_id)
            if entry is None:
                continue  # check_found() tells
            entry.end = min(entry.end, end)
            if seq is not None:
                entry.migrated = min(entry.migrated, end)
            if entry.seq is None:
                entry.seq, entry.checksum = seq, checksum

    def saw_others(self, call):
        """Keys and turns."""
        if call.what == "kv_get":
            self.keys[call.told["key"]].saw(call.answer, call.end)
        elif call.what == "metadata":
            for name in MEMBERS:
                self.keys[name].saw(call.answer[name], call.end)
        elif call.what == "kv_list":
            for key, value in call.answer:
                self.keys[key].saw(value, call.end)
        elif call.what == "last":
            for name, _ in call.answer:
                if name in self.turns:
                    self.turns[name][1] = min(self.turns[name][1], call.end)

    def missed(self, ids, selects, start, end):
        for entry in self.entries.values():
            if entry.end < start and selects(entry) and entry.id not in ids:
                entry.gone_by = min(entry.gone_by, end)

    # --- checks

    def check_there(self, call, found, start, end):
        entry_id, seq, checksum = found
        entry = self.entries.get(entry_id)
        check(entry, f"an entry {found} that nobody added", call)
        check(entry.call.may_count, "an entry whose add was refused", call, entry.call)
        check(entry.start < end, "an entry before it was added", call, entry.call)
        check(not entry.was_deleted_before(start), f"{entry_id} was deleted and is back", call)
        is_old = call_is_old(entry.call) and start < entry.migrated
        is_same = (entry.seq, entry.checksum) == (seq, checksum)
        check(is_old if seq is None else is_same, f"{entry_id} was changed", call)
        return entry

    def check_absent(self, call, entry, start, end):
        check(not entry.must_be_seen(start, end), f"{entry.id} is lost", call, entry.call)

    def check_found(self, call, start, end, selects, answer):
        """All entries that `selects` picks, as they were at one moment."""
        there = {found[0]: self.check_there(call, found, start, end) for found in answer}
        check(len(there) == len(answer), "an entry twice", call)
        check(all(map(selects, there.values())), "an entry that was not asked for", call)
        low = max([entry.start for entry in there.values()], default=0)
        # A call asks once for the time, so what expires meanwhile proves nothing.
        high = min([gone for entry in there.values() if not entry.ttl_seconds
                    for _, gone in entry.deletions], default=NEVER)
        last_seq = max([entry.seq or 0 for entry in there.values()], default=0)
        forbidden = []
        for entry in self.entries.values():
            if entry.id in there or not selects(entry):
                continue
            self.check_absent(call, entry, start, end)
            may_be_gone = entry.may_be_deleted_by(end)
            check(may_be_gone or entry.seq is None or entry.seq > last_seq,
                  f"{entry.id} is missing before a later one", call, entry.call)
            if entry.end < NEVER and not entry.ttl_seconds:
                gone = min([begin for begin, _ in entry.deletions], default=NEVER)
                forbidden.append((entry.end, gone))
        self.check_batches(call, there, end, selects)
        check_one_moment(call, start, end, low, high, forbidden)

    def check_batches(self, call, there, end, selects):
        for entry in there.values():
            for about in entry.call.told["entries"]:
                other = self.entries[about[0]]
                is_there = other.id in there or not selects(other)
                check(is_there or other.may_be_deleted_by(end),
                      f"of a batch there is {entry.id} without {other.id}", call)

    def check_count(self, call, selects, count):
        least = most = 0
        for entry in self.entries.values():
            if not selects(entry) or not entry.call.may_count or entry.start >= call.end:
                continue
            most += not entry.was_deleted_before(call.start)
            least += entry.must_be_seen(call.start, call.end)
        check(least <= count <= most, f"{count} entries, not {least} to {most}", call)

    def check_vectors(self, call, answer):
        ids = {found[0] for found in answer}
        for found in answer:
            self.check_there(call, found, call.start, call.end)
            check(any(put.start < call.end for put in self.vectors[found[0]]),
                  f"a vector of {found[0]} that nobody put", call)
        for entry_id, puts in self.vectors.items():
            entry = self.entries[entry_id]
            for put in puts:
                is_sure = put.is_sure and put.end < call.start
                check(entry_id in ids or not is_sure or entry.may_be_deleted_by(call.end),
                      f"the vector of {entry_id} is lost", call, put)

    def check_pages(self, call):
        start, ids = call.start, []
        pages = call.answer["pages"]
        for page, end in pages:
            for found in page:
                entry = self.check_there(call, found, start, end)
                check(entry.start < pages[0][1], "a page has what came after the first", call)
                ids.append(found[0])
            start = end
        check(len(ids) == len(set(ids)), "pages repeat an entry", call)
        if not call.answer["whole"]:
            return
        for entry in self.entries.values():
            if entry.id not in ids:
                self.check_absent(call, entry, call.start, call.end)

    def check_keys(self, call):
        low, high = 0, NEVER
        there = dict(call.answer)
        for key, value in call.answer:
            start, end = self.keys[key].span(value, call)
            low, high = max(low, start), min(high, end)
        for key in set(self.keys) - set(there) - set(MEMBERS):
            self.keys[key].check_read(None, call)
        for key, value in call.answer:
            self.keys[key].check_read(value, call)
        check_one_moment(call, call.start, call.end, low, high, [])
        times = [self.time_of(key, value) for key, value in call.answer]
        for (start, _), (_, end) in zip(times, times[1:]):
            check(end >= start, "keys are not in the order in which they were set", call)

    def time_of(self, key, value):
        return next((w[1], w[2]) for w in self.keys[key].writes if w[0] == value)

    def check_turns(self, call, cap):
        names = [name for name, _ in call.answer]
        check(len(names) == len(set(names)), "a turn twice", call)
        low = 0
        for name, size in call.answer:
            check(name in self.turns, f"a turn {name} that nobody said", call)
            start, _, said = self.turns[name]
            check(size == said.told["bytes"], f"turn {name} is not whole", call, said)
            check(start < call.end, "a turn before it was said", call, said)
            low = max(low, start)
        for one, next_one in zip(names, names[1:]):
            check(self.following.setdefault(one, next_one) == next_one,
                  f"other turns followed {one} in another look", call)
        first = min([self.turns[name][1] for name in names], default=0)
        missing = [turn for name, turn in self.turns.items()
                   if name not in names and turn[1] < NEVER]
        if len(names) == min(call.told["count"], cap):
            missing = [turn for turn in missing if turn[0] > first]
        for turn in missing:
            check(turn[1] >= call.start, "a turn is lost", call, turn[2])
        high = min([turn[1] for turn in missing], default=NEVER)
        check_one_moment(call, call.start, call.end, low, high, [])


def check_rising(calls, value_of, message):
    """That a later call does not tell a smaller value than one that ended before it began."""
    by_end = sorted(calls, key=lambda call: call.end)
    ended, highest, highest_call = 0, -1, None
    for call in sorted(calls, key=lambda call: call.start):
        while ended < len(by_end) and by_end[ended].end < call.start:
            if value_of(by_end[ended]) > highest:
                highest, highest_call = value_of(by_end[ended]), by_end[ended]
            ended += 1
        check(value_of(call) >= highest, message, call, *filter(None, [highest_call]))


def allowed(call):
    """Whether the answer is one that the call may have at all."""
    if call.status in ("OK", None, "BUSY"):
        return True
    if call.session and not call.is_lasting and call.status == "NOT_FOUND":
        return True
    return call.status in _OTHER_ANSWERS.get(call.what, ())
