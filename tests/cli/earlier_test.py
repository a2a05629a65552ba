"""A store that an earlier build made, and one that was made by hand, are read and written on."""

import json

from cli_support import CliTest, main

# As the builds of the first days wrote them, byte for byte.
LOG = """\
{"checksum":"sha256:2e204ac657a5981051b88f12cba7a353c10d75dba7afedbbc20e8b6040c8ff72",\
"content":{"message":"Tea, not coffee ☕"},"decay_factor":1,"id":"tea","importance":0.9,\
"references":[],"schema_version":1,"seq":1,"session_id":"kitchen","tags":["drinks","people.ann"],\
"timestamp":"2026-01-10T14:20:00.000Z","type":"preference"}
{"batch":{"i":0,"n":2},\
"checksum":"sha256:020b22b23c1000d60db7a348598d763ddc83a3614da08c5bf34e73e962cd6c33",\
"content":{"tool":"find_order"},"decay_factor":1,"id":"call-1","importance":0.5,"references":[],\
"schema_version":1,"seq":2,"session_id":"kitchen","tags":[],\
"timestamp":"2026-01-10T14:25:00.000Z","type":"tool_call"}
{"batch":{"i":1,"n":2},\
"checksum":"sha256:0a669ebc59c1b6ae2cba23b0108abeeb4ef165d5c5116bbaeebf4a35450c7866",\
"content":{"order":9007199254740993},"decay_factor":1,"id":"result-1","importance":0.5,\
"references":["call-1"],"relations":{"answers":["call-1"]},"schema_version":1,"seq":3,\
"session_id":"kitchen","tags":[],"timestamp":"2026-01-10T14:25:01.000Z","trace_id":"t1",\
"type":"tool_result"}
{"checksum":"sha256:55bfe2be88258713453e4c5151d06871e9381274476417440b7230d495a26ee6",\
"content":"forget me","decay_factor":1,"id":"gone","importance":0.5,"references":[],\
"schema_version":1,"seq":4,"session_id":"kitchen","tags":[],\
"timestamp":"2026-01-10T14:26:00.000Z","type":"finding"}
"""
TOMBSTONES = """\
{"checksum":"sha256:69511efc5964960fadf4e201b4ff66c1cfa91215eca854b1a8dc9276bca635a3","id":"gone",\
"reason":"asked","timestamp":"2026-11-27T03:01:00.423Z"}
"""
METADATA = """\
{
  "checksum": "sha256:da13eefe2c4900f3826ef8d23043c2cf547bcead10ec6dcd370cc878ce1f286e",
  "compacted_through_seq": 0,
  "created_at": "2026-11-27T03:01:00.368Z",
  "durable_seq": 4,
  "generation": 1,
  "last_accessed": "2026-11-27T03:01:00.484Z",
  "session_id": "kitchen",
  "statistics": {
    "conversations": 0,
    "decisions": 0,
    "findings": 0,
    "preferences": 1,
    "tool_call": 1,
    "tool_result": 1
  },
  "stores": [
    "kv",
    "transcript"
  ],
  "title": "Things",
  "total_entries": 3,
  "total_size_bytes": 1846,
  "user_id": "ann",
  "version": 1
}
"""
KV = """\
{
  "cap": 200,
  "entries": [
    { "key": "user_name", "value": "ann", "ts": "2026-11-27T03:01:00Z" }
  ]
}
"""
TRANSCRIPT = "### user — 2026-11-27T03:01:00Z\n\nHello  \n  \n\\### not a header\n"
# Another machine's, of a run and a file that are not here.
LOCK = """\
{"boot_id":"0da64887-755a-48ca-8393-639eaacdbf54","check":"1218891359580270440",\
"durable_bytes":1333,"expires_at":"2026-11-27T03:01:05.497Z","file":"65024:10289318",\
"operation":"save index","pid":8378,"seq":4,"suspect":false,\
"timestamp":"2026-11-27T03:01:00.497Z"}""".ljust(512)
ROW = """\
{"agent_id":"","created_at":"2026-11-27T03:01:00.368Z","session_id":"kitchen","user_id":"ann"}
"""
# Version 0: no version, no numbers, no checksums, and files that varve has no use for.
HAND_MADE_LOG = """\
{"id":"mem_001","session_id":"sess_001","timestamp":"2026-01-10T10:00:00Z","type":"conversation",\
"content":{"role":"user","message":"Hello"},"importance":0.5,"decay_factor":1.0,"tags":[],\
"references":[]}
{"id":"mem_002","session_id":"sess_001","timestamp":"2026-01-10T10:01:00Z","type":"conversation",\
"content":{"role":"assistant","message":"Hi!"},"importance":0.5,"decay_factor":1.0,"tags":[],\
"references":["mem_001"]}
"""
HAND_MADE_METADATA = """\
{"session_id":"sess_001","user_id":"user123","created_at":"2026-01-10T14:00:00.000Z",\
"last_accessed":"2026-01-10T14:30:00.000Z","total_entries":42,"total_size_bytes":1048576,\
"decay_config":{"enabled":true,"half_life_hours":168,"min_decay_factor":0.1},\
"preferences":{"language":"en","verbosity":"medium","custom":{}},\
"statistics":{"conversations":15,"decisions":8,"findings":12,"preferences":7}}
"""


