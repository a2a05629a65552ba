"""Remembers a few things, and recalls them in another session of the program."""
import sys

import varve

directory = sys.argv[1] if len(sys.argv) > 1 else "./memory"

with varve.Store(directory) as store:
    with store.create_session(session_id="kitchen", user_id="ann") as session:
        session.add({"type": "preference", "content": "Ann drinks tea, never coffee",
                     "tags": ["drinks", "people.ann"], "importance": 0.9})
        session.add({"type": "finding", "content": "The kettle needs three minutes"})

with varve.Store(directory) as store:
    with store.open_session("kitchen") as session:
        for result in session.query(text="What does Ann drink?"):
            print(result["entry"]["content"])
        print(session.count(), "entries,", session.count(tags={"include": ["people"]}),
              "of them about people")
