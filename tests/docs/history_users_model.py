"""What is promised of the memories of several users, checked on a history: see history_model.py."""
from history_model import check

SLACK_NS = 5_000_000  # times of expiry are told in milliseconds
EARLIER = 7 / 8  # of its ttl, that a session lasts at least after a write
LONGTERM = "long term"
OTHER_ANSWERS = {
    "record": {"NOT_FOUND"}, "load": {"NOT_FOUND"}, "delete": {"NOT_FOUND"},
    "make": {"ALREADY_EXISTS", "NOT_FOUND"}, "drop": {"NOT_FOUND"},
}


class UsersModel:
    def __init__(self, calls, ttl_s):
        self.calls, self.ttl_ns = calls, ttl_s * 1e9
        self.added, self.deletions = {}, {}
        self.drops, self.makers = [], []
        for call in calls:
            self.take(call)

    def take(self, call):
        if call.what in ("record", "store"):
            self.added[call.told["id"]] = call
        if call.what == "delete":
            self.deletions.setdefault(call.told["id"], []).append(call)
        if call.what == "drop" and call.may_count:
            self.drops.append(call)
        if call.what in ("record", "make"):
            self.makers.append(call)  # also one that is refused: it may be gone again by then

    def check(self):
        for call in self.calls:
            check(call.status in ("OK", None, "BUSY", *OTHER_ANSWERS.get(call.what, ())),
                  "an answer that no call may have", call)
            method = getattr(self, "check_" + call.what, None)
            if method and call.status is not None and call.status != "BUSY":
                method(call)

    # --- entries

    def check_there(self, call, entry_id, user, session):
        add = self.added.get(entry_id)
        check(add, f"an entry {entry_id} that nobody added", call)
        check(add.may_count and add.start < call.end, "an entry that was not added", call, add)
        check(add.told["user"] == user == call.told["user"], "an entry of another user", call, add)
        for one in self.deletions.get(entry_id, ()):
            check(not one.is_sure or one.end > call.start, f"{entry_id} was deleted and is back",
                  call, add, one)
        if add.what == "store":
            return
        check(session in (None, add.session), "an entry in another session", call, add)
        check(add.end + self.ttl_ns + SLACK_NS > call.start, "an entry whose time is over", call,
              add)
        for drop in self.drops:
            is_gone = drop.is_sure and drop.session == add.session and add.end < drop.start
            check(not is_gone or drop.end > call.start, "an entry of a session that was deleted",
                  call, add, drop)

    def check_missing(self, call, found, adds):
        for add in adds:
            if add.told["id"] in found or not add.is_sure or add.end >= call.start:
                continue
            if any(one.may_count and one.start < call.end
                   for one in self.deletions.get(add.told["id"], ())):
                continue
            if add.what == "record":
                if call.end > add.start + EARLIER * self.ttl_ns - SLACK_NS:
                    continue
                if any(drop.session == add.session and drop.end > add.start
                       and drop.start < call.end for drop in self.drops):
                    continue
            check(False, f"{add.told['id']} is lost", call, add)

    def adds_of(self, user, *whats):
        return [add for add in self.added.values()
                if add.told["user"] == user and add.what in whats]

    def check_search(self, call):
        ids = [entry_id for _, entry_id, _ in call.answer]
        check(len(ids) == len(set(ids)), "an entry twice", call)
        for session, entry_id, user in call.answer:
            self.check_there(call, entry_id, user, session)
        if call.told["all"]:
            self.check_missing(call, set(ids), self.adds_of(call.told["user"], "record", "store"))

    def check_context(self, call):
        ids = [entry_id for entry_id, _ in call.answer["found"]]
        check(len(ids) == len(set(ids)), "an entry twice", call)
        for entry_id, user in call.answer["found"]:
            self.check_there(call, entry_id, user, call.session)
        if call.answer["source"] == "short_term":
            self.check_missing(call, set(ids), [
                add for add in self.adds_of(call.told["user"], "record")
                if add.session == call.session])

    def check_delete(self, call):
        add = self.added.get(call.told["id"])
        if not call.is_sure:
            self.check_missing(call, set(), [add] if add and add.told["user"] == call.told["user"]
                               else [])
            return
        check(add.told["user"] == call.told["user"], "an entry of another user", call, add)

    # --- sessions

    def may_be_anothers(self, call):
        """Whether another user may have had the session during the call."""
        others = [one for one in self.makers if one.session == call.session]
        for entry_id, deletions in self.deletions.items():
            if self.added[entry_id].session == call.session:
                others += deletions
        return any(one.told["user"] != call.told["user"] and one.start < call.end
                   and one.end + self.ttl_ns + SLACK_NS > call.start for one in others)

    def may_be_gone(self, call):
        """Whether it may have been deleted during the call."""
        return any(drop.session == call.session and drop.end > call.start and drop.start < call.end
                   for drop in self.drops)

    def check_record(self, call):
        if call.status == "NOT_FOUND" and call.end - call.start < self.ttl_ns / 4:
            check(self.may_be_anothers(call) or self.may_be_gone(call),
                  "a message that was refused for no reason", call)

    def check_sessions(self, call):
        ids = [session for session, _, _ in call.answer]
        check(len(ids) == len(set(ids)), "a session is listed twice", call)
        for session, user, title in call.answer:
            check(call.told["user"] in (None, user), "a session of another user", call)
            check(title is not None, "a session is listed as one without metadata", call)
            check(title in ("", user, "Long-term memory"), "a session of another user's", call)
            check(not session.startswith("own-") or session == "own-" + user, "another's", call)

    def check_sweep(self, call):
        problems = [one for one in call.answer["problems"] if "lock" not in one["reason"]]
        check(not problems, "a sweep with problems", call)