class Earlier(CliTest):
    def make(self, session, **files):
        for name, text in files.items():
            path = self.session_file(session, name.replace("_", "."))
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def exported(self, session):
        lines = self.run_cli("export", session).stdout.splitlines()
        return [json.loads(line) for line in lines]


class EarlierBuild(Earlier):
    def setUp(self):
        super().setUp()
        self.make("kitchen", memory_jsonl=LOG, tombstones_jsonl=TOMBSTONES, metadata_json=METADATA,
                  kv_json=KV, transcript_md=TRANSCRIPT, lock=LOCK)
        (self.root / "indices").mkdir()
        (self.root / "indices/sessions.jsonl").write_text(ROW)

    def check(self, more=()):
        """Whether all of it is there, and `more` behind it."""
        report = self.run_json("verify", "kitchen", "--deep")
        self.assertEqual((report["ok"], report["deleted"]), (True, 1))
        ids = [entry["id"] for entry in self.exported("kitchen")]
        self.assertEqual(ids, ["tea", "call-1", "result-1", *more])
        found = self.run_json("search", "-s", "kitchen", "coffee")["results"]
        self.assertEqual([result["entry"]["id"] for result in found], ["tea"])
        self.assertEqual(self.run_cli("kv", "get", "kitchen", "user_name").stdout, "ann\n")
        said = self.run_json("transcript", "last", "kitchen")
        self.assertEqual([turn["content"] for turn in said], ["Hello\n\n### not a header"])
        metadata = self.run_json("metadata", "kitchen")
        self.assertEqual((metadata["title"], metadata["user_id"]), ("Things", "ann"))
        self.assertNotIn("migrations", metadata)

    def test_is_read_as_it_is(self):
        self.check()
        self.assertEqual(self.session_file("kitchen", "memory.jsonl").read_text(), LOG)
        self.assertEqual(self.session_file("kitchen", "metadata.json").read_text(), METADATA)
        listed = self.run_json("ls", "--user", "ann")["sessions"]
        self.assertEqual([session["session_id"] for session in listed], ["kitchen"])

    def test_is_written_on(self):
        new = self.run_cli("add", "kitchen", "two cups").stdout.strip()
        self.check([new])
        self.assertTrue(self.session_file("kitchen", "memory.jsonl").read_text().startswith(LOG))
        self.run_cli("delete", "kitchen", "tea")
        self.run_cli("purge", "kitchen")
        self.assertEqual([entry["seq"] for entry in self.exported("kitchen")], [2, 3, 5])
        self.assertTrue(self.run_json("verify", "kitchen", "--deep")["ok"])

    def test_an_index_of_another_version_is_made_again(self):
        self.run_cli("index", "kitchen", "--rebuild")
        path = self.session_file("kitchen", "index.bin")
        made = path.read_bytes()
        for version in (2, made[8] - 1, made[8] + 1):
            path.write_bytes(made[:8] + bytes([version]) + made[9:])
            with self.subTest(version):
                self.check()
                self.assertEqual(path.read_bytes(), made)


class HandMade(Earlier):
    def test_is_read_as_it_is_and_rewritten_by_the_first_write(self):
        self.make("sess_001", memory_jsonl=HAND_MADE_LOG, metadata_json=HAND_MADE_METADATA)
        self.assertEqual([entry["content"]["message"] for entry in self.exported("sess_001")],
                         ["Hello", "Hi!"])
        metadata = self.run_json("metadata", "sess_001")
        self.assertEqual((metadata["user_id"], metadata["total_entries"]), ("user123", 2))
        self.assertEqual(self.session_file("sess_001", "memory.jsonl").read_text(), HAND_MADE_LOG)
        self.run_cli("add", "sess_001", "more")
        written = self.exported("sess_001")
        self.assertEqual([entry["seq"] for entry in written], [1, 2, 3])
        self.assertEqual(written[1]["references"], ["mem_001"])
        metadata = self.run_json("metadata", "sess_001")
        self.assertEqual((metadata["migrations"][0]["from"], metadata["preferences"]["verbosity"]),
                         (0, "medium"))
        self.assertTrue(self.run_json("verify", "sess_001")["ok"])


if __name__ == "__main__":
    main()
