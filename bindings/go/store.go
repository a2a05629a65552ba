package varve

import (
	"context"
	"encoding/json"
	"iter"
	"log/slog"
	"runtime"
	"time"

	"varve/internal/raw"
)

// Store is one directory, or memory, that holds any number of sessions. Several processes may have
// the same one open.
type Store struct {
	*storeHandle
	ctx context.Context
}

type storeHandle struct {
	token     raw.Store
	callbacks *callbacks
	cleanup   runtime.Cleanup
}

// openStore is what the leak net needs to close a store that was dropped.
type openStore struct {
	token     raw.Store
	callbacks *callbacks
}

func (s openStore) close() {
	s.callbacks.closeWith(func() { raw.StoreClose(s.token) })
}

// Open opens a store, and creates it when its directory does not exist. The uri is a directory, or
// "memory:" for a store that lives until it is closed; the configuration a Config or another
// document, or nil.
func Open(uri string, config any) (*Store, error) {
	if err := raw.Load(""); err != nil {
		return nil, err
	}
	text, err := encode("Open", config)
	if err != nil {
		return nil, err
	}
	token, failure := raw.StoreOpen(uri, text)
	if failure != nil {
		return nil, newError("Open", failure, nil)
	}
	handle := &storeHandle{token: token, callbacks: &callbacks{}}
	handle.cleanup = runtime.AddCleanup(handle, openStore.close,
		openStore{token: token, callbacks: handle.callbacks})
	return &Store{storeHandle: handle}, nil
}

// Close closes the store and its sessions, after the calls that other goroutines are in. Closing
// twice is no error; the answer is always nil.
func (s *Store) Close() error {
	if !s.isOpened() {
		return nil
	}
	s.cleanup.Stop()
	openStore{token: s.token, callbacks: s.callbacks}.close()
	return nil
}

func (s *Store) isOpened() bool { return s != nil && s.storeHandle != nil }

// WithContext is the same store under a context; see Session.WithContext.
func (s *Store) WithContext(ctx context.Context) *Store {
	if !s.isOpened() {
		return s // every call of it is refused, whatever its context
	}
	return &Store{storeHandle: s.storeHandle, ctx: ctx}
}

func (s *Store) caller() caller {
	if !s.isOpened() {
		return caller{}
	}
	return caller{ctx: s.ctx, keptAlive: s.storeHandle, callbacks: []*callbacks{s.callbacks}}
}

// Session opens the session of this id, and creates it when there is none. One that is there is
// opened as it is; ErrAlreadyExists when it is another user's or agent's than the options say.
func (s *Store) Session(id string, options SessionOptions) (*Session, error) {
	options.SessionID, options.IfExists = id, "open"
	return s.create("Store.Session", options)
}

// CreateSession creates a session, with SessionOptions, another document, or nil, and opens it.
func (s *Store) CreateSession(options any) (*Session, error) {
	return s.create("Store.CreateSession", options)
}

func (s *Store) create(operation string, options any) (*Session, error) {
	text, err := encode(operation, options)
	if err != nil {
		return nil, err
	}
	return s.session(operation, func() (raw.Session, *raw.Failure) {
		return raw.SessionCreate(s.token, text)
	})
}

// OpenSession opens an existing session.
func (s *Store) OpenSession(id string) (*Session, error) {
	return s.session("Store.OpenSession", func() (raw.Session, *raw.Failure) {
		return raw.SessionOpen(s.token, id)
	})
}

func (s *Store) session(
	operation string, open func() (raw.Session, *raw.Failure),
) (*Session, error) {
	var token raw.Session
	err := s.caller().run(operation, func() (failure *raw.Failure) {
		token, failure = open()
		return failure
	})
	if err != nil {
		return nil, err
	}
	return newSession(s, token), nil
}

// DeleteSession deletes a session with everything in it, at once and for good.
func (s *Store) DeleteSession(id string) error {
	return s.caller().run("Store.DeleteSession", func() *raw.Failure {
		return raw.StoreDeleteSession(s.token, id)
	})
}

// SessionPage is a page of the list of sessions.
type SessionPage struct {
	Document
	Sessions []SessionInfo `json:"sessions"`
	Next     string        `json:"next"` // empty on the last page
}

// Sessions lists sessions, newest first, a page of them. The filter is a SessionFilter or nil.
func (s *Store) Sessions(filter any) (*SessionPage, error) {
	return documentWith[SessionPage](s.caller(), "Store.Sessions", filter,
		func(filter string) ([]byte, *raw.Failure) { return raw.StoreSessions(s.token, filter) })
}

// AllSessions lists the sessions of all pages. After an error it ends.
func (s *Store) AllSessions(filter SessionFilter) iter.Seq2[SessionInfo, error] {
	return func(yield func(SessionInfo, error) bool) {
		for filter := filter; ; {
			page, err := s.Sessions(filter)
			if err != nil {
				yield(SessionInfo{}, err)
				return
			}
			for _, session := range page.Sessions {
				if !yield(session, nil) {
					return
				}
			}
			if page.Next == "" {
				return
			}
			filter.After, filter.Rescan = page.Next, false
		}
	}
}

