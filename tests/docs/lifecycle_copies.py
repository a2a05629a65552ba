"""What a run of lifecycle_model_test.py does with copies: backups, restores, and sessions that are
lost without being dropped."""
import shutil


class Copies:
    def step_lose(self):
        """As `rm -rf` does, of a session that nobody has open."""
        in_use = {handle.session.id for handle in self.handles}
        ids = sorted(set(self.sessions) - in_use)
        if not ids or self.dice.random() < 0.5:
            return
        session = self.sessions.pop(self.dice.choice(ids))
        shutil.rmtree(self.root / "sessions" / session.id)
        self.lost.append((session.id, session.created_ms))

    def note_drop(self, session_id):
        self.lost = [each for each in self.lost if each[0] != session_id]

    def is_lost(self, kept_copy):
        return (kept_copy.id, kept_copy.created_ms) in self.lost

    def is_of_another_store(self, copies):
        lives = {(each.id, each.created_ms) for each in [*self.listed, *self.sessions.values()]}
        return copies and not any((each.id, each.created_ms) in lives for each in copies.values())

    def step_back_up(self):
        name = self.dice.choice(list(self.copies))
        copies, path = self.copies[name], self.directory / name
        wanted = self.dice.choice([None, None, True, False])
        options = {} if wanted is None else {"delete_missing": wanted}
        answer = self.call("again", "text", "varve_store_backup", "again", str(path), options)
        if wanted is None and self.is_of_another_store(copies):
            return self.same(answer[0], "INVALID_ARGUMENT", "back up another store")
        report = self.report(answer, "back up")
        gone = [each for each in copies if each not in self.sessions]
        lost = [each for each in gone if self.is_lost(copies[each])] if wanted is None else []
        removed = [each for each in gone if each not in lost] if wanted is not False else []
        kept = [each.id for each in self.sessions.values()
                if not wanted and each.id in copies and self.is_lost(copies[each.id])
                and copies[each.id].created_ms != each.created_ms]
        for session_id in removed:
            del copies[session_id]
        copies.update({each.id: each.copy() for each in self.sessions.values()
                       if each.id not in kept})
        self.same([report[figure] for figure in ("sessions", "removed")],
                  [len(self.sessions) - len(kept), len(removed)], "back up")
        self.same(sorted(problem["session_id"] for problem in report["problems"]
                         if not problem["copied"]), sorted(lost + kept), "back up")
        self.same(report["copied"] + report["appended"] + report["unchanged"],
                  report["sessions"], "back up")
        self.check_files(path, copies)
        lines = (path / "indices" / "sessions.jsonl").read_text().splitlines() if copies else []
        rows = [line for line in lines if "dropped_at" not in line]
        self.same(len(rows), len(set(rows)), "the list of the backup")

    def step_restore(self):
        copies, path = self.copies["monday"], str(self.directory / "monday")
        ids = [each for each in sorted(copies) if self.dice.random() < 0.4]
        if not ids or any(copies[each].may_be_over(self.now_ms) for each in ids):
            return
        others = self.some(0.3, self.copies["friday"]) or {}
        options = {"sessions": ids + ids[:1], "overwrite": self.dice.random() < 0.7,
                   **({"tombstones_from": str(self.directory / "friday")} if others else {})}
        answer = self.call("again", "text", "varve_store_restore", "again", path, options)
        present = [each for each in ids
                   if each in self.sessions and not self.is_over(self.sessions[each])]
        if not options["overwrite"] and present:
            return self.same(answer[0], "ALREADY_EXISTS", "restore")
        over = [each for each in ids if self.is_over(copies[each])]
        if len(over) == len(ids):
            return self.same(answer[0], "NOT_FOUND", "restore what is over")
        report = self.report(answer, "restore")
        restored = [each for each in ids if each not in over]
        replaced = set(restored) & self.sessions.keys()
        listed = {(session.id, session.created_ms) for session in self.listed}
        returned = [each for each in restored if each not in replaced
                    and (each, copies[each].created_ms) in listed]
        reapplied = sum(self.put_back(copies[each], others.get(each)) for each in restored)
        entries = [entry for each in restored
                   for entry in self.sessions[each].live(self.now_ms)]
        self.same([report[figure] for figure in
                   ("sessions", "replaced", "entries", "deletions_reapplied")],
                  [len(restored), len(replaced), len(entries), reapplied], "restore")
        self.same(report["returned"], returned, "back after a drop")
        self.same(sorted(problem["session_id"] for problem in report["problems"]), sorted(over),
                  "restore")

    def put_back(self, kept_copy, other):
        present = self.sessions.get(kept_copy.id)
        made, reapplied = kept_copy.restored_over(present, [other], self.now_ms)
        if present and present.created_ms != made.created_ms:
            self.note_drop(made.id)
        self.lost = [each for each in self.lost if each != (made.id, made.created_ms)]
        self.sessions[made.id] = made
        for at, session in enumerate(self.listed):
            if (session.id, session.created_ms) == (made.id, made.created_ms):
                self.listed[at] = made  # it has its old place
                return reapplied
        self.listed.append(made)
        return reapplied
