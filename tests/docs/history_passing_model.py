"""What is promised of sessions that are deleted, created anew and restored under open handles."""
from history_model import MEMBERS, check, part_of


class PassingModel:
    """A session that comes and goes."""

    def __init__(self, name):
        self.name, self.adds, self.removals = name, {}, {}
        self.drops, self.creates, self.restores = [], [], []
        self.writes, self.turns = {}, {}  # of keys and members; what was said

    def take(self, call):
        if call.what in ("add", "add_batch"):
            for about in call.told["entries"]:
                self.adds[about[0]] = call, about[3]
        elif call.what == "import":
            for about in call.told["entries"]:
                self.adds[about[0]] = part_of(call, about), None
        elif call.what == "delete" and call.is_sure:
            self.removals[call.told["ids"][0]] = call
        elif call.what in ("kv_set", "update", "kv_delete") and call.may_count:
            self.writes.setdefault(call.told["key"], []).append(call)
        elif call.what == "say" and call.may_count:
            self.turns[call.told["turn"]] = call
        elif call.what in ("drop", "create", "restore") and call.may_count:
            {"drop": self.drops, "create": self.creates,
             "restore": self.restores}[call.what].append(call)

    @staticmethod
    def between(calls, start, end):
        """Those that may have had their effect between the two moments."""
        return [call for call in calls if call.end > start and call.start < end]

    def check_handle(self, call):
        """The handle of a session that was deleted or replaced answers NOT_FOUND."""
        opened = call.told.get("opened")
        for taken in self.drops + self.restores if opened else ():
            if taken.is_sure and opened < taken.start and taken.end < call.start:
                check(call.status in (None, "NOT_FOUND"),
                      "a handle of a session that was taken", call, taken)

    def check_seen(self, call, entry_id):
        add, _ = self.adds.get(entry_id, (None, None))
        check(add, f"an entry {entry_id} that nobody added", call)
        check(add.may_count and add.start < call.end, "an entry that was not added", call, add)
        removal = self.removals.get(entry_id)
        if removal and removal.end < call.start:
            check(self.between(self.drops, removal.start, call.end),
                  f"{entry_id} was deleted and is back", call, removal)
        for drop in self.drops:
            if drop.is_sure and add.end < drop.start and drop.end < call.start:
                check(self.between(self.restores, drop.start, call.end),
                      f"{entry_id} went with its session and is back", call, add, drop)

    def check_missed(self, call, entry_id):
        add, ttl_seconds = self.adds[entry_id]
        if not add.is_sure or add.end >= call.start or ttl_seconds:
            return
        if not self.between(self.drops + self.restores, add.start, call.end):
            removal = self.removals.get(entry_id)
            check(removal and removal.start < call.end or self.may_be_removed(entry_id, call),
                  f"{entry_id} is lost", call, add)

    # --- keys, members, turns

    def check_not_gone(self, call, write):
        for drop in self.drops:
            if drop.is_sure and write.end < drop.start and drop.end < call.start:
                check(self.between(self.restores, drop.start, call.end),
                      "what went with its session is back", call, write, drop)

    def same_life(self, call, write):
        """Whether the call has to know of the write."""
        since = min(call.told["opened"], write.start)
        return (write.is_sure and write.end < call.start
                and not self.between(self.drops + self.restores, since, call.end))

    def check_value(self, call, key, value):
        """None: the key is not there."""
        writes = self.writes.get(key, [])
        if value is not None:
            found = [write for write in writes if write.told.get("value") == value]
            check(found and found[0].start < call.end, f"a value {value} that nobody wrote", call)
            self.check_not_gone(call, found[0])
        for write in writes:
            is_this = value is not None and write is found[0]
            is_later = value is None or write.start > found[0].end
            if is_this or not is_later or not self.same_life(call, write):
                continue
            is_over = any(other is not write and other.end > write.start
                          and other.start < call.end and other.told.get("value") == value
                          for other in writes)
            check(is_over or write.told.get("value") is None and value is None,
                  f"{key} is {value}, which is not its last value", call, write)

    def check_turns(self, call):
        names = [name for name, _ in call.answer]
        check(len(names) == len(set(names)), "a turn twice", call)
        for name, size in call.answer:
            said = self.turns.get(name)
            check(said and said.start < call.end, f"a turn {name} that nobody said", call)
            check(size == said.told["bytes"], f"turn {name} is not whole", call, said)
            self.check_not_gone(call, said)
        for name, said in self.turns.items() if len(names) < call.told["count"] else ():
            check(name in names or not self.same_life(call, said), "a turn is lost", call, said)

    def check_others(self, call):
        if call.what == "kv_get" and (call.is_sure or "there is no key" in call.answer):
            self.check_value(call, call.told["key"], call.answer if call.is_sure else None)
        elif call.what == "kv_list" and call.is_sure:
            there = dict(call.answer)
            for key in set(there) | set(self.writes) - set(MEMBERS):
                self.check_value(call, key, there.get(key))
        elif call.what == "metadata" and call.is_sure:
            for name in MEMBERS:
                self.check_value(call, name, call.answer[name])
        elif call.what == "last" and call.is_sure:
            self.check_turns(call)
        elif call.what == "verify" and call.is_sure:
            check(call.answer["ok"], "verify finds fault", call)

    # --- entries

    def may_be_removed(self, entry_id, call):
        return any(one.start < call.end for one in self.unsure_removals.get(entry_id, ()))

    def check(self, calls):
        self.unsure_removals = {}
        for call in calls:
            if call.what == "delete" and call.status is None:
                self.unsure_removals.setdefault(call.told["ids"][0], []).append(call)
        for call in calls:
            self.check_handle(call)
            if not call.is_sure and call.status != "NOT_FOUND":
                continue
            if call.what == "find" and call.is_sure:
                ids = {found[0] for found in call.answer}
                check(len(ids) == len(call.answer), "an entry twice", call)
                for entry_id in ids:
                    self.check_seen(call, entry_id)
                for entry_id in set(self.adds) - ids:
                    self.check_missed(call, entry_id)
            elif call.what == "get" and call.is_sure:
                self.check_seen(call, call.answer[0])
            self.check_others(call)

    def check_listed(self, call, is_listed):
        """What a list of sessions says of it."""
        if is_listed:
            for drop in self.drops:
                if drop.is_sure and drop.end < call.start:
                    check(self.between(self.creates + self.restores, drop.start, call.end),
                          f"{self.name} was deleted and is listed", call, drop)
            return
        for made in self.creates + self.restores:
            if made.is_sure and made.end < call.start:
                check(self.between(self.drops + self.restores, made.start, call.end),
                      f"{self.name} is not listed", call, made)


