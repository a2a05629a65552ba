// Keeps what an agent's tools did under one trace id, and tells the story of a trace.
package main

import (
	"fmt"
	"log"
	"os"

	"varve"
)

func main() {
	directory := "./memory"
	if len(os.Args) > 1 {
		directory = os.Args[1]
	}
	if err := run(directory); err != nil {
		log.Fatal(err)
	}
}

func run(directory string) error {
	store, err := varve.Open(directory, nil)
	if err != nil {
		return err
	}
	defer store.Close()
	session, err := store.CreateSession(varve.SessionOptions{AgentID: "travel"})
	if err != nil {
		return err
	}
	defer session.Close()

	// All of a step or nothing of it: a batch survives a crash whole.
	calls, err := session.AddBatch([]varve.Entry{
		{Type: "tool_call", TraceID: "trip-7", SpanID: "1",
			Content: map[string]any{"tool": "find_flight", "to": "Rome"}},
		{Type: "tool_call", TraceID: "trip-8", SpanID: "1",
			Content: map[string]any{"tool": "find_flight", "to": "Oslo"}},
	})
	if err != nil {
		return err
	}
	_, err = session.Add(varve.Entry{
		Type: "tool_result", TraceID: "trip-7", SpanID: "1", References: calls[:1],
		Content: map[string]any{"flight": "VA 123", "order": int64(9007199254740993)}})
	if err != nil {
		return err
	}

	trace := varve.Query{TraceID: "trip-7", SortBy: "time", Order: "asc"}
	for result, err := range session.Find(trace) {
		if err != nil {
			return err
		}
		fmt.Println(result.Entry.Type, result.Entry.Content)
	}
	results := varve.Query{References: calls[:1], Types: []string{"tool_result"}}
	count, err := session.Count(results)
	if err != nil {
		return err
	}
	fmt.Println("results of the first call:", count)
	return nil
}
