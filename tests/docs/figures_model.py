"""What a store counts: the figures of include/varve/store.h, session.h, docs/operations.md and
docs/tiers.md as they are written, counted by hand."""
import math
from collections import Counter

PLURALS = {"conversation": "conversations", "decision": "decisions", "finding": "findings",
           "preference": "preferences"}
TOKENS_MAX, COST_MAX = 10**12, 10**9


class Entry:
    def __init__(self, given, now_ms):
        """given: its time and the end of its life in *_ms, as numbers."""
        self.id, self.type, self.usage = given["id"], given["type"], given.get("usage")
        self.time_ms = given.get("time_ms", now_ms)
        self.expires_ms = given.get("expires_ms", math.inf)
        self.is_deleted = False

    def counted(self):
        """(tokens in, tokens out, cost), or None for one that carries no usage."""
        if not isinstance(self.usage, dict):
            return None
        figures = [(self.usage.get("input_tokens", self.usage.get("prompt_tokens")), TOKENS_MAX),
                   (self.usage.get("output_tokens", self.usage.get("completion_tokens")),
                    TOKENS_MAX), (self.usage.get("cost_usd"), COST_MAX)]
        valid = [type(value) in (int, float) and 0 <= value <= most and
                 (most == COST_MAX or type(value) is int) for value, most in figures]
        if not any(valid):
            return None
        return tuple(value if fits else 0 for (value, _), fits in zip(figures, valid))


class Session:
    def __init__(self, user, agent):
        self.user, self.agent = user, agent
        self.log, self.deletions = [], 0

    def kept(self):
        return [entry for entry in self.log if not entry.is_deleted]

    def live(self, now_ms):
        return [entry for entry in self.kept() if entry.expires_ms > now_ms]

    def expired(self, now_ms):
        return [entry for entry in self.kept() if entry.expires_ms <= now_ms]

    def find(self, entry_id, now_ms):
        return next((entry for entry in self.live(now_ms) if entry.id == entry_id), None)

    def statistics(self):
        counts = Counter(entry.type for entry in self.kept())
        return {**{plural: 0 for plural in PLURALS.values()},
                **{PLURALS.get(name, name): count for name, count in counts.items()}}

    def shrink(self, now_ms):
        """What is dropped: (deleted, expired)."""
        dropped = len(self.log) - len(self.kept()), len(self.expired(now_ms))
        self.log = self.live(now_ms)
        return dropped


class Store:
    """Counters: of a handle, since it was opened."""

    def __init__(self):
        self.sessions = {}  # by id
        self.counters = Counter()

    def usage(self, now_ms, chosen):
        """{(kind, name): [entries, in, out, cost]} of the sessions chosen."""
        sums = {}
        for session_id, session in self.sessions.items():
            if not chosen(session_id, session):
                continue
            for entry in session.live(now_ms):
                if entry.counted() is None:
                    continue
                for key in (("total", ""), ("sessions", session_id), ("users", session.user),
                            ("agents", session.agent), ("days", entry.time_ms // 86_400_000)):
                    total = sums.setdefault(key, [0, 0, 0, 0])
                    for at, figure in enumerate((1, *entry.counted())):
                        total[at] += figure
        return sums
