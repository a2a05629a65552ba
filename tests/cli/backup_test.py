"""backup and restore: what they print and leave behind, and their exit codes."""

import pathlib
import shutil

from cli_support import CliTest, main


class Backup(CliTest):
    def setUp(self):
        super().setUp()
        self.copy = str(self.directory / "copy")
        self.notes()

    def test_a_backup_is_a_store_and_the_next_one_copies_what_is_new(self):
        done = self.run_cli("backup", self.copy)
        self.assertEqual(done.stderr.split(";")[0],
                         "1 session: 1 copied, 0 appended to, 0 unchanged")
        self.assertEqual(self.run_cli("--root", self.copy, "export", "notes").stdout,
                         self.run_cli("export", "notes").stdout)
        self.run_cli("add", "notes", "more", "--id", "e9")
        report = self.run_json("backup", self.copy)
        self.assertEqual((report["appended"], report["entries"]), (1, 1))
        self.assertEqual(self.run_cli("backup", self.copy, "notes", "--quiet").stderr, "")
        self.run_cli("get", "notes", "e9", environment={"VARVE_ROOT": self.copy})

    def test_a_session_may_be_named_by_its_option(self):
        self.run_cli("add", "second", "x", "--create")
        self.run_cli("backup", self.copy, "--session", "second")
        self.assertEqual(self.run_cli("--root", self.copy, "ls", "-q").stdout, "second\n")

    def test_deleted_sessions_leave_the_copy_unless_they_are_kept(self):
        self.run_cli("create", "other")
        self.run_cli("backup", self.copy)
        self.run_cli("drop", "other", "--yes")
        self.assertEqual(self.run_json("backup", self.copy, "--keep-missing")["removed"], 0)
        self.assertIn("1 removed", self.run_cli("backup", self.copy).stderr)

    def test_a_store_that_is_not_the_one_that_was_backed_up_removes_no_copy(self):
        self.run_cli("backup", self.copy)
        other = ["--root", str(self.directory / "other")]
        self.run_cli(*other, "create", "elsewhere")
        failed = self.run_cli(*other, "backup", self.copy, exit_code=1)
        self.assertIn("this store never had any of them", failed.stderr)
        self.assertIn("--delete-missing", failed.stderr)
        self.assertEqual(self.run_cli("--root", self.copy, "ls", "--quiet").stdout, "notes\n")
        self.assertIn("1 removed", self.run_cli(*other, "backup", self.copy,
                                                "--delete-missing").stderr)

    def test_a_session_that_nobody_dropped_keeps_its_copy(self):
        self.run_cli("create", "other")
        self.run_cli("backup", self.copy)
        shutil.rmtree(self.directory / "store" / "sessions" / "notes")
        failed = self.run_cli("backup", self.copy, exit_code=6)
        self.assertIn("gone though nobody dropped it", failed.stderr)
        self.run_cli("restore", self.copy, "notes")
        self.run_cli("get", "notes", "e2")
        shutil.rmtree(self.directory / "store" / "sessions" / "notes")
        self.assertIn("1 removed", self.run_cli("backup", self.copy, "--delete-missing").stderr)

    def test_restoring_does_not_bring_deleted_entries_back(self):
        self.run_cli("backup", self.copy)
        self.run_cli("delete", "notes", "e2")
        failed = self.run_cli("restore", self.copy, "notes", exit_code=1)
        self.assertIn("--overwrite", failed.stderr)
        done = self.run_cli("restore", self.copy, "notes", "--overwrite")
        self.assertIn("1 session restored, 2 entries; 1 replaced; 1 deletion applied again",
                      done.stderr)
        self.run_cli("get", "notes", "e2", exit_code=2)
        self.run_cli("get", "notes", "e1")
        self.run_cli("verify", "notes")

    def test_a_lost_store_is_restored_with_the_deletions_of_a_newer_copy(self):
        self.run_cli("backup", self.copy)
        self.run_cli("delete", "notes", "e2")
        newer = str(self.directory / "newer")
        self.run_cli("backup", newer)
        self.run_cli("drop", "notes", "--yes")
        report = self.run_json("restore", self.copy, "--reapply-deletions", newer)
        self.assertEqual((report["entries"], report["deletions_reapplied"]), (2, 1))

    def test_a_session_that_was_dropped_is_named_when_it_is_back(self):
        self.run_cli("backup", self.copy)
        self.run_cli("drop", "notes", "--yes")
        self.assertIn("1 session restored, 3 entries; 1 that was dropped or lost is back: notes\n",
                      self.run_cli("restore", self.copy).stderr)
        self.assertNotIn("back", self.run_cli("restore", self.copy, "--overwrite").stderr)

    def test_a_session_that_cannot_be_copied_is_told_and_the_others_are(self):
        self.run_cli("create", "newer")
        self.session_file("newer", "metadata.json").write_text('{"version":2}')
        done = self.run_cli("backup", self.copy, exit_code=6)
        self.assertIn("newer: not copied", done.stderr)
        self.assertIn("1 session: 1 copied", done.stderr)

    def test_a_session_that_cannot_be_restored_is_told_and_the_others_are(self):
        self.run_cli("create", "newer")
        self.run_cli("backup", self.copy)
        described = pathlib.Path(self.copy, "sessions", "newer", "metadata.json")
        described.write_text('{"version":2}')
        done = self.run_cli("restore", self.copy, "--overwrite", exit_code=6)
        self.assertIn("newer: not restored", done.stderr)
        self.assertIn("1 session restored", done.stderr)

    def test_damage_that_is_copied_with_its_session_is_told_and_no_failure(self):
        log = self.session_file("notes", "memory.jsonl")
        log.write_text("{\n" + log.read_text())
        done = self.run_cli("backup", self.copy)
        self.assertIn("notes: ", done.stderr)
        self.assertNotIn("not copied", done.stderr)
        self.assertIn("1 session: 1 copied", done.stderr)

    def test_mistakes(self):
        self.run_cli("backup", exit_code=1)
        self.run_cli("restore", exit_code=1)
        self.run_cli("backup", str(self.root), exit_code=1)
        self.run_cli("backup", self.copy, "nobody", exit_code=2)
        self.run_cli("restore", str(self.directory / "nowhere"), exit_code=2)
        (self.directory / "file.txt").write_text("x")
        self.run_cli("backup", str(self.directory), exit_code=1)

    def test_a_path_over_the_store_is_outside_where_it_leads_outside(self):
        root = f"../{self.directory.name}/{self.root.name}"
        for path in (f"{self.root}/../copy", f"{self.root}/sessions/..//../copy/"):
            self.run_cli("backup", path)
            self.run_cli("--root", self.copy, "get", "notes", "e1")
        for path in (f"{self.copy}/../{self.root.name}/new", f"{root}/sessions/../new", root):
            failed = self.run_cli("backup", path, exit_code=1)
            self.assertIn("into itself", failed.stderr)

    def test_an_absolute_path_is_not_inside_the_working_directory(self):
        missing = "/" + 300 * "x"  # too long to be made
        self.run_cli("--root", ".", "create", "other")
        failed = self.run_cli("--root", ".", "backup", missing, exit_code=4)
        self.assertNotIn("into itself", failed.stderr)


if __name__ == "__main__":
    main()
