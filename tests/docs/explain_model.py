"""What `explain` says of a result, as docs/query.md#explain and docs/retrieval.md have it: the
figures that the model has, and the sums that the page promises."""
import math

from query_model import HALF_LIFE, HOUR_MS

TOLERANCE = 1e-9


def near(found, wanted):
    if found is None or wanted is None:
        return found is wanted
    return math.isclose(found, wanted, rel_tol=TOLERANCE, abs_tol=TOLERANCE)


def vector_of(found, entry):
    """The members of `vector`."""
    has_words = found.text.ranks
    near_by = {id(each): found.cosine(each) for each in found.entries if each.vector is not None}
    own = near_by.get(id(entry))
    rank = None if own is None else 1 + sum(
        other > own + found.error for other in near_by.values())
    if not has_words:
        return {"similarity": own, "rank": rank}
    weight = found.query.get("vector_weight", 0.5)
    return {"similarity": own, "rank": rank, "weight": weight,
            "share": 0 if rank is None else weight * 61 / (60 + rank)}


def terms_of(found, entry):
    """(frequency, score) of each term that the entry has, in any order."""
    norm = 0.9 * (0.25 + 0.75 * entry.length / (found.average_length or 1))
    counts = [(idf, rows[id(entry)]) for idf, rows in found.weights if id(entry) in rows]
    return sorted((count, idf * 1.9 * count / (count + norm)) for idf, count in counts)


def decay_of(found, entry):
    kind = entry.given["type"]
    age = max(0, found.now_ms - entry.time_ms) / HOUR_MS
    half_life = HALF_LIFE.get(kind, 168)
    if kind == "preference":
        return {"age_hours": age, "factor": 1}
    return {"age_hours": age, "factor": max(0.1, 0.5 ** (age / half_life)),
            "half_life_hours": half_life, "curve": "exponential", "min_decay_factor": 0.1}


def differences(result, found, entry):
    """What the result's figures and `explain` have other than the model; all right when empty."""
    said, wrong = result["explain"], []

    def same(name, shown, wanted):
        is_text = isinstance(wanted, str)
        if not (shown == wanted if is_text else near(shown, wanted)):
            wrong.append((name, shown, wanted))
    same("importance", said["importance"], entry.importance)
    for name, wanted in decay_of(found, entry).items():
        same(name, said["decay"][name], wanted)
    same("decay_factor", result["decay_factor"], said["decay"]["factor"])
    same("relevance", result["relevance"], said["importance"] * said["decay"]["factor"] *
         said["recency_boost"] * result["match_quality"])
    if found.text.ranks:
        shown = sorted((term["frequency"], term["score"]) for term in said["terms"])
        shown = [term for term in shown if term[0]]
        wanted = terms_of(found, entry)
        same("terms", len(shown), len(wanted))
        for (frequency, score), (own_frequency, own_score) in zip(shown, wanted):
            same("frequency", frequency, own_frequency)
            same("score", score, own_score)
        same("bm25", said["bm25"], sum(score for _, score in shown))
        same("length", said["length"], entry.length)
    if found.vector:
        for name, wanted in vector_of(found, entry).items():
            same(name, said["vector"][name], wanted)
        if found.text.ranks:
            same("shares", said["vector"]["share"] + said["vector"]["text_share"],
                 result["match_quality"])
            rank, weight = said["vector"]["text_rank"], said["vector"]["weight"]
            share = min(1, 2 - 2 * weight) if entry.vector is None else 1 - weight
            same("text_share", said["vector"]["text_share"],
                 0 if rank is None else share * 61 / (60 + rank))
    return wrong
