"""--help, the man page and the completions know the same commands and options."""

import contextlib
import os
import pty
import re
import shutil
import subprocess
import tempfile
import unittest

from cli_support import (SOURCE, CliTest, command_names, commands, help_text, main, options,
                         program, read_to_end, second_names, section)

MAN_PAGE = SOURCE / "docs" / "man" / "varve.1"
COMPLETIONS = SOURCE / "src" / "cli" / "completions"


def all_options():
    """Pairs of command ("" for the program) and the names of one option."""
    found = [("", names) for names in options()]
    for command in commands():
        found += [(command, names) for names in options(command)]
    return found


def man_page_parts():
    """The man page, plain, as a part for the options and one for each command."""
    text = MAN_PAGE.read_text(encoding="utf-8").replace("\\-", "-")
    text = re.sub(r"\\f[A-Z]|[\"]|\\&", "", text)
    body = text[text.index(".SH OPTIONS"):text.index(".SH EXIT STATUS")]
    pieces = re.split(r"^\.TP\n\.B varve ([a-z-]+).*$", body, flags=re.MULTILINE)
    parts = {"": pieces[0]}
    parts.update(zip(pieces[1::2], pieces[2::2]))
    return parts


class Help(CliTest):
    def test_lists_are_found(self):
        # What the other tests derive from --help must not be empty by accident.
        self.assertGreaterEqual(len(commands()), 16)
        self.assertGreaterEqual(len(options()), 10)
        self.assertIn(["--reason"], options("delete"))
        self.assertEqual(second_names(), {"forget": "delete"})
        self.assertIn(["-n", "--limit"], options("ls"))

    def test_reads_like_a_manual_page(self):
        page = help_text()
        titles = [line for line in page.splitlines() if line and not line.startswith(" ")]
        self.assertEqual(titles, ["NAME", "SYNOPSIS", "DESCRIPTION", "COMMANDS", "OPTIONS",
                                  "TIMES", "EXAMPLES", "ENVIRONMENT", "EXIT CODES", "FILES"])
        self.assertLessEqual(max(len(line) for line in page.splitlines()), 80)
        codes = re.findall(r"(?m)^    (\d)", "\n".join(section(page, "EXIT CODES")))
        self.assertEqual(codes, list("01234567"))

    def test_create_names_every_creation_option_of_the_header(self):
        header = (SOURCE / "include/varve/session.h").read_text(encoding="utf-8")
        listed = header[header.index('{"session_id","if_exists"'):header.index("}, all optional")]
        names = set(re.findall(r'"([a-z_]+)"', listed)) - {"kv", "transcript"}
        with_options = {"session_id", "if_exists", "user_id", "agent_id", "title", "ttl_hours"}
        self.assertLess(with_options, names)
        for page in (help_text("create"), man_page_parts()["create"]):
            for name in names - with_options:
                self.assertRegex(page, rf"\b{name}\b")

    def test_every_command_explains_itself(self):
        for command in commands():
            with self.subTest(command):
                page = help_text(command)
                for title in ("NAME", "SYNOPSIS", "DESCRIPTION", "EXAMPLES", "SEE ALSO"):
                    self.assertTrue(section(page, title), title)
                names = next(", ".join(names) for names in command_names() if command in names)
                self.assertIn(f"varve {names} - ", page)
                self.assertLessEqual(max(len(line) for line in page.splitlines()), 80)
                for example in section(page, "EXAMPLES"):
                    if example:
                        self.assertIn("varve ", example)

    def test_a_second_name_is_the_same_command(self):
        for name, command in second_names().items():
            self.assertEqual(help_text(name), help_text(command))
            self.assertIn(f"varve {name} is another name",
                          " ".join(help_text(command).replace("`", "").split()))

    def test_examples_name_options_that_exist(self):
        known = {name for _, names in all_options() for name in names}
        for command in [(), *((name,) for name in commands())]:
            for line in section(help_text(*command), "EXAMPLES"):
                for name in re.findall(r"(?<!\S)--[a-z][a-z-]+", line):
                    self.assertIn(name, known, line)

    def test_help_is_a_word_too(self):
        self.assertEqual(self.run_cli("help").stdout, help_text())
        self.assertEqual(self.run_cli("--quiet", "help", "add").stdout, help_text("add"))
        self.run_cli("ad", "help", exit_code=1)
        self.run_cli("create", "help")
        self.run_cli("add", "help", "help", "--id", "e1")
        self.assertIn("help", self.run_cli("get", "help", "e1").stdout)

    def test_help_wins_over_mistakes(self):
        done = self.run_cli("add", "--help", "--nonsense")
        self.assertIn("varve add - ", done.stdout)


