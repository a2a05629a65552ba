package varve

import (
	"runtime"
	"testing"
	"time"

	"varve/internal/raw"
)

// gone runs the garbage collector until a handle is closed; cleanups have their own goroutine.
func gone(t *testing.T, what string, closed func() bool) {
	t.Helper()
	for range 500 {
		runtime.GC()
		if closed() {
			return
		}
		time.Sleep(time.Millisecond) // another goroutine's work; a longer wait changes no answer
	}
	t.Errorf("%s was dropped and is not closed", what)
}

// Whatever was dropped without Close is closed by the leak net, whose names nobody else has.
func TestTheLeakNetClosesEveryKindOfHandle(t *testing.T) {
	store, err := Open("memory:", nil)
	if err != nil {
		t.Fatal(err)
	}
	session, err := store.CreateSession(nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := session.Add(Entry{Type: "finding", Content: "tea"}); err != nil {
		t.Fatal(err)
	}
	results, err := session.Query(nil)
	if err != nil {
		t.Fatal(err)
	}
	storeToken, sessionToken, resultsToken := store.token, session.token, results.token
	runtime.GC()
	if results.Count() != 1 || session.ID() == "" || store.Sync() != nil {
		t.Fatal("a handle in use was closed")
	}
	gone(t, "Results", func() bool { return raw.ResultsCount(resultsToken) == 0 })
	if raw.SessionID(sessionToken) == "" {
		t.Error("the session in use was closed")
	}
	runtime.KeepAlive(session)
	gone(t, "Session", func() bool { return raw.SessionID(sessionToken) == "" })
	runtime.KeepAlive(store)
	gone(t, "Store", func() bool { return raw.StoreSync(storeToken) != nil })
}
