"""Stores of every version of the format: read, compared, verified, migrated; newer ones refused."""

import datetime
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
VERSIONS = ("version-0", "version-1")
FORMAT_VERSION_EXIT = 5
# What an entry has when it was not given, and what the library adds.
DEFAULTS = {"importance": 0.5, "decay_factor": 1, "tags": [], "references": []}
ADDED = ("seq", "checksum", "schema_version", "session_id", "batch")


def in_utc(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def comparable(entry):
    """The entry as its giver meant it."""
    entry = {**DEFAULTS, **{name: entry[name] for name in entry if name not in ADDED}}
    for name in ("timestamp", "expires_at"):
        if name in entry:
            entry[name] = in_utc(entry[name])
    return entry


class Golden(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="varve-golden-")
        self.addCleanup(directory.cleanup)
        self.root = pathlib.Path(directory.name) / "store"

    def run_cli(self, *words, exit_code=0):
        done = subprocess.run([os.environ["VARVE_CLI"], "--root", str(self.root), *words],
                              capture_output=True, timeout=120)
        self.assertEqual(done.returncode, exit_code, (words, done.stderr.decode()))
        return done.stdout.decode()

    def take(self, version):
        if self.root.exists():
            shutil.rmtree(self.root)
        shutil.copytree(HERE / version, self.root)
        (self.root / "expected.json").unlink()
        return json.loads((HERE / version / "expected.json").read_text(encoding="utf-8"))

    def files(self):
        """Bytes and time of all files below sessions/, but for the ones that are made anew."""
        return {
            str(path.relative_to(self.root)): (path.read_bytes(), path.stat().st_mtime_ns)
            for path in sorted(self.root.glob("sessions/*/*"))
            if path.name not in ("lock", "index.bin")
        }

    def compare(self, expected):
        for session, entries in expected.items():
            text = self.run_cli("export", session)
            found = [comparable(json.loads(line)) for line in text.splitlines()]
            self.assertEqual(found, [comparable(entry) for entry in entries])
            for entry in entries:
                got = json.loads(self.run_cli("get", session, entry["id"], "--json"))
                self.assertEqual(comparable(got), comparable(entry))

    def test_there_is_one_for_every_version(self):
        self.assertEqual(sorted(path.name for path in HERE.glob("version-*")), list(VERSIONS))

    def test_every_version_is_read_and_reading_changes_nothing(self):
        for version in VERSIONS:
            with self.subTest(version):
                expected = self.take(version)
                before = self.files()
                self.run_cli("ls", "--rescan")
                self.compare(expected)
                self.assertIn("o-3", self.run_cli("search", "--all", "shady row", "--quiet"))
                self.run_cli("get", "orchard", "o-gone", exit_code=2)
                self.run_cli("migrate", "--all", "--dry-run")
                damaged = version == "version-0"
                self.run_cli("verify", "orchard", exit_code=6 if damaged else 0)
                self.assertEqual(self.files(), before)

    def test_every_version_is_migrated_with_all_its_entries(self):
        for version in VERSIONS:
            with self.subTest(version):
                expected = self.take(version)
                before = self.files()
                reports = json.loads(self.run_cli("migrate", "--all", "--json"))["sessions"] \
                    if version == "version-1" else [
                        {"report": json.loads(self.run_cli("migrate", session, "--json"))}
                        for session in expected]
                old = version == "version-0"
                for report in reports:
                    self.assertEqual(report["report"]["changed"], old)
                if not old:
                    self.assertEqual(self.files(), before)
                self.compare(expected)
                for session in expected:
                    self.run_cli("verify", session)
                    log = (self.root / "sessions" / session / "memory.jsonl").read_text()
                    for line in log.splitlines():
                        entry = json.loads(line)
                        self.assertEqual(entry["schema_version"], 1)
                        self.assertIn("checksum", entry)
                        self.assertIn("seq", entry)
                self.run_cli("get", "orchard", "o-gone", exit_code=2)
                self.run_cli("add", "orchard", "one more", "--id", "o-gone", exit_code=1)
                self.run_cli("add", "orchard", "one more", "--id", "o-9")
                self.run_cli("verify", "orchard")

    def test_the_first_write_migrates(self):
        expected = self.take("version-0")
        self.run_cli("add", "orchard", "one more", "--id", "o-9", "--timestamp",
                     "2026-02-05T00:00:00Z")
        expected["orchard"].append({"id": "o-9", "type": "finding", "content": {
            "message": "one more"}, "timestamp": "2026-02-05T00:00:00Z"})
        text = self.run_cli("export", "orchard")
        ids = [json.loads(line)["id"] for line in text.splitlines()]
        self.assertEqual(ids, [entry["id"] for entry in expected["orchard"]])
        metadata = json.loads((self.root / "sessions/orchard/metadata.json").read_text())
        self.assertEqual([(item["from"], item["to"]) for item in metadata["migrations"]], [(0, 1)])
        self.assertEqual(metadata["owner"], "ann")
        aside = (self.root / "sessions/orchard/quarantine.jsonl").read_text()
        self.assertIn("dGhpcyBsaW5lIGlzIG5vIGVudHJ5", aside)  # the line that is no entry

    def test_files_of_a_newer_version_are_refused_and_stay_as_they_are(self):
        def newer_metadata():
            path = self.root / "sessions/orchard/metadata.json"
            path.write_text(path.read_text().replace('"version": 1', '"version": 2'))

        def newer_entry():
            path = self.root / "sessions/orchard/memory.jsonl"
            line, rest = path.read_text().split("\n", 1)
            # With a right checksum: a wrong one would be damage.
            member = re.search(r'"checksum":"sha256:[0-9a-f]*",', line).group()
            line = line.replace('"schema_version":1', '"schema_version":2')
            digest = hashlib.sha256(line.replace(member, "").encode()).hexdigest()
            path.write_text(line.replace(member, f'"checksum":"sha256:{digest}",') + "\n" + rest)
            (self.root / "sessions/orchard/index.bin").unlink(missing_ok=True)

        for change in (newer_metadata, newer_entry):
            with self.subTest(change.__name__):
                self.take("version-1")
                change()
                before = self.files()
                for words in (["export", "orchard"], ["add", "orchard", "x"],
                              ["delete", "orchard", "o-1"], ["migrate", "orchard"],
                              ["repair", "orchard"], ["verify", "orchard"],
                              ["metadata", "orchard", "--set", "title=x"]):
                    self.run_cli(*words, exit_code=FORMAT_VERSION_EXIT)
                self.assertEqual(self.files(), before)
        self.take("version-1")
        (self.root / "config.json").write_text('{"version":"2.0"}')
        before = self.files()
        self.run_cli("add", "orchard", "x", exit_code=FORMAT_VERSION_EXIT)
        self.assertEqual(self.files(), before)


if __name__ == "__main__":
    unittest.main()