class ManPage(unittest.TestCase):
    def test_names_every_command(self):
        self.assertEqual([name for name in man_page_parts() if name], commands())

    def test_names_every_option_at_its_command(self):
        parts = man_page_parts()
        for command, names in all_options():
            for name in names:
                with self.subTest(f"{command} {name}"):
                    self.assertTrue(re.search(rf"(?<![\w-]){name}(?![\w-])", parts[command]),
                                    f"docs/man/varve.1 has no {name} below varve {command}")

    def test_names_second_names_at_their_command(self):
        for name, command in second_names().items():
            self.assertIn(f"varve {name}\nis another name", man_page_parts()[command])

    def test_names_no_option_that_does_not_exist(self):
        known = {name for _, names in all_options() for name in names}
        text = "".join(man_page_parts().values())
        for name in re.findall(r"(?<![\w-])--[a-z][a-z-]*", text):
            self.assertIn(name, known)

    @unittest.skipUnless(shutil.which("groff"), "groff is not installed")
    def test_is_well_formed(self):
        done = subprocess.run(["groff", "-man", "-ww", "-z", "-Tutf8", str(MAN_PAGE)],
                              capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))


class Completions(unittest.TestCase):
    def complete(self, *words, home="/"):
        """What bash offers for the last of the words."""
        script = (
            f'source "{COMPLETIONS / "varve.bash"}"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); '
            '_varve; printf "%s\\n" "${COMPREPLY[@]}"'
        )
        environment = {"PATH": f"{os.path.dirname(program())}:{os.environ['PATH']}", "HOME": home}
        done = subprocess.run(["bash", "-uc", script, "bash", "varve", *words], env=environment,
                              capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout.split()

    def test_bash_offers_every_command(self):
        self.assertEqual(sorted(self.complete("")), sorted([*commands(), *second_names()]))
        self.assertEqual(self.complete("ver"), ["verify", "version"])

    def test_bash_offers_what_help_explains(self):
        self.assertEqual(sorted(self.complete("help", "")),
                         sorted([*commands(), *second_names()]))
        self.assertEqual(self.complete("help", "ver"), ["verify", "version"])
        self.assertEqual(self.complete("help", "verify", ""), [])

    def test_bash_offers_exactly_the_options_of_each_command(self):
        program_options = {names[-1] for names in options()}
        self.assertEqual(set(self.complete("--")), program_options)
        for command in [*commands(), *second_names()]:
            with self.subTest(command):
                own = {names[-1] for names in options(command)}
                self.assertEqual(set(self.complete(command, "--")), own | program_options,
                                 "varve.bash and --help differ")

    def test_bash_skips_the_values_of_options(self):
        # Every option with a value takes the word behind it: "log" is no command there.
        for command in [(), *((name,) for name in commands())]:
            for line in section(help_text(*command), "OPTIONS") if options(*command) else []:
                match = re.match(r"    (?:-[a-zA-Z], )?(--[a-z-]+) [A-Z]", line)
                if not match:
                    continue
                with self.subTest(f"{command} {match.group(1)}"):
                    words = [*command, match.group(1)]
                    self.assertNotIn("ls", self.complete(*words, ""))
                    expected = ["verify", "version"] if not command else []
                    self.assertEqual(self.complete(*words, "log", "ver"), expected)

    def test_fish_skips_the_values_of_options(self):
        fish = (COMPLETIONS / "varve.fish").read_text(encoding="utf-8")
        listed = re.search(r"set -l takes_value((?:.*\\\n)*.*)", fish).group(1)
        taking = set()
        for command in [(), *((name,) for name in commands())]:
            for line in section(help_text(*command), "OPTIONS") if options(*command) else []:
                match = re.match(r"    ((?:-[a-zA-Z], )?--[a-z-]+) [A-Z]", line)
                taking.update(match.group(1).split(", ") if match else [])
        # The folder of `import --all` is told apart by the command.
        self.assertEqual(set(re.findall(r"--?[a-z-]+", listed)), taking - {"--all"})

    def test_bash_puts_together_what_it_took_apart(self):
        # It takes words apart at = and :, as in --root=ROOT and 14:30.
        self.assertEqual(self.complete("--root", "=", "log", "ver"), ["verify", "version"])
        self.assertEqual(self.complete("export", "--format", "=", "m"), ["markdown"])
        self.assertEqual(self.complete("export", "--format", "="), ["jsonl", "json", "markdown"])
        time = ("--since", "2026-01-10T14", ":", "30", ":", "00Z")
        with tempfile.TemporaryDirectory(prefix="varve-cli-") as root:
            subprocess.run([program(), "--root", root, "create", "notes"], check=True,
                           capture_output=True)
            for words in (["--root", "=", root, "log", *time], ["log", *time, "-r", root]):
                self.assertEqual(self.complete(*words, "no"), ["notes"])

    @contextlib.contextmanager
    def store_at_home(self):
        """A home directory with the store "my mem", which has a session with an entry."""
        with tempfile.TemporaryDirectory(prefix="varve-cli-") as home:
            root = os.path.join(home, "my mem")
            subprocess.run([program(), "--root", root, "add", "notes", "x", "--id", "e1",
                            "--create"], check=True, capture_output=True)
            yield home

    def test_bash_asks_the_store_that_was_typed_with_quotes_or_tilde(self):
        with self.store_at_home() as home:
            for root in ("~/my\\ mem", f"'{home}/my mem'", f'"{home}/my mem"', f"{home}/'my mem'"):
                with self.subTest(root):
                    self.assertEqual(self.complete("-r", root, "log", "", home=home), ["notes"])
                    self.assertEqual(self.complete("get", "notes", "-r", root, "", home=home),
                                     ["e1"])

    def test_fish_asks_the_store_that_was_typed(self):
        if not shutil.which("fish"):
            self.skipTest("there is no fish")
        with self.store_at_home() as home:
            environment = {"PATH": f"{os.path.dirname(program())}:{os.environ['PATH']}",
                           "HOME": home, "COMPLETIONS": str(COMPLETIONS)}
            for line, offered in (("varve -r ~/my\\ mem log ", ["notes"]),
                                  (f"varve log --root='{home}/my mem' ", ["notes"]),
                                  (f"varve get -r '{home}/my mem' notes ", ["e1"]),
                                  ("varve -r ~/'my mem' get --session notes ", ["e1"]),
                                  ("varve -r ~/'my mem' kv -s notes get ", []),
                                  ("varve -r ~/'my mem' help kv ", [])):
                with self.subTest(line):
                    script = 'source "$COMPLETIONS/varve.fish"; complete -C $argv[1]'
                    done = subprocess.run(["fish", "-c", script, line], env=environment,
                                          capture_output=True, text=True)
                    self.assertEqual((done.stdout.split(), done.stderr), (offered, ""))

    def test_zsh_asks_the_store_and_the_session_that_were_typed(self):
        if not shutil.which("zsh"):
            self.skipTest("there is no zsh")
        with self.store_at_home() as home:
            for line, offered in ((r"varve -r ~/my\ mem get ", ["notes"]),
                                  (f"varve log --root='{home}/my mem' ", ["notes"]),
                                  (r"varve get --root ~/my\ mem ", ["notes"]),
                                  (f'varve --root="{home}/my mem" get notes ', ["e1"]),
                                  (f"varve get -r '{home}/my mem' -s notes ", ["e1"]),
                                  (r"varve -r ~/my\ mem --session=notes delete ", ["e1"]),
                                  (r"varve -r ~/my\ mem -s notes drop ", []),
                                  (r"varve -r ~/my\ mem get --session=n", ["notes"]),
                                  ("varve log --type=fin", ["finding"]),
                                  ("varve chat-log -t summ", ["summary"]),
                                  ("varve help expl", ["explain"])):
                with self.subTest(line):
                    self.assertEqual(self.zsh_offers(line, home), offered)

    @staticmethod
    def zsh_offers(line, home):
        """What zsh offers for a line that is typed."""
        setup = ('fpath=($COMPLETIONS $fpath); autoload -Uz compinit; compinit -u -D; '
                 'compadd() { local -a all; builtin compadd -O all "$@"; '
                 'print -rl -- $all >>~/all; builtin compadd "$@" }; PROMPT="<""> "')
        offered = os.path.join(home, "all")
        open(offered, "w", encoding="utf-8").close()
        environment = {"PATH": f"{os.path.dirname(program())}:{os.environ['PATH']}", "HOME": home,
                       "TERM": "dumb", "COMPLETIONS": str(COMPLETIONS)}
        main_end, other_end = pty.openpty()
        zsh = subprocess.Popen(["zsh", "-f", "-i"], env=environment, start_new_session=True,
                               stdin=other_end, stdout=other_end, stderr=other_end)
        os.close(other_end)
        shown = b""
        os.write(main_end, setup.encode() + b"\n")
        while b"<> " not in shown:  # then it reads key by key
            shown += os.read(main_end, 65536)
        os.write(main_end, line.encode() + b"\t\x15exit\n")  # Ctrl-U empties the line
        read_to_end(main_end)
        os.close(main_end)
        zsh.wait()
        with open(offered, encoding="utf-8") as file:
            return sorted(set(file.read().split()))

    def test_bash_offers_files_where_an_option_takes_one(self):
        with tempfile.TemporaryDirectory(prefix="varve-cli-") as directory:
            start = os.path.join(directory, "v")
            open(start + "ector.json", "w", encoding="utf-8").close()
            os.mkdir(start + "arve")
            self.assertEqual(sorted(self.complete("search", "--vector-file", start)),
                             [start + "arve", start + "ector.json"])
            self.assertEqual(self.complete("restore", "--reapply-deletions", start),
                             [start + "arve"])

    def test_zsh_and_fish_name_every_command_and_option(self):
        zsh = (COMPLETIONS / "_varve").read_text(encoding="utf-8")
        fish = (COMPLETIONS / "varve.fish").read_text(encoding="utf-8")
        for command in [*commands(), *second_names()]:
            self.assertRegex(zsh, rf"""['"]{command}:""")
            self.assertRegex(zsh, rf"(?m)^        (\w+ \| )?{command}( \| \w+)?\)")
            self.assertIn(f"-a {command} -d", fish)
        for command, names in all_options():
            zsh_part = self.zsh_part(zsh, command)
            fish_part = self.fish_part(fish, command)
            for name in names:
                with self.subTest(f"{command} {name}"):
                    self.assertTrue(re.search(rf"(?<![\w-]){name}(?![\w-])", zsh_part),
                                    f"_varve has no {name} for {command}")
                    flag = f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}"
                    self.assertTrue(f" {flag} " in fish_part,
                                    f"varve.fish has no {flag} for {command}")

    def test_zsh_and_fish_name_no_option_that_does_not_exist(self):
        zsh = (COMPLETIONS / "_varve").read_text(encoding="utf-8")
        fish = (COMPLETIONS / "varve.fish").read_text(encoding="utf-8")
        for command in ["", *commands()]:
            known = {name for names in (options(command) if command else options())
                     for name in names}
            zsh_part = self.zsh_part(zsh, command).replace("local -a ", "")
            with self.subTest(command):
                named = re.findall(r"(?<![\w-])--?[a-zA-Z][a-z-]*", zsh_part)
                self.assertLessEqual(set(named), known)
                fish_part = self.fish_part(fish, command) if known else ""
                named = re.findall(r" -l ([a-z-]+) -", fish_part)
                self.assertLessEqual({"--" + name for name in named}, known)
                named = re.findall(r" -s (\w) -", fish_part)
                self.assertLessEqual({"-" + name for name in named}, known)

    @staticmethod
    def words_taken(*words):
        """The words that an option takes, as the refusal of another one names them."""
        # With an option that does not exist nothing is done where the word is taken.
        done = subprocess.run([program(), *words, "nonsense", "--nonsense"], capture_output=True,
                              text=True)
        match = re.search(r"takes ([a-z]+(?:, [a-z]+)*) or ([a-z]+), not", done.stderr)
        return {*match.group(1).split(", "), match.group(2)} if match else set()

    def test_shells_offer_exactly_the_words_that_an_option_takes(self):
        zsh = (COMPLETIONS / "_varve").read_text(encoding="utf-8")
        fish = (COMPLETIONS / "varve.fish").read_text(encoding="utf-8")
        found = set()
        for command, names in all_options():
            name = names[-1]
            command_words = [command] if command else []
            taken = self.words_taken(*command_words, name)
            if not taken:
                continue
            found.add(name)
            with self.subTest(f"{command} {name}"):
                for each in names:
                    self.assertEqual(set(self.complete(*command_words, each, "")), taken)
                offered = re.search(rf"{name}=?[}}']*\[[^]]*\]:[a-z]+:\(([^)]*)\)",
                                    self.zsh_part(zsh, command))
                self.assertEqual(set(offered.group(1).split()), taken)
                offered = re.search(rf" -l {name[2:]} -x -a '([^']*)'",
                                    self.fish_part(fish, command))
                self.assertEqual(set(offered.group(1).split()), taken)
        self.assertEqual(found, {"--durability", "--color", "--progress", "--sort", "--format",
                                 "--by"})

    @staticmethod
    def zsh_part(text, command):
        if not command:
            return text[text.index("global=("):text.index("commands=(")]
        body = text[text.index("case $words[1]"):]
        start = re.search(rf"(?m)^        (\w+ \| )?{command}( \| \w+)?\)", body).end()
        return body[start:body.index(";;", start)]

    @staticmethod
    def fish_part(text, command):
        if not command:
            return text[:text.index("set -l none")]
        start = re.search(f"set -l seen '__fish_seen_subcommand_from {command}[' ]", text)
        if not start:
            raise AssertionError(f"varve.fish has no `set -l seen` for the options of {command}")
        start = start.start()
        end = text.find("\nset -l seen", start)
        return text[start:end if end >= 0 else None]

    def test_shells_take_them(self):
        for shell, name in (("bash", "varve.bash"), ("zsh", "_varve"), ("fish", "varve.fish")):
            if shutil.which(shell):
                with self.subTest(shell):
                    words = [shell, "-n", str(COMPLETIONS / name)]
                    done = subprocess.run(words, capture_output=True)
                    self.assertEqual((done.returncode, done.stderr), (0, b""))


if __name__ == "__main__":
    main()
