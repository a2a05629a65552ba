package varve_test

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"varve"
	"varve/internal/raw"
)

var rounds = flag.Int("rounds", 10_000, "rounds of TestOpenAndCloseRounds")

func TestUseAfterClose(t *testing.T) {
	store, session := inMemory(t)
	other := createSession(t, store, nil)
	session.Close()
	_, err := session.Add(finding("tea"))
	expectError(t, err, varve.ErrBadHandle)
	for _, err := range session.Find(varve.Query{}) {
		expectError(t, err, varve.ErrBadHandle)
	}
	store.Close()
	_, err = store.CreateSession(nil)
	expectError(t, err, varve.ErrBadHandle)
	_, err = other.Add(finding("its store was closed"))
	expectError(t, err, varve.ErrBadHandle)
	if session.ID() == "" {
		t.Error("the id is gone")
	}
	for range 2 { // closing again is no error, in any order
		if err := errors.Join(store.Close(), session.Close(), other.Close()); err != nil {
			t.Error(err)
		}
	}
	var none *varve.Session
	if err := none.Close(); err != nil {
		t.Error(err)
	}
}

// A zero value, or none, is what a program has whose opening failed and was not looked at.
func TestWhatWasNotOpenedAnswersAnError(t *testing.T) {
	for _, store := range []*varve.Store{nil, {}} {
		_, openErr := store.OpenSession("s")
		_, memoryErr := store.OpenMemory(nil)
		_, queryErr := store.Query(nil)
		for _, err := range []error{openErr, memoryErr, queryErr, store.Sync(),
			store.SetLog(varve.LogError, func(varve.LogLevel, json.RawMessage) {}),
			store.SetClock(time.Now),
			store.SetTokenCounter(func(string) (uint64, error) { return 1, nil })} {
			expectError(t, err, varve.ErrBadHandle, "not opened")
		}
		if store.Close() != nil || store.CallbackPanic() != nil {
			t.Error("a store that was not opened does not close")
		}
	}
	for _, session := range []*varve.Session{nil, {}} {
		_, addErr := session.Add(finding("tea"))
		_, keyErr := session.KV().Get("key")
		_, turnsErr := session.Transcript().Last(1)
		for _, err := range []error{addErr, keyErr, turnsErr, session.Sync(),
			session.SetProgress(func(varve.Progress) error { return nil })} {
			expectError(t, err, varve.ErrBadHandle, "not opened")
		}
		if session.Close() != nil || session.ID() != "" {
			t.Error("a session that was not opened does not close")
		}
	}
	for _, memory := range []*varve.Memory{nil, {}} {
		expectError(t, errors.Join(memory.Clear(), memory.Close()), varve.ErrBadHandle, "not opened")
	}
	for _, err := range ofWindowsAndResultsNotOpened() {
		expectError(t, err, varve.ErrBadHandle, "not opened")
	}
}

func TestWhatWasNotOpenedIsNotOpenedUnderAContextEither(t *testing.T) {
	for _, store := range []*varve.Store{nil, {}} {
		expectError(t, store.WithContext(t.Context()).Sync(), varve.ErrBadHandle, "not opened")
	}
	for _, session := range []*varve.Session{nil, {}} {
		expectError(t, session.WithContext(t.Context()).Sync(), varve.ErrBadHandle, "not opened")
	}
	for _, memory := range []*varve.Memory{nil, {}} {
		expectError(t, memory.WithContext(t.Context()).Clear(), varve.ErrBadHandle, "not opened")
	}
}

// ofWindowsAndResultsNotOpened are the errors of calls that must not reach the library.
func ofWindowsAndResultsNotOpened() (errs []error) {
	for _, window := range []*varve.Window{nil, {}} {
		_, recentErr := window.Recent(-1)
		_, textErr := window.Text()
		errs = append(errs, window.Add(varve.Message{Content: 1}), recentErr, textErr, window.Clear())
		if size, err := window.Size(), window.Close(); size != 0 || err != nil {
			errs = append(errs, fmt.Errorf("a window with %d messages does not close: %w", size, err))
		}
	}
	for _, results := range []*varve.Results{nil, {}} {
		_, textErr := results.JSON()
		_, entryErr := results.Entry(0)
		_, scoreErr := results.Score(0)
		_, pageErr := results.Page()
		errs = append(errs, textErr, entryErr, scoreErr, pageErr)
		if count, err := results.Count(), results.Close(); count != 0 || err != nil {
			errs = append(errs, fmt.Errorf("%d results do not close: %w", count, err))
		}
	}
	return errs
}

// A closed handle stays one, whatever is opened after it.
func TestAClosedHandleIsNobodyElses(t *testing.T) {
	store, session := inMemory(t)
	session.Close()
	for range 1000 {
		next := createSession(t, store, nil)
		if _, err := session.Count(nil); !errors.Is(err, varve.ErrBadHandle) {
			t.Fatal(err)
		}
		next.Close()
	}
}

