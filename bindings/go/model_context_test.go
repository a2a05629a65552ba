package varve_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"varve"
	"varve/internal/raw"
)

func conversation(t *testing.T, session *varve.Session) {
	t.Helper()
	for _, step := range []struct {
		kind    string
		payload map[string]any
	}{
		{"user_message", map[string]any{"content": "What's the weather in Rome? ☔"}},
		{"tool_call", map[string]any{"name": "weather", "arguments": map[string]any{"city": "Rome"},
			"call_id": "c1"}},
		{"tool_result", map[string]any{"name": "weather", "result": "rain", "call_id": "c1"}},
		{"assistant_message", map[string]any{"content": "It rains."}},
	} {
		if _, err := session.Record(step.kind, step.payload); err != nil {
			t.Fatal(err)
		}
	}
}

func TestBuildContextAcrossSessions(t *testing.T) {
	store, _ := inMemory(t)
	open := func(id, user, said string) *varve.Session {
		session, err := store.CreateSession(varve.SessionOptions{SessionID: id, UserID: user})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { session.Close() })
		if _, err := session.Record("user_message", map[string]any{"content": said}); err != nil {
			t.Fatal(err)
		}
		return session
	}
	open("earlier", "ann", "My kayak is red")
	open("of-bob", "bob", "My kayak is blue")
	today := open("today", "ann", "Hello again")
	for _, given := range []struct {
		across *varve.Across
		want   []string
	}{
		{nil, []string{""}},
		{&varve.Across{UserID: "ann"}, []string{"earlier", "today"}},
		{&varve.Across{SessionIDs: []string{"of-bob"}}, []string{"of-bob", "today"}},
		{&varve.Across{All: true}, []string{"earlier", "of-bob", "today"}},
	} {
		built, err := today.BuildContext(varve.ContextRequest{Question: "Is the kayak red?",
			Across: given.across})
		if err != nil {
			t.Fatal(err)
		}
		var sessions []string
		for _, item := range built.Items {
			sessions = append(sessions, item.SessionID)
		}
		if slices.Sort(sessions); !slices.Equal(sessions, given.want) {
			t.Errorf("%+v: %q", given.across, sessions)
		}
	}
	_, err := today.BuildContext(varve.ContextRequest{Across: &varve.Across{SessionIDs: []string{}}})
	expectError(t, err, varve.ErrInvalidArgument, "across.session_ids")
	_, err = today.BuildContext(varve.ContextRequest{Across: &varve.Across{}})
	expectError(t, err, varve.ErrInvalidArgument, "set All")
}

func TestBuildContext(t *testing.T) {
	_, session := inMemory(t)
	conversation(t, session)
	built, err := session.BuildContext(varve.ContextRequest{Question: "Does it rain?",
		Budget: varve.Budget{MaxTokens: 400}})
	if err != nil || !strings.Contains(built.Text, "Rome? ☔") || len(built.Items) != 4 ||
		built.TokenCount == 0 || built.TokenCount > 400 {
		t.Fatal(built, err)
	}
	if built, err = session.BuildContext(nil); err != nil || len(built.Items) != 4 {
		t.Error(built, err)
	}
	_, err = session.BuildContext(`{"colour":"red"}`)
	expectError(t, err, varve.ErrInvalidArgument, "colour")
	_, err = session.Record("dance", map[string]any{"content": 1})
	expectError(t, err, varve.ErrInvalidArgument)
}

func TestTokenCounter(t *testing.T) {
	store, session := inMemory(t)
	conversation(t, session)
	calls := 0
	err := store.SetTokenCounter(func(text string) (uint64, error) {
		calls++
		return uint64(len(text)), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	built, err := session.BuildContext(nil)
	if err != nil || calls == 0 || built.TokenCount != int64(len(built.Text)) {
		t.Error(built, err, calls)
	}
	cause := errors.New("the vocabulary is missing")
	err = store.SetTokenCounter(func(string) (uint64, error) { return 0, cause })
	if err != nil {
		t.Fatal(err)
	}
	_, err = session.BuildContext(nil)
	expectError(t, err, varve.ErrCallback, "vocabulary")
	if !errors.Is(err, cause) {
		t.Error(err)
	}
	if err := store.SetTokenCounter(func(string) (uint64, error) { panic("ink") }); err != nil {
		t.Fatal(err)
	}
	_, err = session.BuildContext(nil)
	var panicked *varve.PanicError
	if !errors.As(err, &panicked) || panicked.Value != "ink" {
		t.Error(err)
	}
	before := raw.RegisteredCount()
	for range 3000 { // more than there are C function pointers
		err := store.SetTokenCounter(func(string) (uint64, error) { return 1, nil })
		if err != nil {
			t.Fatal(err)
		}
	}
	if now := raw.RegisteredCount(); now > before {
		t.Errorf("%d functions are registered, %d were before", now, before)
	}
	if err := store.SetTokenCounter(nil); err != nil {
		t.Fatal(err)
	}
	if _, err := session.BuildContext(nil); err != nil {
		t.Error(err)
	}
}
