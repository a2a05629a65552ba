"""Records a conversation, and builds the part of it that fits into a model's context window."""
import sys

import varve

directory = sys.argv[1] if len(sys.argv) > 1 else "memory:"


def count_tokens(text):
    """In the place of the tokenizer of your model."""
    return len(text.split())


with varve.Store(directory) as store, store.create_session(user_id="ann") as session:
    store.set_token_counter(count_tokens)
    session.record("user_message", {"content": "Ann drinks tea, never coffee"})
    session.record("assistant_message", {"content": "Noted: tea it is"})
    session.record("tool_call", {"name": "ferries", "arguments": {"from": "Kiel"},
                                 "call_id": "c1"})
    session.record("tool_result", {"name": "ferries", "result": ["09:15"], "call_id": "c1"})
    for number in range(200):
        session.record("observation", {"content": f"Nothing happened in minute {number}"})

    context = session.build_context(question="What does Ann drink on the ferry from Kiel?",
                                    budget={"max_tokens": 120}, format="plain")
    print("within the budget:", 0 < context["token_count"] <= 120)
    print("left out:", context["dropped"] > 0)
    print("tea is in it:", "Ann drinks tea" in context["text"])
    sources = sorted({item["source"] for item in context["items"]})
    print("where it comes from:", ", ".join(sources))