// Query finds entries across sessions, a page of them: Limit results, 100 when that is 0. Find
// gives all.
func (s *Store) Query(query any) (*Results, error) {
	return newResults(s.caller(), "Store.Query", query,
		func(query string) (raw.Results, *raw.Failure) { return raw.StoreQuery(s.token, query) })
}

// Find gives all that a query finds across sessions, or the first Limit when that is not 0; page
// after page as they are gone through.
func (s *Store) Find(query Query) iter.Seq2[Result, error] { return FindAs[Entry](s, query) }

// Sync makes everything added so far through this store durable, whatever the durability.
func (s *Store) Sync() error {
	return s.caller().run("Store.Sync", func() *raw.Failure { return raw.StoreSync(s.token) })
}

// Backup copies the store into a directory, or what is new since the last time. The options are
// BackupOptions, another document, or nil.
func (s *Store) Backup(path string, options any) (*BackupReport, error) {
	return documentWith[BackupReport](s.caller(), "Store.Backup", options,
		func(options string) ([]byte, *raw.Failure) {
			return raw.StoreBackup(s.token, path, options)
		})
}

// Restore copies sessions from a backup into this store. The options are RestoreOptions, another
// document, or nil.
func (s *Store) Restore(path string, options any) (*RestoreReport, error) {
	return documentWith[RestoreReport](s.caller(), "Store.Restore", options,
		func(options string) ([]byte, *raw.Failure) {
			return raw.StoreRestore(s.token, path, options)
		})
}

// Sweep removes the files of what has expired.
func (s *Store) Sweep() (*SweepReport, error) {
	return document[SweepReport](s.caller(), "Store.Sweep",
		func() ([]byte, *raw.Failure) { return raw.StoreSweep(s.token) })
}

// Stats are figures of this store handle.
func (s *Store) Stats() (*StoreStats, error) {
	return document[StoreStats](s.caller(), "Store.Stats",
		func() ([]byte, *raw.Failure) { return raw.StoreStats(s.token) })
}

// Metrics are what monitoring wants to know, in the text format of Prometheus.
func (s *Store) Metrics() (string, error) {
	text, err := s.caller().text("Store.Metrics",
		func() ([]byte, *raw.Failure) { return raw.StoreMetrics(s.token) })
	return string(text), err
}

// SetLogger sends the library's log lines to a logger; nil stops them. Lines of levels that the
// logger does not want at this moment never come, those that it does not want any more are left out:
// to be told more later, set it again. The handler may use the library.
func (s *Store) SetLogger(logger *slog.Logger) error {
	if logger == nil {
		return s.SetLog(LogOff, nil)
	}
	return s.SetLog(lowestLevel(logger), func(level LogLevel, line json.RawMessage) {
		forward(logger, level, line)
	})
}

// SetLog sends log lines of a level and above to a function, as the JSON objects that they are; nil
// stops them. It is called on the goroutine of the call that the lines are about. It may use the
// library, but must not close the store, nor the session of that call.
func (s *Store) SetLog(level LogLevel, receive func(level LogLevel, line json.RawMessage)) error {
	if !s.isOpened() {
		return s.tellLog(level, 0, 0)
	}
	if receive == nil {
		return replace(&s.callbacks.log, nil, func() error { return s.tellLog(level, 0, 0) })
	}
	userData := s.callbacks.userData("log", raw.LogFn(s.callbacks.logLine))
	return replace(&s.callbacks.log, &receive, func() error {
		return s.tellLog(level, raw.LogFnTrampoline(), userData)
	})
}

func (s *Store) tellLog(level LogLevel, function, userData uintptr) error {
	return s.caller().run("Store.SetLog", func() *raw.Failure {
		return raw.StoreSetLog(s.token, int32(level), function, userData)
	})
}

// SetClock takes the time from a function instead of the system's clock; nil returns to that. The
// function may be called on any goroutine that uses the store; it must not use the library. Where
// it panics, or tells a time whose milliseconds 64 bits do not hold, the system's time is taken.
func (s *Store) SetClock(now func() time.Time) error {
	if !s.isOpened() {
		return s.tellClock(0, 0)
	}
	if now == nil {
		return replace(&s.callbacks.clock, nil, func() error { return s.tellClock(0, 0) })
	}
	userData := s.callbacks.userData("clock", raw.ClockFn(s.callbacks.now))
	return replace(&s.callbacks.clock, &now, func() error {
		return s.tellClock(raw.ClockFnTrampoline(), userData)
	})
}

func (s *Store) tellClock(function, userData uintptr) error {
	return s.caller().run("Store.SetClock", func() *raw.Failure {
		return raw.StoreSetClock(s.token, function, userData)
	})
}

// CallbackPanic is the last panic in a callback of this store, or nil. Panics in a logger or a
// clock have no other way to be seen: the line is then lost, and the system's time is taken.
func (s *Store) CallbackPanic() *PanicError {
	if !s.isOpened() {
		return nil
	}
	return s.callbacks.panicked.Load()
}
