"""What `varve metrics` prints, read by the parser of prometheus_client."""

import json
import os
import re
import subprocess
import sys

from cli_support import SOURCE, CliTest, main

SKIPPED = 77
PARSE = """
import json, sys
from prometheus_client.parser import text_string_to_metric_families
print(json.dumps([
    {"name": family.name, "type": family.type, "help": family.documentation,
     "samples": [[sample.name, sample.labels, sample.value] for sample in family.samples]}
    for family in text_string_to_metric_families(sys.stdin.read())]))
"""


def interpreter():
    """A Python that has prometheus_client: this one, or the system's; None without."""
    for candidate in (sys.executable, "/usr/bin/python3"):
        known = subprocess.run([candidate, "-c", "import prometheus_client.parser"],
                               capture_output=True, check=False)
        if known.returncode == 0:
            return candidate
    return None


class Metrics(CliTest):
    def parsed(self):
        """{name: family} of what is printed."""
        text = self.run_cli("metrics").stdout
        done = subprocess.run([interpreter(), "-c", PARSE], input=text.encode(),
                              capture_output=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, b""), text)
        families = json.loads(done.stdout)
        self.assertEqual(len({family["name"] for family in families}), len(families))
        return {family["name"]: family for family in families}

    def value(self, families, family, sample=None):
        found = [value for name, labels, value in families[family]["samples"]
                 if name == (sample or family) and "le" not in labels]
        self.assertEqual(len(found), 1, family)
        return found[0]

    def test_a_parser_of_others_reads_every_line(self):
        self.notes(3)
        families = self.parsed()
        printed = self.run_cli("metrics").stdout
        samples = [line for line in printed.splitlines() if not line.startswith("#")]
        self.assertEqual(sum(len(family["samples"]) for family in families.values()), len(samples))
        for family in families.values():
            self.assertIn(family["type"], ("counter", "gauge", "histogram"))
            self.assertTrue(family["help"].endswith("."), family["name"])
            for name, labels, _ in family["samples"]:
                self.assertEqual(labels["store"], str(self.root), name)

    def test_histograms_rise_to_their_count(self):
        self.notes(1)
        families = self.parsed()
        histograms = [one for one in families.values() if one["type"] == "histogram"]
        self.assertGreaterEqual(len(histograms), 6)
        for family in histograms:
            buckets = [(float(labels["le"]), value) for name, labels, value in family["samples"]
                       if name.endswith("_bucket")]
            self.assertEqual(buckets, sorted(buckets))
            self.assertEqual(buckets[-1][0], float("inf"))
            self.assertEqual([count for _, count in buckets], sorted(count for _, count in buckets))
            self.assertEqual(buckets[-1][1],
                             self.value(families, family["name"], family["name"] + "_count"))

    def test_sizes_are_of_the_store_and_no_session_is_opened(self):
        self.notes(3)
        self.run_cli("add", "other", "tea", "--create")
        self.run_cli("delete", "notes", "e2")
        families = self.parsed()
        self.assertEqual(self.value(families, "varve_sessions"), 2)
        self.assertEqual(self.value(families, "varve_sessions_open"), 0)
        self.assertEqual(self.value(families, "varve_entries"), 3)
        logs = sum(self.session_file(session, name).stat().st_size
                   for session, name in (("notes", "memory.jsonl"), ("notes", "tombstones.jsonl"),
                                         ("other", "memory.jsonl")))
        self.assertGreaterEqual(self.value(families, "varve_size_bytes"), logs)
        added = self.value(families, "varve_entries_added", "varve_entries_added_total")
        self.assertEqual(added, 0)

    def test_a_name_with_quotes_is_taken(self):
        self.root = self.directory / 'a "store" \\ here'
        self.notes(1)
        families = self.parsed()
        self.assertEqual(families["varve_sessions"]["samples"][0][1]["store"], str(self.root))

    def test_json_has_dotted_names(self):
        self.notes(2)
        figures = self.run_json("metrics")
        self.assertEqual(figures["memory.entries.total"], 2)
        self.assertEqual(figures["memory.operations.write.duration_ms"],
                         {"count": 0, "max": 0, "p50": 0, "p99": 0, "sum": 0})

    def test_the_manual_explains_every_one_under_both_names(self):
        self.notes(1)
        page = (SOURCE / "docs" / "operations.md").read_text(encoding="utf-8")
        rows = re.findall(r"(?m)^\| `(varve_\w+)` \| `(memory\.[\w.]+)` \| .+ \| .+ \|$", page)
        text = self.run_cli("metrics").stdout
        self.assertEqual([name for name, _ in rows], re.findall(r"(?m)^# TYPE (\w+) ", text))
        self.assertEqual(sorted(name for _, name in rows), sorted(self.run_json("metrics")))

    def test_a_store_that_is_not_there_is_not_made(self):
        self.run_cli("metrics", exit_code=2)
        self.assertFalse(self.root.exists())


if __name__ == "__main__":
    if interpreter() is None:
        print("prometheus_client is missing; Debian's package is python3-prometheus-client")
        sys.exit(1 if os.environ.get("CI") else SKIPPED)
    main()
