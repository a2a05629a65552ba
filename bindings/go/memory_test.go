package varve_test

import (
	"testing"

	"varve"
)

// A program that does not know whose turn it is must not be shown everybody's memory.
func TestAMemoryOfNobodyIsRefused(t *testing.T) {
	store := openStore(t, "memory:", nil)
	type own struct{ varve.MemoryOptions }
	for _, options := range []any{varve.MemoryOptions{}, &varve.MemoryOptions{Window: 2}, own{}} {
		_, err := store.OpenMemory(options)
		expectError(t, err, varve.ErrInvalidArgument, "user_id")
	}
	for _, options := range []any{nil, map[string]any{"window": 2}} {
		memory, err := store.OpenMemory(options)
		if err != nil {
			t.Fatal(err)
		}
		memory.Close()
	}
}

func TestMemory(t *testing.T) {
	store := openStore(t, "memory:", nil)
	memory, err := store.OpenMemory(varve.MemoryOptions{UserID: "ann", Window: 2})
	if err != nil {
		t.Fatal(err)
	}
	for _, content := range []string{"Hello", "I like tea", "and the morning"} {
		_, err := memory.Record("talk", varve.Message{Role: "user", Content: content})
		if err != nil {
			t.Fatal(err)
		}
	}
	front, err := memory.Context("talk", 0)
	if err != nil || len(front.Entries) != 2 || front.Source != "working" ||
		front.Entries[0].Content != "I like tea" || front.Entries[0].Role != "user" {
		t.Fatal(front, err)
	}
	if err := memory.Clear(); err != nil {
		t.Error(err)
	}
	if front, err = memory.Context("talk", 0); err != nil || front.Source != "short_term" ||
		len(front.Entries) != 3 {
		t.Error(front, err)
	}
	if err := memory.Load("talk"); err != nil {
		t.Error(err)
	}
	if err := memory.Save("talk"); err != nil {
		t.Error(err)
	}
	expectError(t, memory.Load("nobody"), varve.ErrNotFound, "Memory.Load")
	id, err := memory.Store(map[string]any{"content": "drinks tea"})
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for result, err := range memory.Find(varve.Query{Text: "tea"}) {
		if err != nil {
			t.Fatal(err)
		}
		_ = result
		count++
	}
	if count != 2 {
		t.Errorf("%d entries about tea", count)
	}
	if err := memory.Delete(id, "asked"); err != nil {
		t.Error(err)
	}
	expectError(t, memory.Delete(id, "asked"), varve.ErrNotFound)
	memory.Close()
	memory.Close()
	expectError(t, memory.Clear(), varve.ErrBadHandle)
}
