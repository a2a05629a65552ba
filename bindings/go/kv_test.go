package varve_test

import (
	"strings"
	"testing"
	"time"

	"varve"
)

func TestKeysAndValues(t *testing.T) {
	_, session := inMemory(t)
	facts := session.KV()
	for key, value := range map[string]string{"user": "Ann", "topic": "tea ☕\x00\n"} {
		if err := facts.Set(key, value); err != nil {
			t.Fatal(err)
		}
		if back, err := facts.Get(key); back != value || err != nil {
			t.Errorf("%q, %v", back, err)
		}
	}
	if list, err := facts.List(); err != nil || len(list) != 2 ||
		time.Since(list[0].SetAt) > time.Hour {
		t.Error(list, err)
	}
	if err := facts.Delete("user"); err != nil {
		t.Error(err)
	}
	_, err := facts.Get("user")
	expectError(t, err, varve.ErrNotFound, "KV.Get")
	expectError(t, facts.Delete("user"), varve.ErrNotFound)
	expectError(t, facts.Set("topic", "caf\xe9"), varve.ErrInvalidArgument)
	expectError(t, facts.Set("", "tea"), varve.ErrInvalidArgument)
}

func TestTranscript(t *testing.T) {
	store, session := inMemory(t)
	said := session.Transcript()
	long := strings.Repeat("# no heading\n", 1000)
	for _, content := range []string{"Hello", "👩‍👩‍👧 \x00", long} {
		if err := said.Append("user", content); err != nil {
			t.Fatal(err)
		}
	}
	turns, err := said.Last(2)
	if err != nil || len(turns) != 2 || turns[0].Content != "👩‍👩‍👧 \x00" || turns[1].Content != long {
		t.Error(turns, err)
	}
	if turns, err = said.Last(-1); err != nil || len(turns) != 3 || turns[0].Role != "user" {
		t.Error(turns, err)
	}
	expectError(t, said.Append("", "nobody"), varve.ErrInvalidArgument)
	one := 1
	capped := createSession(t, store, varve.SessionOptions{TranscriptCap: &one, KVCap: &one})
	for _, content := range []string{"first", "second"} {
		if err := capped.Transcript().Append("user", content); err != nil {
			t.Error(err)
		}
		if err := capped.KV().Set(content, ""); err != nil {
			t.Error(err)
		}
	}
	if turns, err = capped.Transcript().Last(-1); err != nil || len(turns) != 1 {
		t.Error(turns, err)
	}
	if list, err := capped.KV().List(); err != nil || len(list) != 1 || list[0].Key != "second" {
		t.Error(list, err)
	}
	without := createSession(t, store, varve.SessionOptions{Stores: []string{"kv"}})
	expectError(t, without.Transcript().Append("user", "Hello"), varve.ErrUnsupported)
}
