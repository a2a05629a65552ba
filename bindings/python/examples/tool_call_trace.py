"""Keeps what an agent's tools were asked and answered, and finds why something was decided."""
import sys

import varve

directory = sys.argv[1] if len(sys.argv) > 1 else "memory:"

with varve.Store(directory) as store, store.create_session(agent_id="planner") as session:
    def call(tool, arguments, answer, trace):
        """A call and its result, which refers to it: both or none."""
        session.add_batch([
            {"id": f"{tool}-call", "type": "tool_call", "trace_id": trace,
             "content": {"tool": tool, "arguments": arguments}},
            {"id": f"{tool}-result", "type": "tool_result", "trace_id": trace,
             "content": {"tool": tool, "answer": answer}, "references": [f"{tool}-call"]}])

    call("find_ferry", {"from": "Kiel"}, {"leaves": "09:15"}, trace="trip")
    call("read_weather", {"at": "Kiel"}, {"wind": "storm"}, trace="trip")
    session.add({"id": "wait", "type": "decision", "content": "Take the ferry tomorrow",
                 "trace_id": "trip", "references": ["find_ferry-result"],
                 "relations": {"caused_by": ["read_weather-result"]}})

    print("The whole trace:")
    for result in session.query(trace_id="trip", sort_by="time", order="asc"):
        print(" ", result["entry"]["type"], result["entry"]["id"])

    print("Why wait?")
    for result in session.query(references=["wait"], relation="caused_by"):
        print(" ", result["entry"]["content"])
