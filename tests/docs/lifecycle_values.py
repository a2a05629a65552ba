"""What the model of lifecycles adds, says, changes and asks for."""
TYPES = ["finding", "decision", "odd", "conversation"]
CONTENTS = ["text", {"message": "é\n", "x": [1, {"b": None}]}, None, 7, [], True,
            {"usage": {"prompt_tokens": 2, "completion_tokens": 4}}]
TEXTS = ["hi", "", "a\n### user — x\n\nb", "  ", "\n\n", "\\u0000", "x  ", "\r\n", "\\### a"]
CHANGES = [{"title": "new"}, {"title": None}, {"mine": {"a": 1, "b": {"c": 2}}},
           {"mine": {"a": None}}, {"mine": None}, {"kv_cap": 2}, {"kv_cap": None},
           {"transcript_cap": 0}, {"ttl_hours": None}, {},
           {"durability": "os"}, {"durability": None}, {"preferences": {"x": 1}}]
LIFETIMES = [{"ttl_hours": 1}, {"ttl_hours": 1, "ttl_policy": "fixed"}, {"ttl_hours": 2.5},
             {"ttl_policy": "fixed"}, {"ttl_policy": None}, {"ttl_hours": 0}]
READS = ["varve_session_get", "varve_session_export", "varve_session_stats",
         "varve_session_metadata", "varve_session_index", "varve_session_verify", "varve_kv_get",
         "varve_kv_list"]
# Functions that may find nothing to write, and what they then answer.
OFTEN_READS = {"varve_session_delete_where": "0", "varve_session_add_batch": "[]",
               "varve_session_compact": '"changed":false', "varve_session_purge": '"changed":false',
               "varve_session_import_file": '"added":', "varve_session_repair": '"changed":false'}
REFUSED_CHANGES = [{"user_id": "x"}, {"session_id": None}, {"stores": []}, {"compactions": []},
                   {"restored_at": "x"}, {"checksum": "x"}, {"version": 1}, {"title": 3}]
CONDITIONS = [({"types": ["odd"]}, lambda entry: entry.data["type"] == "odd"),
              ({"tags": {"include": ["a"]}}, lambda entry: {"a", "a.b"} & set(entry.data["tags"])),
              ({"min_importance": 1}, lambda entry: entry.data["importance"] == 1)]