func TestResultsOutliveTheirStore(t *testing.T) {
	store, session := inMemory(t)
	mustAdd(t, session, finding("tea"))
	results, err := session.Query(nil)
	if err != nil {
		t.Fatal(err)
	}
	session.Close()
	store.Close()
	for result, err := range results.All() {
		if err != nil || result.Entry.Content != "tea" {
			t.Error(result, err)
		}
	}
	results.Close()
}

func TestGoroutinesShareASession(t *testing.T) {
	_, session := inMemory(t)
	var group sync.WaitGroup
	for worker := range 16 {
		group.Go(func() {
			for index := range 25 {
				_, err := session.Add(finding(fmt.Sprint("tea ", worker, " ", index)))
				if err != nil {
					t.Error(err)
				}
				for _, err := range session.Find(varve.Query{Text: "tea", Limit: 3}) {
					if err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	group.Wait()
	if count, err := session.Count(nil); count != 400 || err != nil {
		t.Error(count, err)
	}
}

func TestClosingWhileOthersCall(t *testing.T) {
	store, _ := inMemory(t)
	for range 50 {
		session := createSession(t, store, nil)
		var group sync.WaitGroup
		for range 4 {
			group.Go(func() {
				for {
					if _, err := session.Add(finding("tea")); err != nil {
						expectError(t, err, varve.ErrBadHandle)
						return
					}
				}
			})
		}
		session.Close()
		group.Wait()
	}
}

// collected runs the garbage collector until a condition holds; cleanups have their own goroutine.
func collected(condition func() bool) bool {
	for range 500 {
		runtime.GC()
		if condition() {
			return true
		}
		time.Sleep(time.Millisecond) // another goroutine's work; a longer wait changes no answer
	}
	return false
}

func TestACloseBesideAnotherLeavesTheFunctionsOfCallsUnderWay(t *testing.T) {
	store, session := inMemory(t)
	for number := range 10 {
		mustAdd(t, session, finding(fmt.Sprint("cup ", number)))
	}
	length := func(text string) (uint64, error) { return uint64(len(text)), nil }
	if err := store.SetTokenCounter(length); err != nil {
		t.Fatal(err)
	}
	want, err := session.BuildContext(nil)
	if err != nil {
		t.Fatal(err)
	}
	counting, goOn := make(chan bool, 1), make(chan bool)
	if err := store.SetTokenCounter(func(text string) (uint64, error) {
		select {
		case counting <- true: // the first text
			<-goOn
		default:
		}
		return length(text)
	}); err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	group.Go(func() {
		got, err := session.BuildContext(nil)
		if err != nil || got.TokenCount != want.TokenCount {
			t.Error(got, err, want.TokenCount)
		}
	})
	for len(counting) == 0 {
		runtime.Gosched()
	}
	group.Go(func() { store.Close() }) // which waits for the context
	for err == nil {
		_, err = store.Stats()
	}
	store.Close() // which has nothing left to do
	close(goOn)
	group.Wait()
}

func TestDroppedHandlesAreClosed(t *testing.T) {
	registered := raw.RegisteredCount()
	folder := filepath.Join(t.TempDir(), "store")
	openStore(t, folder, nil).Close()
	before := len(descriptors(t))
	for range 20 {
		store, err := varve.Open(folder, nil)
		if err != nil {
			t.Fatal(err)
		}
		session := createSession(t, store, nil)
		err = errors.Join(session.SetProgress(func(varve.Progress) error { return nil }),
			store.SetClock(time.Now))
		if err != nil {
			t.Fatal(err)
		}
		mustAdd(t, session, finding("dropped"))
		if _, err := session.Query(nil); err != nil {
			t.Fatal(err)
		}
	}
	if !collected(func() bool { return raw.RegisteredCount() <= registered }) {
		t.Errorf("%d functions are registered, %d were before", raw.RegisteredCount(), registered)
	}
	if !collected(func() bool { return len(descriptors(t)) <= before }) {
		t.Errorf("%d descriptors were open before, now these: %v", before, descriptors(t))
	}
}

func TestAClosedHandleTakesNoFunction(t *testing.T) {
	store := openStore(t, filepath.Join(t.TempDir(), "store"), nil)
	session := createSession(t, store, nil)
	session.Close()
	store.Close()
	registered := raw.RegisteredCount()
	if err := session.SetProgress(func(varve.Progress) error { return nil }); err == nil {
		t.Error("a closed session took a progress function")
	}
	if err := store.SetClock(time.Now); err == nil {
		t.Error("a closed store took a clock")
	}
	if now := raw.RegisteredCount(); now != registered {
		t.Errorf("%d functions are registered, %d were before", now, registered)
	}
}

// Whoever has a session, or a view of it under a context, has its store too.
func TestNothingInUseIsCollected(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "store")
	open := func() *varve.Session {
		store, err := varve.Open(folder, nil)
		if err != nil {
			t.Fatal(err)
		}
		return createSession(t, store, nil).WithContext(t.Context())
	}
	session := open()
	defer session.Close()
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for range 100 {
				garbage := make([]byte, 1<<16)
				_, err := session.Add(finding(string(garbage[:10])))
				if err != nil {
					t.Error(err)
				}
				runtime.GC()
			}
		})
	}
	group.Wait()
	if count, err := session.Count(nil); count != 400 || err != nil {
		t.Error(count, err)
	}
}

func TestAMemoryInUseKeepsItsStore(t *testing.T) {
	open := func() *varve.Memory {
		store, err := varve.Open("memory:", nil)
		if err != nil {
			t.Fatal(err)
		}
		memory, err := store.OpenMemory(nil)
		if err != nil {
			t.Fatal(err)
		}
		return memory
	}
	memory := open()
	defer memory.Close()
	dropped := collectedOnce()
	if !collected(dropped.Load) {
		t.Fatal("nothing is collected")
	}
	if _, err := memory.Record("talk", varve.Message{Content: "tea"}); err != nil {
		t.Error(err)
	}
}

// collectedOnce tells when what is dropped here was cleaned up; what was dropped before mostly is then.
func collectedOnce() *atomic.Bool {
	isGone := new(atomic.Bool)
	object := new([1 << 10]*int)
	runtime.AddCleanup(object, func(isGone *atomic.Bool) { isGone.Store(true) }, isGone)
	return isGone
}

// descriptors are what this process has open, by their targets, without what Go's runtime opens for
// itself sooner or later.
func descriptors(t testing.TB) (targets []string) {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		target, err := os.Readlink(filepath.Join("/proc/self/fd", entry.Name()))
		if err == nil && !strings.HasPrefix(target, "/sys/fs/cgroup/") &&
			!strings.HasPrefix(target, "anon_inode:") {
			targets = append(targets, target)
		}
	}
	return targets
}

