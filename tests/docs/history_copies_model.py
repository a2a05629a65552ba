"""What is promised of backups beside writers, and of sessions that a store keeps for itself: see
history_model.py."""
from history_model import LASTING, NEVER, Call, check

_WRITES = ("add", "delete", "kv_set", "kv_delete", "say", "update", "put_vector", "sync")


def seen_when_copied(call, backup):
    """The call that read a copy, as one that read the session while the copy was made."""
    seen = Call(call.thread, "find", call.session, {}, backup.start)
    seen.end, seen.status, seen.answer = backup.end, call.status, call.answer
    return seen


def is_of_backup(call, backup):
    """Whether the copy was made by this backup, and not left by an earlier one."""
    problems = [one["session_id"] for one in backup.answer["problems"]]
    return call.is_sure and call.told.get("is_there", True) and call.session not in problems


def check_copied_vectors(call, backup, model):
    """Of entries that may have expired before the copy was read nothing is known."""
    seen = seen_when_copied(call, backup)
    for found in call.answer:
        check(any(put.start < backup.end for put in model.vectors[found[0]]),
              f"a copied vector of {found[0]} that nobody put", call, backup)
    ids = {found[0] for found in call.answer}
    for entry_id, puts in model.vectors.items():
        entry = model.entries[entry_id]
        is_sure = any(put.is_sure and put.end < backup.start for put in puts)
        if is_sure and not entry.ttl_seconds and not entry.may_be_deleted_by(backup.end):
            check(entry_id in ids, f"the vector of {entry_id} is not in the copy", seen, backup)


def store_of(call):
    """Whose handle it is: threads share a store by twos."""
    return call.thread[:-1], (ord(call.thread[-1]) - ord("a")) // 2


def kept_spans(calls):
    """(store, session, start, end): while a store kept a session for itself, at least."""
    last, opened = {}, {}
    for call in calls:
        last[call.thread] = max(last.get(call.thread, 0), call.start)
    for call in calls:
        if call.what == "open" and call.is_sure and call.told.get("exclusive"):
            opened[call.thread, call.session] = call
        elif call.what == "close" and (call.thread, call.session) in opened:
            made = opened.pop((call.thread, call.session))
            yield store_of(call), call.session, made.end, call.start
    for (thread, session), made in opened.items():
        yield store_of(made), session, made.end, last[thread]


def check_kept(calls):
    """That nobody else wrote to it meanwhile. Sessions that pass are shared after a deletion that
    failed."""
    writes = [call for call in calls if call.what in _WRITES and call.is_sure]
    for store, session, start, end in kept_spans(calls):
        for call in writes if session in LASTING else ():
            if call.session == session and start < call.start and call.end < end < NEVER:
                check(store_of(call) == store, "another store had the session for itself", call)
