"""What a run of lifecycle_model_test.py does to keep sessions: how long they live, what is synced,
compacted, verified and repaired."""
from lifecycle_values import LIFETIMES

STORES = ["here", "again", "elsewhere"]


class Upkeep:
    def step_change_lifetime(self):
        handle, change = self.dice.choice(self.handles), self.dice.choice(LIFETIMES)
        answer = self.call(handle.store, "nothing", "varve_session_update", handle.name, change)
        if not self.is_there(handle.session):
            return self.same(answer[0], "NOT_FOUND", "a session that is gone")
        self.same(answer[0], "OK", "update")
        handle.session.update(change, self.now_ms)
        handle.session.unaware = set(STORES) - {handle.store}

    def step_sync(self):
        answer, session = self.with_handle("nothing", "varve_session_sync")
        if session:
            self.same(answer[0], "OK", "sync")
            saved = self.saved(session)
            self.same((saved["total_entries"], saved["durable_seq"], saved["statistics"],
                       saved.get("durable_tombstones", 0)),
                      (len(session.kept()), session.seq, session.statistics(),
                       len(session.deletions)), "saved")

    def step_compact(self):
        is_purge, dry_run = self.dice.random() < 0.4, self.dice.random() < 0.4
        function = "varve_session_purge" if is_purge else "varve_session_compact"
        answer, session = self.with_handle("text", function, {"dry_run": dry_run})
        if session:
            report = self.report(answer, "compact")
            del report["duration_ms"]
            self.same(report, session.compact(self.now_ms, is_purge, dry_run), function)

    def step_verify(self):
        deep = self.dice.random() < 0.5
        answer, session = self.with_handle("text", "varve_session_verify", {"deep": deep})
        if session:
            report, sizes = self.report(answer, "verify"), self.sizes(session)
            wanted = {"ok": True, "entries": len(session.kept()), "problems": [], "notes": [],
                      "deleted": len(session.deletions), "damaged": 0,
                      "checked_bytes": sizes["log"] + sizes["tombstones"]}
            self.same({name: report[name] for name in wanted}, wanted, "verify")
        answer, session = self.with_handle("text", "varve_session_repair", None)
        if session:
            bytes_of_both = self.sizes(session)["log"] + self.sizes(session)["tombstones"]
            self.same(self.report(answer, "repair"), {
                "entries": len(session.kept()), "quarantined": 0, "resealed": 0, "missing": 0,
                "bytes_before": bytes_of_both, "bytes_after": bytes_of_both,
                "metadata_lost": False, "changed": False}, "repair")