// residentBytes is the memory of this process that is not mapped from files.
func residentBytes(t testing.TB) int {
	t.Helper()
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); fields[0] == "RssAnon:" {
			kilobytes, err := strconv.Atoi(fields[1])
			if err != nil {
				t.Fatal(err)
			}
			return kilobytes << 10
		}
	}
	t.Fatal("no RssAnon in /proc/self/status")
	return 0
}

// memoryFolder is a folder in memory where there is one: opening a store syncs the directory that it
// is in, and a test of what stays behind need not wait for a disk.
func memoryFolder(t testing.TB) string {
	folder, err := os.MkdirTemp("/dev/shm", "varve-go-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(folder) })
	return folder
}

// TestOpenAndCloseRounds opens, uses and closes a store so often; -rounds 100000 is the figure of
// the README. What a few rounds take at the start may stay: the heap has its size then.
func TestOpenAndCloseRounds(t *testing.T) {
	folder := filepath.Join(memoryFolder(t), "store")
	store := openStore(t, folder, varve.Config{Durability: "os"})
	session := createSession(t, store, varve.SessionOptions{SessionID: "s"})
	mustAdd(t, session, finding("tea"))
	session.Close()
	store.Close()
	round := func() {
		store, err := varve.Open(folder, varve.Config{Durability: "os"})
		if err != nil {
			t.Fatal(err)
		}
		session, err := store.OpenSession("s")
		if err != nil {
			t.Fatal(err)
		}
		if err := session.SetProgress(func(varve.Progress) error { return nil }); err != nil {
			t.Fatal(err)
		}
		results, err := session.Query(varve.Query{Text: "tea"})
		if err != nil || results.Count() != 1 {
			t.Fatal(err)
		}
		results.Close()
		for range 4 { // texts and errors that C gave away
			if _, err := session.Stats(); err != nil {
				t.Fatal(err)
			}
			_, err := session.GetRaw("nobody")
			expectError(t, err, varve.ErrNotFound)
		}
		session.Close()
		store.Close()
	}
	for range 1000 {
		round()
	}
	runtime.GC()
	memory, before := residentBytes(t), len(descriptors(t))
	for range *rounds {
		round()
	}
	runtime.GC()
	grown := residentBytes(t) - memory
	after := descriptors(t)
	t.Logf("%d rounds: memory grew by %d KB, descriptors by %d", *rounds, grown>>10,
		len(after)-before)
	if len(after) > before {
		t.Errorf("%d descriptors were open before, now these: %v", before, after)
	}
	if grown > 8<<20 {
		t.Errorf("memory grew by %d KB in %d rounds", grown>>10, *rounds)
	}
}
