#!/usr/bin/env python3
"""docs/format.md says what the library does.

    VARVE_LIBRARY=libvarve.so format_test.py             compares
    VARVE_LIBRARY=libvarve.so format_test.py --update    writes the examples into the page
"""

import hashlib
import json
import os
import pathlib
import re
import stat
import struct
import sys
import tempfile
import unittest

import markdown
from format_examples import (
    BLOCK_BYTES,
    DIRECTORY_AT,
    HEADER_BYTES,
    PLACE_BYTES,
    SECTIONS,
    SHOWN_HEADER_BYTES,
    make_examples,
)
from varve_library import Failure, Library

SOURCE = pathlib.Path(__file__).resolve().parents[2]
PAGE = SOURCE / "docs" / "format.md"
sys.path.insert(0, str(SOURCE / "tests" / "conformance"))
from canonical_json import canonical, parse  # noqa: E402
from check_checksums import check_line, is_canonical  # noqa: E402

FORMATS = {4: "<I", 8: "<Q"}
BLOCK_ROWS = 128
GROUP_KEYS = 48


def library_path():
    return os.environ["VARVE_LIBRARY"]


def make_into(directory):
    root = pathlib.Path(directory) / "store"
    return root, make_examples(library_path(), root)


def numbers_of(data):
    """Whole numbers of seven bits a byte, with where each ends."""
    number, shift = 0, 0
    for end, byte in enumerate(data, 1):
        number |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            yield number, end
            number, shift = 0, 0


def column(rows, base, step, section):
    """The numbers of a column, by the words of the page."""
    width, rest = divmod(len(section), rows)
    assert rest == 0 and width <= 8
    return [(base + step * at
             + int.from_bytes(section[at * width:(at + 1) * width], "little")) % 2**64
            for at in range(rows)]


def doubles(rows, base, step, section):
    """The same of a column of doubles."""
    if step:
        return [number / step for number in column(rows, base, 0, section)]
    return [struct.unpack("<d", struct.pack("<Q", bits))[0]
            for bits in column(rows, base, 0, section)]


