"""Sessions of a store, which of them a query asks, and what the pages after a change have:
docs/query.md#pages and #across-sessions as they are written."""
from best_model import Best
from query_model import Text


class Session:
    def __init__(self, name, user, agent, ends_ms):
        self.name, self.user, self.agent, self.ends_ms = name, user, agent, ends_ms
        self.log, self.is_readable = [], True
        self.used = {}  # ids that no entry may have any more

    def is_there(self, clock_ms):
        return self.ends_ms > clock_ms

    def live(self, clock_ms):
        return [each for each in self.log
                if not each.is_deleted and each.expires_ms > clock_ms]


def is_asked(session, query, clock_ms):
    return (session.is_there(clock_ms) and
            query.get("user_id") in (None, session.user) and
            query.get("agent_id") in (None, session.agent) and
            session.name in query.get("session_ids", [session.name]))


def asked(sessions, query, clock_ms):
    return [each for each in sessions.values() if is_asked(each, query, clock_ms)]


def answer(sessions, query, clock_ms, candidates, cosines=None):
    logs = [each.log for each in asked(sessions, query, clock_ms) if each.is_readable]
    return Best(logs, query, clock_ms, candidates, cosines)


class Pages:
    """What the pages of one query have, whatever changes between them."""

    def __init__(self, sessions, query, clock_ms, candidates, cosines=None):
        self.found = answer(sessions, query, clock_ms, candidates, cosines)
        self.rows = [entry for entry, *_ in self.found.rows]
        self.asked = asked(sessions, query, clock_ms)
        self.at, self.is_exact, self.were_put = 0, True, False
        text = Text(query.get("text", ""), query.get("question", ""))
        has_phrase = bool(text.plain) and any(kind == "phrase" for kind, _ in text.plain)
        self.has_words, self.has_vector = bool(self.found.weights), bool(query.get("vector"))
        self.is_best = self.has_words and query["sort_by"] == "best"
        self.ranks_anew = (self.has_vector and text.ranks) or has_phrase

    def note(self, change):
        """change: of entries "deleted" or "expired"; "compacted", so that some of these went;
        "gone", of a session; "put" and "renumbered", of vectors; "restored"."""
        if change in ("deleted", "expired"):
            self.is_exact &= not (self.is_best or self.ranks_anew)
        elif change in ("compacted", "gone"):
            self.is_exact &= not self.has_words
        elif change == "put":
            self.were_put = True
        elif change == "renumbered":
            self.is_exact &= not (self.has_vector and self.were_put)
        else:
            self.is_exact = False

    def is_there(self, entry, sessions, clock_ms):
        session = sessions.get(entry.session)
        return (session is not None and session.is_there(clock_ms) and session.is_readable and
                entry.expires_ms > clock_ms and not entry.is_deleted)

    def rest(self, sessions, clock_ms):
        return [entry for entry in self.rows[self.at:] if self.is_there(entry, sessions, clock_ms)]

    def take(self, entries):
        if entries:
            self.at = self.rows.index(entries[-1]) + 1
