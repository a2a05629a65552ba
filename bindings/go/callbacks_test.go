package varve_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"varve"
	"varve/internal/raw"
)

func TestLogLinesGoToSlog(t *testing.T) {
	store := openStore(t, "memory:", nil)
	var text bytes.Buffer
	options := &slog.HandlerOptions{Level: slog.LevelInfo}
	if err := store.SetLogger(slog.New(slog.NewJSONHandler(&text, options))); err != nil {
		t.Fatal(err)
	}
	session := createSession(t, store, varve.SessionOptions{SessionID: "kitchen"})
	mustAdd(t, session, finding("tea"))
	var line struct {
		Time      time.Time
		Level     string
		Message   string `json:"msg"`
		Component string
		SessionID string `json:"session_id"`
		Metadata  map[string]any
	}
	if err := json.Unmarshal(bytes.SplitAfter(text.Bytes(), []byte("\n"))[0], &line); err != nil {
		t.Fatal(err)
	}
	if line.Level != "INFO" || line.Message == "" || line.Component != "store" ||
		line.SessionID != "kitchen" || time.Since(line.Time) > time.Hour {
		t.Errorf("%+v", line)
	}
	if strings.Contains(text.String(), "DEBUG") {
		t.Error("a line below the logger's level")
	}
	if err := store.SetLogger(nil); err != nil {
		t.Fatal(err)
	}
	before := text.Len()
	createSession(t, store, nil)
	if text.Len() != before {
		t.Error("a line after the logger was taken away")
	}
}

func TestALoggerWhoseLevelIsRaisedIsToldNoMore(t *testing.T) {
	store := openStore(t, "memory:", nil)
	var text bytes.Buffer
	level := new(slog.LevelVar) // Info
	handler := slog.NewTextHandler(&text, &slog.HandlerOptions{Level: level})
	if err := store.SetLogger(slog.New(enabledOnly{t, handler})); err != nil {
		t.Fatal(err)
	}
	createSession(t, store, nil)
	if text.Len() == 0 {
		t.Error("no line")
	}
	text.Reset()
	level.Set(slog.LevelError)
	createSession(t, store, nil)
	if text.Len() != 0 {
		t.Error("a line below the level:", text.String())
	}
	if err := store.SetLogger(nil); err != nil {
		t.Fatal(err)
	}
}

// enabledOnly is a handler that may rely on what slog promises to handlers.
type enabledOnly struct {
	t *testing.T
	slog.Handler
}

func (h enabledOnly) Handle(ctx context.Context, record slog.Record) error {
	if !h.Enabled(ctx, record.Level) {
		h.t.Error("Handle is called for a level that is not enabled:", record.Level)
	}
	return h.Handler.Handle(ctx, record)
}

func TestLevelsAreThoseOfSlog(t *testing.T) {
	for level, wanted := range map[varve.LogLevel]slog.Level{varve.LogDebug: slog.LevelDebug,
		varve.LogInfo: slog.LevelInfo, varve.LogWarn: slog.LevelWarn, varve.LogError: slog.LevelError} {
		if level.Level() != wanted {
			t.Errorf("%d is %v, expected is %v", level, level.Level(), wanted)
		}
	}
}

func TestALoggerMayUseTheLibrary(t *testing.T) {
	store, session := inMemory(t)
	counts := 0
	err := store.SetLog(varve.LogInfo, func(varve.LogLevel, json.RawMessage) {
		if _, err := session.Count(nil); err != nil {
			t.Error(err)
		}
		counts++
	})
	if err != nil {
		t.Fatal(err)
	}
	createSession(t, store, nil)
	if err := store.SetLogger(nil); err != nil { // closing tells, too, when nothing is open
		t.Fatal(err)
	}
	if counts == 0 {
		t.Error("no line came")
	}
	expectError(t, store.SetLog(99, nil), varve.ErrInvalidArgument)
}

func TestClock(t *testing.T) {
	store, session := inMemory(t)
	now := time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC)
	if err := store.SetClock(func() time.Time { return now }); err != nil {
		t.Fatal(err)
	}
	entry, err := session.Get(mustAdd(t, session, finding("tea")))
	if err != nil || !entry.Timestamp.Equal(now) {
		t.Error(entry, err)
	}
	if err := store.SetClock(nil); err != nil {
		t.Fatal(err)
	}
	entry, err = session.Get(mustAdd(t, session, finding("tea")))
	if err != nil || time.Since(entry.Timestamp) > time.Hour {
		t.Error(entry, err)
	}
}

func TestAClockBeyond64BitsOfMillisecondsIsNotTaken(t *testing.T) {
	store, session := inMemory(t)
	for _, seconds := range []int64{1 << 62, -(1 << 62)} {
		if err := store.SetClock(func() time.Time { return time.Unix(seconds, 0) }); err != nil {
			t.Fatal(err)
		}
		entry, err := session.Get(mustAdd(t, session, finding("tea")))
		if err != nil || time.Since(entry.Timestamp).Abs() > time.Hour {
			t.Error(seconds, entry, err)
		}
		if panicked := store.CallbackPanic(); panicked == nil {
			t.Error("nobody was told of", seconds)
		}
	}
}

