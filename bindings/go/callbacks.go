package varve

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"varve/internal/raw"
)

// callbacks are the Go functions that C calls for one handle. Each kind is registered once, when it
// is first set; later ones take its place, so that a call under way on another thread never finds a
// function gone.
type callbacks struct {
	lock          sync.Mutex
	registered    map[string]uintptr // kind: user_data
	released      bool               // guarded, as those, by lock
	closing       atomic.Int32       // how many are closing the handle
	log           atomic.Pointer[func(LogLevel, json.RawMessage)]
	clock         atomic.Pointer[func() time.Time]
	progress      atomic.Pointer[func(Progress) error]
	tokens        atomic.Pointer[func(text string) (uint64, error)]
	settingTokens sync.Mutex  // held while tokens, and what the library knows of it, change
	failures      sync.Map    // thread: why a function reported failure to the call on it
	mayFail       atomic.Bool // whether there has been a function that can
	panicked      atomic.Pointer[PanicError]
}

// userData registers the function of a kind, the first time. It gives 0 when the handle is closed:
// the library then refuses the function.
func (c *callbacks) userData(kind string, function any) uintptr {
	c.lock.Lock()
	defer c.lock.Unlock()
	if userData, ok := c.registered[kind]; ok || c.released {
		return userData
	}
	if c.registered == nil {
		c.registered = map[string]uintptr{}
	}
	userData := raw.Register(function)
	c.registered[kind] = userData
	return userData
}

// replace makes a function, or none, the one that is called, and has the library told of it. When
// the library refuses, the one before stays.
func replace[F any](place *atomic.Pointer[F], function *F, tell func() error) error {
	before := place.Load()
	if function != nil {
		place.Store(function)
	}
	if err := tell(); err != nil {
		place.Store(before)
		return err
	}
	place.Store(function)
	return nil
}

// closeWith closes the handle, and forgets the functions when no call can come any more: of several
// who close, one waits for the calls under way and the others do not, so the last to be done does it.
func (c *callbacks) closeWith(closeHandle func()) {
	c.closing.Add(1)
	closeHandle()
	if c.closing.Add(-1) == 0 {
		c.release()
	}
}

func (c *callbacks) release() {
	c.lock.Lock()
	defer c.lock.Unlock()
	for _, userData := range c.registered {
		raw.Release(userData)
	}
	c.registered = nil
	c.released = true
}

// takeFailure is the error of the function that failed the call on this thread, or nil.
func (c *callbacks) takeFailure() error {
	failure, _ := c.failures.LoadAndDelete(threadID())
	err, _ := failure.(error)
	return err
}

// guarded calls a function of the user's and gives its error, or its panic as one. Neither a panic
// nor its unwinding may reach the frames of C.
func (c *callbacks) guarded(function func() error) (err error) {
	isDone := false
	defer func() {
		if value := recover(); value != nil {
			panicked := &PanicError{Value: value, Stack: debug.Stack()}
			c.panicked.Store(panicked)
			err = panicked
		} else if !isDone {
			endProgram()
		}
	}()
	err = function()
	isDone = true
	return err
}

// endProgram answers runtime.Goexit in a callback, which nothing can stop: the frames of C would be
// left as they are, and whoever closes their handle, a deferred function perhaps, would wait for
// them for ever.
func endProgram() {
	message := "varve: a callback called runtime.Goexit, as t.FailNow does; " +
		"it must return\n\n" + string(debug.Stack())
	go func() { panic(message) }()
	select {}
}

// failed keeps an error for the call that the library then lets fail, and tells whether it is one.
func (c *callbacks) failed(err error) int32 {
	if err == nil {
		return 0
	}
	c.failures.Store(threadID(), err)
	return 1
}

func (c *callbacks) logLine(level int32, line string) {
	receive := c.log.Load()
	if receive == nil {
		return
	}
	_ = c.guarded(func() error {
		(*receive)(LogLevel(level), json.RawMessage(line))
		return nil
	})
}

// Of a time whose milliseconds fit into 64 bits; UnixMilli wraps around beyond it.
const maxSeconds = math.MaxInt64/1000 - 1

func (c *callbacks) now() int64 {
	now := time.Now()
	if clock := c.clock.Load(); clock != nil {
		_ = c.guarded(func() error {
			told := (*clock)()
			if seconds := told.Unix(); seconds > maxSeconds || seconds < -maxSeconds {
				panic(fmt.Sprintf("the clock told %d seconds since 1970, more than 64 bits hold in milliseconds", seconds))
			}
			now = told
			return nil
		})
	}
	return now.UnixMilli()
}

func (c *callbacks) report(operation string, done, total uint64) int32 {
	progress := c.progress.Load()
	if progress == nil {
		return 0
	}
	return c.failed(c.guarded(func() error {
		return (*progress)(Progress{Operation: operation, Done: done, Total: total})
	}))
}

// LogLevel is a level of the library's log lines.
type LogLevel int32

// The levels of log lines.
const (
	LogDebug LogLevel = raw.LogDebug
	LogInfo  LogLevel = raw.LogInfo
	LogWarn  LogLevel = raw.LogWarn
	LogError LogLevel = raw.LogError
	LogOff   LogLevel = raw.LogOff
)

// Level is the level in slog's terms.
func (l LogLevel) Level() slog.Level {
	switch {
	case l <= LogDebug:
		return slog.LevelDebug
	case l == LogInfo:
		return slog.LevelInfo
	case l == LogWarn:
		return slog.LevelWarn
	}
	return slog.LevelError
}

// lowestLevel is the library's level from which on the logger wants lines.
func lowestLevel(logger *slog.Logger) LogLevel {
	for level := LogDebug; level < LogOff; level++ {
		if logger.Enabled(context.Background(), level.Level()) {
			return level
		}
	}
	return LogOff
}

// forward gives a log line to slog: its message, and the rest as attributes.
func forward(logger *slog.Logger, level LogLevel, line json.RawMessage) {
	if !logger.Enabled(context.Background(), level.Level()) {
		return // its level was raised since, and handlers are only given what is enabled
	}
	var fields struct {
		Timestamp time.Time       `json:"timestamp"`
		Component string          `json:"component"`
		SessionID string          `json:"session_id"`
		Message   string          `json:"message"`
		Metadata  json.RawMessage `json:"metadata"`
	}
	if err := json.Unmarshal(line, &fields); err != nil {
		fields.Message = string(line) // the library's line as it is, rather than none
	}
	record := slog.NewRecord(fields.Timestamp, level.Level(), fields.Message, 0)
	record.AddAttrs(slog.String("component", fields.Component))
	if fields.SessionID != "" {
		record.AddAttrs(slog.String("session_id", fields.SessionID))
	}
	if metadata := attributes(fields.Metadata); len(metadata) > 0 {
		record.AddAttrs(slog.Attr{Key: "metadata", Value: slog.GroupValue(metadata...)})
	}
	_ = logger.Handler().Handle(context.Background(), record)
}

// attributes are the members of an object, by name.
func attributes(object json.RawMessage) (attributes []slog.Attr) {
	var members map[string]any
	if len(object) == 0 || decode("log line", object, &members) != nil {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		attributes = append(attributes, slog.Any(name, members[name]))
	}
	return attributes
}
