"""Remembers a few things in its first run, and recalls them in that and every later one."""
import sys

import varve

directory = sys.argv[1] if len(sys.argv) > 1 else "./memory"

with varve.Store(directory) as store, store.session("kitchen", user_id="ann") as session:
    if session.count() == 0:  # the first run
        session.add({"type": "preference", "content": "Ann drinks tea, never coffee",
                     "tags": ["drinks", "people.ann"], "importance": 0.9})
        session.add({"type": "finding", "content": "The kettle needs three minutes"})

    for result in session.find(question="What does Ann drink?"):
        print(result["entry"]["content"])
    print(session.count(), "entries,", session.count(tags={"include": ["people"]}),
          "of them about people")