func TestAnErrorOfTheProgressFunctionStopsTheOperation(t *testing.T) {
	_, session := inMemory(t)
	mustAdd(t, session, finding("tea"))
	var told []varve.Progress
	stop := errors.New("that is enough")
	err := session.SetProgress(func(progress varve.Progress) error {
		told = append(told, progress)
		return stop
	})
	if err != nil {
		t.Fatal(err)
	}
	_, err = session.Verify(nil)
	expectError(t, err, varve.ErrCallback, "that is enough")
	if !errors.Is(err, stop) || len(told) != 1 || told[0].Operation != "verify" {
		t.Error(err, told)
	}
	var all []varve.Progress
	err = session.SetProgress(func(progress varve.Progress) error {
		all = append(all, progress)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err = session.Verify(nil); err != nil {
		t.Error(err)
	}
	if first, last := all[0], all[len(all)-1]; first.Done != 0 || first.Total == 0 ||
		last.Done != last.Total {
		t.Error(all)
	}
	if err := session.SetProgress(nil); err != nil {
		t.Fatal(err)
	}
	if _, err = session.Verify(nil); err != nil || len(told) != 1 {
		t.Error(err, told)
	}
}

type stopped int64

func (s stopped) Error() string { return fmt.Sprint("stopped ", int64(s)) }

// The function answers two operations at a time, so that both fail at the same moment.
func TestTheCauseIsTheErrorGivenToThisOperation(t *testing.T) {
	_, session := inMemory(t)
	mustAdd(t, session, finding("tea"))
	var count atomic.Int64
	both := make(chan bool)
	err := session.SetProgress(func(varve.Progress) error {
		number := count.Add(1)
		select {
		case both <- true:
		case <-both:
		}
		return stopped(number)
	})
	if err != nil {
		t.Fatal(err)
	}
	var told sync.Map
	var group sync.WaitGroup
	for range 2 {
		group.Go(func() {
			for range 1000 {
				_, err := session.Verify(nil)
				var cause stopped
				if !errors.As(err, &cause) {
					t.Error("no cause:", err)
				} else if _, known := told.LoadOrStore(cause, true); known {
					t.Error("the cause of two operations:", err)
				}
			}
		})
	}
	group.Wait()
}

// A goroutine that went on elsewhere after the call would not find what failed there.
func TestTheCauseIsKnownWhereAnotherGoroutineTakesTheProcessor(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	var isOver atomic.Bool
	defer isOver.Store(true)
	go func() {
		for !isOver.Load() {
			runtime.Gosched()
		}
	}()
	stop := errors.New("that is enough")
	_, checked := inMemory(t)
	store, asked := inMemory(t)
	err := errors.Join(
		checked.SetProgress(func(varve.Progress) error { return stop }),
		store.SetTokenCounter(func(string) (uint64, error) { return 0, stop }))
	if err != nil {
		t.Fatal(err)
	}
	mustAdd(t, asked, finding("tea"))
	for range 10_000 { // so that it happens; some hundreds do not always do
		if _, err := checked.Verify(nil); !errors.Is(err, stop) {
			t.Fatal(err)
		}
		if _, err := asked.BuildContext(nil); !errors.Is(err, stop) {
			t.Fatal(err)
		}
	}
}

// A goroutine that ends while it is kept on its thread ends that, too.
func TestAGoroutineIsKeptOnItsThreadNoLongerThanItsCall(t *testing.T) {
	_, session := inMemory(t)
	if err := session.SetProgress(func(varve.Progress) error { return nil }); err != nil {
		t.Fatal(err)
	}
	threads := map[int]bool{}
	for range 100 {
		var group sync.WaitGroup
		group.Go(func() {
			if _, err := session.Verify(nil); err != nil {
				t.Error(err)
			}
			threads[syscall.Gettid()] = true
		})
		group.Wait()
	}
	for thread := range threads {
		if _, err := os.Stat(fmt.Sprint("/proc/self/task/", thread)); err != nil {
			t.Error(err)
		}
	}
}

func TestAPanicInTheProgressFunctionIsAnError(t *testing.T) {
	_, session := inMemory(t)
	cause := errors.New("out of paper")
	if err := session.SetProgress(func(varve.Progress) error { panic(cause) }); err != nil {
		t.Fatal(err)
	}
	_, err := session.Verify(nil)
	expectError(t, err, varve.ErrCallback, "panicked", "out of paper")
	var panicked *varve.PanicError
	if !errors.As(err, &panicked) || !errors.Is(err, cause) ||
		!strings.Contains(string(panicked.Stack), "callbacks_test.go") {
		t.Errorf("%+v", err)
	}
	mustAdd(t, session, finding("the session goes on"))
}

func TestAPanicInALoggerOrAClockLeavesTheCallAsItIs(t *testing.T) {
	store, session := inMemory(t)
	if store.CallbackPanic() != nil {
		t.Error("a panic before any")
	}
	err := store.SetLog(varve.LogDebug, func(varve.LogLevel, json.RawMessage) { panic("log") })
	if err != nil {
		t.Fatal(err)
	}
	mustAdd(t, session, finding("tea"))
	if panicked := store.CallbackPanic(); panicked == nil || panicked.Value != "log" {
		t.Error(panicked)
	}
	if err := store.SetLog(varve.LogOff, nil); err != nil {
		t.Fatal(err)
	}
	if err := store.SetClock(func() time.Time { panic("clock") }); err != nil {
		t.Fatal(err)
	}
	entry, err := session.Get(mustAdd(t, session, finding("tea")))
	if err != nil || time.Since(entry.Timestamp) > time.Hour {
		t.Error(entry, err)
	}
	for range 2 { // to look at it does not take it away
		if panicked := store.CallbackPanic(); panicked == nil || panicked.Value != "clock" {
			t.Error(panicked)
		}
	}
}

// A process has 2000 C function pointers to give; registrations are without number.
func TestCallbacksAreRegisteredAnyNumberOfTimes(t *testing.T) {
	before := raw.RegisteredCount()
	for range 50 {
		store, err := varve.Open("memory:", nil)
		if err != nil {
			t.Fatal(err)
		}
		session := createSession(t, store, nil)
		for range 50 {
			calls := 0
			err = errors.Join(store.SetLogger(slog.New(slog.DiscardHandler)),
				store.SetClock(time.Now),
				session.SetProgress(func(varve.Progress) error { calls++; return nil }))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := session.Verify(nil); err != nil || calls == 0 {
				t.Fatal(err, calls)
			}
		}
		session.Close()
		store.Close()
	}
	if now := raw.RegisteredCount(); now > before {
		t.Errorf("%d functions are registered, %d were before", now, before)
	}
}

func TestAFunctionThatIsTakenAwayIsCollected(t *testing.T) {
	store := openStore(t, "memory:", nil)
	session := createSession(t, store, nil)
	var dropped atomic.Int32
	type state struct {
		calls int
		_     *int // objects without a pointer may share their memory, and their end
	}
	held := func() *state {
		held := new(state)
		runtime.AddCleanup(held, func(dropped *atomic.Int32) { dropped.Add(1) }, &dropped)
		return held
	}
	register := func() error {
		log, clock, progress, tokens := held(), held(), held(), held()
		return errors.Join(
			store.SetLog(varve.LogError, func(varve.LogLevel, json.RawMessage) { log.calls++ }),
			store.SetClock(func() time.Time { clock.calls++; return time.Now() }),
			session.SetProgress(func(varve.Progress) error { progress.calls++; return nil }),
			store.SetTokenCounter(func(string) (uint64, error) { tokens.calls++; return 1, nil }))
	}
	err := errors.Join(register(), register(), store.SetLog(varve.LogOff, nil),
		store.SetClock(nil), session.SetProgress(nil), store.SetTokenCounter(nil))
	if err != nil {
		t.Fatal(err)
	}
	if !collected(func() bool { return dropped.Load() == 8 }) {
		t.Errorf("%d of 8 functions are collected", dropped.Load())
	}
}

// doneAfter is a context that is done as soon as it is asked, after `before`.
type doneAfter struct {
	context.Context
	before func()
}

func (c doneAfter) Err() error {
	c.before()
	return context.Canceled
}

func TestACounterSetWhileAnotherOneIsRefusedStays(t *testing.T) {
	store, session := inMemory(t)
	conversation(t, session)
	set := make(chan error, 1)
	var begin sync.Once
	refused := store.WithContext(doneAfter{context.Background(), func() {
		begin.Do(func() {
			var isSet atomic.Bool
			go func() {
				set <- store.SetTokenCounter(func(string) (uint64, error) { return 7, nil })
				isSet.Store(true)
			}()
			for i := 0; i < 10_000 && !isSet.Load(); i++ {
				runtime.Gosched() // it may have to wait until the other is refused
			}
		})
	}})
	err := refused.SetTokenCounter(func(string) (uint64, error) { return 0, errors.New("refused") })
	expectError(t, err, context.Canceled)
	if err := <-set; err != nil {
		t.Fatal(err)
	}
	built, err := session.BuildContext(nil)
	if err != nil || built.TokenCount%7 != 0 {
		t.Error(built, err)
	}
}

func TestAFunctionThatIsRefusedLeavesTheOneBefore(t *testing.T) {
	store := openStore(t, "memory:", nil)
	lines := 0
	err := store.SetLog(varve.LogInfo, func(varve.LogLevel, json.RawMessage) { lines++ })
	if err != nil {
		t.Fatal(err)
	}
	err = store.SetLog(99, func(varve.LogLevel, json.RawMessage) { t.Error("called") })
	if !errors.Is(err, varve.ErrInvalidArgument) {
		t.Error(err)
	}
	createSession(t, store, nil)
	if lines == 0 {
		t.Error("the first function is not called any more")
	}
}
