package varve_test

import (
	"encoding/json"
	"sync"
	"testing"
	"time"

	"varve"
)

func TestWindow(t *testing.T) {
	window, err := varve.NewWindow(2)
	if err != nil {
		t.Fatal(err)
	}
	for _, content := range []string{"one", "two", "three ☕"} {
		if err := window.Add(varve.Message{Role: "user", Content: content}); err != nil {
			t.Fatal(err)
		}
	}
	messages, err := window.Recent(-1)
	if err != nil || len(messages) != 2 || messages[1].Content != "three ☕" ||
		time.Since(messages[1].Timestamp) > time.Hour {
		t.Error(messages, err)
	}
	if messages, err = window.Recent(1); err != nil || len(messages) != 1 {
		t.Error(messages, err)
	}
	if text, err := window.Text(); text != "user: two\nuser: three ☕\n" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
	if raw, err := varve.RecentAs[json.RawMessage](window, 0); err != nil || len(raw) != 0 {
		t.Error(raw, err)
	}
	expectError(t, window.Add(`{"role":"user"}`), varve.ErrInvalidArgument)
	if window.Size() != 2 || window.Clear() != nil || window.Size() != 0 {
		t.Error(window.Size())
	}
	window.Close()
	window.Close()
	expectError(t, window.Clear(), varve.ErrBadHandle)
	for _, capacity := range []int{0, -1} {
		_, err = varve.NewWindow(capacity)
		expectError(t, err, varve.ErrInvalidArgument)
	}
}

// encoding/json takes Role for role, and a message may have members of any name.
func TestAnOddMemberOfAMessageHidesNoOther(t *testing.T) {
	window, err := varve.NewWindow(3)
	if err != nil {
		t.Fatal(err)
	}
	defer window.Close()
	for _, message := range []string{`{"content":"one","Role":5}`, `{"content":"two","Timestamp":[]}`,
		`{"content":"three","role":"user"}`} {
		if err := window.Add(message); err != nil {
			t.Fatal(err)
		}
	}
	messages, err := window.Recent(-1)
	if err != nil || len(messages) != 3 {
		t.Fatal(messages, err)
	}
	if messages[0].Content != "one" || messages[0].Role != "" || messages[1].Content != "two" ||
		messages[1].Timestamp.IsZero() || messages[2].Role != "user" {
		t.Error(messages)
	}
}

func TestGoroutinesShareAWindow(t *testing.T) {
	window, err := varve.NewWindow(100)
	if err != nil {
		t.Fatal(err)
	}
	defer window.Close()
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 50 {
				if err := window.Add(varve.Message{Content: 1}); err != nil {
					t.Error(err)
				}
				if _, err := window.Text(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	if window.Size() != 100 {
		t.Error(window.Size())
	}
}
