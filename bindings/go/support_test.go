package varve_test

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"varve"
)

// children are what this program does when a test starts it again, by name.
var children = map[string]func(){}

const childVariable = "VARVE_TEST_CHILD"

func TestMain(m *testing.M) {
	if child, ok := children[os.Getenv(childVariable)]; ok {
		child()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// child is this program again, as another process.
func child(name string, environment ...string) *exec.Cmd {
	command := exec.Command(os.Args[0])
	command.Env = append(os.Environ(), append(environment, childVariable+"="+name)...)
	return command
}

// openStore opens a store that is closed at the end of the test.
func openStore(t testing.TB, uri string, config any) *varve.Store {
	t.Helper()
	store, err := varve.Open(uri, config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	return store
}

func createSession(t testing.TB, store *varve.Store, options any) *varve.Session {
	t.Helper()
	session, err := store.CreateSession(options)
	if err != nil {
		t.Fatal(err)
	}
	return session
}

// inMemory is a session of a store that leaves nothing behind.
func inMemory(t testing.TB) (*varve.Store, *varve.Session) {
	t.Helper()
	store := openStore(t, "memory:", nil)
	return store, createSession(t, store, nil)
}

func mustAdd(t testing.TB, session *varve.Session, entry any) string {
	t.Helper()
	id, err := session.Add(entry)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func expectError(t testing.TB, err, wanted error, parts ...string) {
	t.Helper()
	if !errors.Is(err, wanted) {
		t.Errorf("%v, expected is %v", err, wanted)
		return
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q is not in: %v", part, err)
		}
	}
}

func finding(content any) varve.Entry {
	return varve.Entry{Type: "finding", Content: content}
}