def dictionary(section):
    """{key: value} of a dictionary, by the words of the page, and the marked keys."""
    count, zero, key_bytes, value_bytes = struct.unpack_from("<IIQQ", section)
    groups = -(-count // GROUP_KEYS)
    heads = [section[24 + 8 * i:32 + 8 * i] for i in range(groups)]
    value_starts = struct.unpack_from(f"<{groups}Q", section, 24 + 8 * groups)
    key_starts = struct.unpack_from(f"<{groups}I", section, 24 + 16 * groups)
    keys_at = 24 + 20 * groups
    values = section[keys_at + key_bytes:]
    assert zero == 0 and len(values) == value_bytes
    found, marked, at, value_at, key = {}, set(), 0, 0, b""
    for i in range(count):
        if i % GROUP_KEYS == 0:
            assert (at, value_at) == (key_starts[i // GROUP_KEYS], value_starts[i // GROUP_KEYS])
        head, end, length, is_marked = section[keys_at + at], 1, 0, 0
        numbers = numbers_of(section[keys_at + at + 1:])
        shared, others = head & 15, head >> 4 & 7
        if shared == 15:
            more, end = next(numbers)
            shared, end = shared + more, end + 1
        if others == 7:
            more, end = next(numbers)
            others, end = others + more, end + 1
        if head >> 7:
            length_and_mark, end = next(numbers)
            length, is_marked, end = length_and_mark >> 1, length_and_mark & 1, end + 1
        assert i % GROUP_KEYS or shared == 0
        at += end + others
        key = key[:shared] + section[keys_at + at - others:keys_at + at]
        if i % GROUP_KEYS == 0:
            assert heads[i // GROUP_KEYS] == key[:8].ljust(8, b"\0")
        found[key] = values[value_at:value_at + length]
        value_at += length
        if is_marked:
            marked.add(key)
    assert (at, value_at) == (key_bytes, value_bytes)
    return found, marked


def rows_of(value):
    """{row: frequency} of a list."""
    count, start = next(numbers_of(value))
    block_count = -(-count // BLOCK_ROWS)
    summaries = [(None, len(value) - start)]
    if block_count > 1:
        summaries = [struct.unpack_from("<IIHH", value, start + 12 * i)
                     for i in range(block_count)]
        start += 12 * block_count
    rows, row, begin = {}, -1, 0
    for number, (last_row, end, *bounds) in enumerate(summaries):
        block = value[start + begin:start + end]
        in_block = min(BLOCK_ROWS, count - BLOCK_ROWS * number)
        read = plain_postings if in_block < 8 else packed_postings
        for distance, frequency in read(block, in_block):
            row += distance
            rows[row] = frequency
        begin = end
        if bounds:
            assert row == last_row
            assert max(list(rows.values())[BLOCK_ROWS * number:]) == bounds[0]
    assert start + begin == len(value)
    return rows


def plain_postings(block, count):
    numbers = [number for number, _ in numbers_of(block)]
    for _ in range(count):
        distance = numbers.pop(0)
        yield distance >> 1, numbers.pop(0) + 2 if distance & 1 else 1
    assert not numbers


def packed_postings(block, count):
    columns, at = [], 2
    for head in block[:2]:
        bits = head % 64
        size = -(-count * bits // 8)
        whole = int.from_bytes(block[at:at + size], "little")
        columns.append([whole >> bits * i & (1 << bits) - 1 for i in range(count)])
        at += size
    for head, column_ in zip(block[:2], columns):
        for _ in range(head // 64):
            above, size = next(numbers_of(block[at + 1:]))
            column_[block[at]] += above << head % 64
            at += 1 + size
    assert at == len(block)
    return [(distance + 1, frequency + 1) for distance, frequency in zip(*columns)]


class FormatPage(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        directory = tempfile.TemporaryDirectory(prefix="varve-docs-")
        cls.addClassCleanup(directory.cleanup)
        cls.root, cls.made = make_into(directory.name)
        cls.folder = cls.root / "sessions" / "kitchen"
        cls.text = PAGE.read_text(encoding="utf-8")
        cls.shown = markdown.examples(cls.text)

    def table(self, heading):
        return markdown.table(self.text, heading)

    def tables_behind(self, heading):
        """Every table row (lists of cells) of a section, heads left out."""
        section = self.text.split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0]
        tables = re.findall(r"(?:^\|.*\n)+", section, re.MULTILINE)
        return [[[cell.strip() for cell in row.strip("|").split("|")]
                 for row in table.splitlines()[2:]] for table in tables]

    def test_examples_are_what_the_library_writes(self):
        self.assertEqual(self.shown.keys(), self.made.keys())
        for name, text in self.made.items():
            with self.subTest(name):
                self.assertEqual(self.shown[name], text)

    def test_lines_are_canonical_and_their_checksums_right(self):
        lines = [line for name in ("made", "memory.jsonl", "tombstones.jsonl")
                 for line in self.shown[name].splitlines()]
        by_hand = [line for line in lines if "by-hand" in line]
        self.assertEqual([check_line(line) for line in by_hand], [None])
        for line in set(lines) - set(by_hand):
            self.assertTrue(check_line(line), line)
            self.assertTrue(is_canonical(line.encode()), line)
        self.assertEqual(len(lines), 7)

    def test_worked_checksum(self):
        digest = hashlib.sha256(self.shown["checksum-input"].rstrip("\n").encode()).hexdigest()
        first = json.loads(self.shown["memory.jsonl"].splitlines()[0])
        self.assertEqual(first["checksum"], "sha256:" + digest)

    def test_checksum_of_the_metadata(self):
        members = parse(self.shown["metadata.json"])
        checksum = members.pop("checksum")
        digest = hashlib.sha256(canonical(members).encode()).hexdigest()
        self.assertEqual(checksum, "sha256:" + digest)

    def test_files_and_permissions(self):
        tree = markdown.blocks(self.text)[0].text
        documented = dict(re.findall(r"^ *([A-Za-z_./]+) +(0[0-7]{3})\b", tree, re.MULTILINE))
        documented["kitchen/"] = documented.pop("SESSION_ID/")
        root_mode = documented.pop("ROOT/")
        self.assertEqual(stat.S_IMODE(self.root.stat().st_mode), int(root_mode, 8))
        found = {}
        for path in self.root.rglob("*"):
            if path.name != "config.json":
                name = path.name + ("/" if path.is_dir() else "")
                found[name] = f"{stat.S_IMODE(path.stat().st_mode):04o}"
        catalog = self.root.parent / "catalogued" / "indices" / "catalog"
        found["catalog/"] = f"{stat.S_IMODE(catalog.stat().st_mode):04o}"
        self.assertEqual(found, documented)
        files = {path.name: f"{stat.S_IMODE(path.stat().st_mode):04o}"
                 for path in catalog.iterdir()}
        self.assertGreaterEqual(files.keys(), {"memory.jsonl", "metadata.json", "kv.json"})
        self.assertLessEqual(files.items(), documented.items())

    def test_index_header(self):
        index = (self.folder / "index.bin").read_bytes()
        end = 0
        for offset, size, field, shown in self.tables_behind("index.bin")[0]:
            self.assertEqual(int(offset), end, field)
            end += int(size)
            data = index[int(offset):end]
            if field == "magic":
                self.assertEqual(f"`{data.decode()}`", shown)
            elif shown:
                self.assertEqual(struct.unpack(FORMATS[int(size)], data)[0], int(shown), field)
        self.assertEqual(end, HEADER_BYTES)
        log = (self.folder / "memory.jsonl").read_bytes()
        offset, length = struct.unpack_from("<QQ", index, 56)
        self.assertEqual(log[offset:offset + length].decode(),
                         self.shown["memory.jsonl"].splitlines()[-1])

    def test_index_sections(self):
        index = (self.folder / "index.bin").read_bytes()
        rows = struct.unpack_from("<Q", index, 16)[0]
        table = self.tables_behind("index.bin")[1]
        self.assertEqual([int(row[0]) for row in table], list(range(SECTIONS)))
        contents, columns, end = [], {}, HEADER_BYTES
        for number, _, row_bytes in table:
            offset, length, _, base, step = struct.unpack_from(
                "<QQQQQ", index, DIRECTORY_AT + int(number) * PLACE_BYTES)
            self.assertEqual(offset, end)
            end += length
            contents.append(index[offset:end])
            if row_bytes == "column":
                rows_of_it = struct.unpack_from("<Q", index, 24)[0] if number == "16" else rows
                read = doubles if int(number) == 7 else column
                columns[int(number)] = read(rows_of_it, base, step, contents[-1])
                continue
            self.assertEqual((base, step), (0, 0))
            if row_bytes:
                self.assertEqual(length, rows * int(row_bytes), number)
        hashes = sum(8 * -(-len(content) // BLOCK_BYTES) for content in contents)
        self.assertEqual(end + hashes, len(index))
        self.check_columns(rows, contents, columns)

    def check_dictionaries(self, entries, contents):
        """Tags, references and words are found where the page says."""
        facets, _ = dictionary(contents[15])
        words, marked = dictionary(contents[17])
        tagged = [row for row, entry in enumerate(entries) if "drinks" in entry.get("tags", ())]
        self.assertEqual(rows_of(facets[b"tdrinks"]), dict.fromkeys(tagged, 1))
        self.assertEqual(rows_of(facets[b"tpeople"]), dict.fromkeys(tagged, 1))
        referring = [row for row, entry in enumerate(entries)
                     if "call-1" in entry.get("references", ())]
        self.assertEqual(rows_of(facets[b"icall-1"]), dict.fromkeys(referring, 1))
        self.assertNotIn(b"rcall-1\0", facets)
        self.assertEqual(facets[b"o" + struct.pack(">I", referring[0])], b"\0\6call-1")
        self.assertIn(b"ctool\0sfind_order", facets)
        self.assertEqual(rows_of(words[b"skettl"]), {3: 1})
        self.assertEqual(words[b"wkettle"], b"\1")
        self.assertNotIn(b"skettl", marked)
        self.assertIn(b"stea", marked)
        self.assertNotIn(b"wtea", words)
        self.assertEqual(list(facets), sorted(facets))

    def test_longer_lists(self):
        """Rows as the page says, of words that many entries have."""
        said = [["common"] * (1 if row % 5 else 2 + row % 7) for row in range(300)]
        for row in (50, 120, 290):
            said[row] = ["common"] * 1000 + ["seldom"]
        for row in range(0, 300, 3):
            said[row].append("third")
        with tempfile.TemporaryDirectory(prefix="varve-docs-") as directory:
            store = Library(library_path()).open_store(pathlib.Path(directory) / "store")
            session = store.create(session_id="long")
            for words in said:
                session.add({"type": "message", "content": " ".join(words)})
            session.close()
            store.close()
            index = (pathlib.Path(directory) / "store/sessions/long/index.bin").read_bytes()
        offset, length = struct.unpack_from("<QQ", index, DIRECTORY_AT + 17 * PLACE_BYTES)
        words, _ = dictionary(index[offset:offset + length])
        for word, term in (("common", b"common"), ("seldom", b"seldom"), ("third", b"third")):
            self.assertEqual(
                rows_of(words[b"s" + term]),
                {row: words_.count(word) for row, words_ in enumerate(said) if word in words_})

    def check_columns(self, rows, contents, columns):
        """The columns hold what the page says of them."""
        header = (self.folder / "index.bin").read_bytes()[:HEADER_BYTES]
        start = header[120:120 + struct.unpack_from("<Q", header, 112)[0]]
        lines = self.shown["memory.jsonl"].splitlines()
        entries = [json.loads(line) for line in lines]
        log = self.shown["memory.jsonl"].encode()
        self.assertEqual([log[o:o + n].decode() for o, n in zip(columns[0], columns[1])], lines)
        ends = [0, *columns[4]]
        ids = [(start + contents[12][a:b]).decode() for a, b in zip(ends, ends[1:])]
        self.assertEqual(ids, [entry["id"] for entry in entries])
        self.check_dictionaries(entries, contents)
        never = 2**63 - 1
        self.assertEqual([e == never for e in columns[6]],
                         ["expires_at" not in entry for entry in entries])
        self.assertEqual(columns[7], [entry.get("importance", 0.5) for entry in entries])
        self.assertEqual(columns[8], [entry.get("seq", 0) for entry in entries])
        names = contents[13].decode().splitlines()
        self.assertEqual([names[n] for n in columns[9]], [entry["type"] for entry in entries])
        self.assertEqual([bool(flag & 4) for flag in columns[10]],
                         ["checksum" in entry for entry in entries])
        times = columns[5]
        gaps = [abs(b - a) > 3_600_000 for a, b in zip(times, times[1:])]
        self.assertEqual(columns[11], [sum(gaps[:row]) for row in range(rows)])
        in_order = struct.unpack_from("<Q", (self.folder / "index.bin").read_bytes(), 104)[0]
        self.assertEqual(in_order, int(times == sorted(times)))
        slot_bytes = (rows.bit_length() + 7) // 8
        slots = [int.from_bytes(contents[14][at:at + slot_bytes], "little")
                 for at in range(0, len(contents[14]), slot_bytes)]
        self.assertEqual(sorted(filter(None, slots)), list(range(1, rows + 1)))
        hashes = struct.unpack(f"<{rows}I", contents[3])
        for row, id_hash in enumerate(hashes):
            at = id_hash % len(slots)
            while slots[at] not in (0, row + 1):
                at = (at + 1) % len(slots)
            self.assertEqual(slots[at], row + 1)

    def test_entry_members(self):
        rows = self.table("Entries")
        named = {name for row in rows for name in re.findall(r"`(\w+)`", row[0])}
        source = (SOURCE / "src/entry/draft.cpp").read_text(encoding="utf-8")
        known = set(re.findall(r'\{"(\w+)", &DraftWriter::', source))
        self.assertEqual(named, known)
        made = json.loads(self.shown["made"])
        for row in rows:
            default = re.fullmatch(r"`([^`…]+)`", row[2])
            if default:
                name = re.search(r"`(\w+)`", row[0])[1]
                self.assertEqual(made[name], json.loads(default[1]), name)

    def test_config_members(self):
        rows = self.table("config.json")
        named = [re.fullmatch(r"`([\w.]+)`", row[0])[1] for row in rows]
        source = "".join((SOURCE / path).read_text(encoding="utf-8") for path in
                         ("src/store/config.cpp", "src/session/metadata/decay_config.cpp"))
        known = set(re.findall(r'read_(?:string|double|uint|bool|object|any)\("(\w+)"', source))
        # Those that stand in two tables: of a type's decay, of the order `best`.
        inner = {"decay_enabled", "candidates"}
        sections = set(re.findall(r'read_section\(reader, "(\w+)"', source)) | {"decay"}
        self.assertEqual({name.split(".")[-1] for name in named}, known - inner - {"decay"})
        self.assertEqual({name.split(".")[0] for name in named if "." in name}, sections)
        for name, row in zip(named, rows):
            if row[1]:
                self.open_with(name, json.loads(row[1].strip("`")))
        for name in named:
            with self.assertRaises(Failure) as raised:
                self.open_with(name + "_", 1)
            self.assertEqual(raised.exception.name, "VARVE_INVALID_ARGUMENT")

    def open_with(self, name, value):
        for part in reversed(name.split(".")):
            value = {part: value}
        Library(library_path()).open_store("memory:", value).close()


def update():
    with tempfile.TemporaryDirectory(prefix="varve-docs-") as directory:
        _, made = make_into(directory)
    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(markdown.with_examples(text, made), encoding="utf-8")


if __name__ == "__main__":
    if "--update" in sys.argv[1:]:
        update()
    else:
        unittest.main()
