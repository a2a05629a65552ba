"""Calls of a thread (history_agent.py) that bring in what others wrote, and that sum up."""
import json

from history_model import MEMBERS
from varve_library import Failure, given


class MoreCalls:
    def import_lines(self):
        """New entries, and some that are there already."""
        session = self.any_session()
        handle = self.open(session)
        fresh = [self.entry() for _ in range(self.random.choice([1, 2, 5]))]
        lines = [json.dumps(entry) for entry in fresh]
        for _ in range(self.random.choice([0, 1, 3]) if handle else 0):
            try:
                lines.append(self.library.text("varve_session_get", handle.value,
                                               *given(self.some_id(session))))
            except Failure:
                pass
        self.random.shuffle(lines)
        told = {"entries": [self.about(entry) for entry in fresh], "lines": len(lines)}
        self.text("import", session, told, "varve_session_import", "\n".join(lines))

    def update(self):
        self.count += 1
        member, value = self.random.choice(MEMBERS), f"{self.name}-{self.count}"
        self.nothing("update", self.any_session(), {"key": member, "value": value},
                     "varve_session_update", {member: value})

    def index(self):
        self.text("index", self.lasting(), {}, "varve_session_index",
                  read=lambda text: len(json.loads(text)["entries"]))
