#!/usr/bin/env python3
"""docs/privacy.md#everything-of-a-user is true: the commands there hand out what is a user's, and
leave nothing of it; a restore brings back what was dropped.

    VARVE_CLI=varve privacy_test.py
"""
import os
import pathlib
import subprocess
import tempfile
import unittest

import markdown

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "privacy.md"
TIMEOUT_S = 60
HIS = ("walnut", "almond", "pecan", "hazel")  # in an entry, a key, a turn, a title


def files_with(word, folder):
    return [str(path.relative_to(folder)) for path in sorted(folder.rglob("*"))
            if path.is_file() and word.encode() in path.read_bytes()]


class EverythingOfAUser(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="varve-docs-")
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)
        self.store = self.directory / "store"
        self.copies = self.directory / "copies"
        section = PAGE.read_text(encoding="utf-8").split("\n## Everything of a user\n")[1]
        section = section.split("\n## ")[0]
        self.hand_out, self.erase = (block.text for block in markdown.blocks(section)
                                     if block.language == "sh")
        self.run_shell(
            "varve create his --user 4711 --title hazel && varve add his walnut --id nut && "
            "varve kv set his k almond && varve transcript append his user pecan && "
            "varve create two --user 4711 && varve add two walnut && "
            "varve create hers --user 4712 && varve add hers plum --id plum")

    def run_shell(self, command):
        program = pathlib.Path(os.environ["VARVE_CLI"]).resolve()
        done = subprocess.run(
            ["sh", "-c", command.replace("/backup/memory", str(self.copies))], check=False,
            cwd=self.directory, timeout=TIMEOUT_S, capture_output=True, text=True,
            env={"PATH": f"{program.parent}:{os.environ['PATH']}", "LC_ALL": "C.UTF-8",
                 "VARVE_ROOT": str(self.store)})
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_is_handed_out_and_nothing_of_others(self):
        self.run_shell(self.hand_out)
        given = self.directory / "4711"
        self.assertEqual([files_with(word, given) for word in HIS],
                         [["his/entries.json", "two/entries.json"], ["his/kv.json"],
                          ["his/transcript.json"], ["his/entries.json"]])
        self.assertEqual(files_with("plum", given), [])
        self.assertEqual({path.stat().st_mode & 0o77 for path in given.rglob("*")}, {0})

    def test_is_in_no_file_of_the_store_and_of_the_copy_afterwards(self):
        self.run_shell(f"varve backup {self.copies}")
        for folder in (self.store, self.copies):
            for word in (*HIS, '"4711"'):
                self.assertTrue(files_with(word, folder), word)
        told = self.run_shell(self.erase)
        self.assertEqual(told.splitlines()[-1], "in no file")
        for folder in (self.store, self.copies):
            for word in (*HIS, '"4711"'):
                self.assertEqual(files_with(word, folder), [], word)
        self.assertEqual(self.run_shell("varve export hers --format json").count("plum"), 2)

    def test_comes_back_with_an_older_copy_that_is_restored_whole(self):
        self.run_shell("varve backup old && varve forget his nut --yes && varve purge his")
        self.run_shell(self.erase)
        self.run_shell(f"varve restore old --overwrite --reapply-deletions {self.copies}")
        self.assertIn("walnut", self.run_shell("varve get nut --session his"))
        self.run_shell(self.erase)
        self.run_shell("varve restore old hers --overwrite")
        self.assertEqual(files_with("walnut", self.store), [])


if __name__ == "__main__":
    unittest.main()
