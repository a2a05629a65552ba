"""What the model of lifecycles adds, says, changes and asks for."""
TYPES = ["finding", "decision", "odd", "conversation"]
CONTENTS = ["text", {"message": "é\n", "x": [1, {"b": None}]}, None, 7, [], True,
            {"usage": {"prompt_tokens": 2, "completion_tokens": 4}}]
TEXTS = ["hi", "", "a\n### user — x\n\nb", "  ", "\n\n", "\\u0000", "x  ", "\r\n", "\\### a"]
CHANGES = [{"title": "new"}, {"title": None}, {"mine": {"a": 1, "b": {"c": 2}}},
           {"mine": {"a": None}}, {"mine": None}, {"kv_cap": 2}, {"kv_cap": None},
           {"transcript_cap": 0}, {"ttl_hours": None}, {},
           {"durability": "os"}, {"durability": None}, {"preferences": {"x": 1}}]
REFUSED_CHANGES = [{"user_id": "x"}, {"session_id": None}, {"stores": []}, {"compactions": []},
                   {"restored_at": "x"}, {"checksum": "x"}, {"version": 1}, {"title": 3}]
CONDITIONS = [({"types": ["odd"]}, lambda entry: entry.data["type"] == "odd"),
              ({"tags": {"include": ["a"]}}, lambda entry: {"a", "a.b"} & set(entry.data["tags"])),
              ({"min_importance": 1}, lambda entry: entry.data["importance"] == 1)]
