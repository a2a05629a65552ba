"""What fits into a session, and which entries it drops to have room: docs/operations.md#limits,
docs/retrieval.md#relevance and docs/format.md#config as they are written, without any of the
library's ways."""
import math

from lifecycle_model import HOUR_MS, milliseconds

HALF_LIFE_HOURS = {"finding": 336, "decision": 720, "conversation": 168, "odd": 168}
EVICTED_BELOW = 0.05
HEADER_BYTES, RECORD_BYTES = 32, 144  # of vectors.bin


def decay_of(kind, age_hours, settings):
    """None for a type that does not decay. `settings`: those of `decay` that apply."""
    own = settings.get("type_specific", {}).get(kind, {})
    usual = kind != "preference" or "curve" in own or "half_life_hours" in own
    if not settings.get("enabled", True) or not own.get("decay_enabled", usual):
        return None
    half_life = own.get("half_life_hours",
                        settings.get("half_life_hours", HALF_LIFE_HOURS.get(kind, 168)))
    curve = own.get("curve", settings.get("curve", "exponential"))
    factor = {"exponential": 0.5 ** (age_hours / half_life),
              "linear": 1 - age_hours / (2 * half_life),
              "step": 0.5 ** math.floor(age_hours / half_life), "none": 1}[curve]
    return max(own.get("min_decay_factor", settings.get("min_decay_factor", 0.1)), factor)


def is_pinned(entry):
    return any(tag == "pinned" or tag.startswith("pinned.") for tag in entry.data["tags"])


def links_of(entry):
    relations = entry.data.get("relations", {}).values()
    return {*entry.data["references"], *(id_ for ids in relations for id_ in ids)}


def evicted(session, settings, now_ms, below):
    """Ids of the entries alive that are of too little relevance."""
    live = session.live(now_ms)
    needed = {link for entry in live for link in links_of(entry)}
    found = set()
    for entry in live:
        age_hours = max(0, now_ms - milliseconds(entry.data["timestamp"])) / HOUR_MS
        decay = decay_of(entry.data["type"], age_hours, settings)
        relevance = entry.data["importance"] * (decay or 1) * (1.5 if age_hours < 24 else 1)
        if decay is not None and relevance < below and entry.id not in needed and \
                not is_pinned(entry):
            found.add(entry.id)
    return found


class Room:
    """When a session compacts itself, and what it then takes. Sizes are in bytes."""

    def __init__(self, limit, threshold, is_automatic):
        self.limit, self.threshold, self.is_automatic = limit, threshold, is_automatic
        self.opened()

    def opened(self):
        # From which size, with which deletions and from when on it is tried again, by a write that
        # may have live entries dropped and by one that may not.
        self.last = {True: (0, 0, 0), False: (0, 0, 0)}
        self.hopeless = 0

    def compacts_for(self, present, growth, deletions, now_ms, may_evict):
        """Whether it tries to, before a write that makes it so much larger."""
        next_at, deletions_tried, again_ms = self.last[may_evict]
        size = present + growth
        if not self.limit or size <= self.threshold * self.limit:
            return False
        if size <= self.limit:
            return size >= next_at
        return present >= next_at or deletions != deletions_tried or now_ms >= again_ms or \
            (may_evict and growth < self.hopeless)

    def tried(self, left, growth, deletions, now_ms, may_evict):
        """left: after the compaction, before the write."""
        grown = left + growth if self.takes(left + growth) else left
        self.last[False] = (grown + self.limit // 50, deletions, now_ms + HOUR_MS)
        if may_evict:
            self.last[True] = self.last[False]

    def takes(self, size):
        return not self.limit or size <= self.limit

    def evicts_for(self, sizes, growth, dead_bytes, evicted_bytes):
        """Whether live entries have to go, and whether they may and that can help. sizes: of the
        files."""
        size = sizes["total"] + growth - dead_bytes
        derived = sizes["index"] + sizes["vectors"]
        least = size - evicted_bytes - derived
        self.hopeless = 0 if self.takes(least) else growth
        came_under_this_limit = self.takes(size - growth - derived)
        return size > self.threshold * self.limit, came_under_this_limit and self.takes(least)
