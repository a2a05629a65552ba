package varve

import (
	"context"
	"encoding/json"
	"iter"
	"reflect"
	"runtime"

	"varve/internal/raw"
)

// Session is one memory: its log of entries, its metadata, its lifetime.
type Session struct {
	*sessionHandle
	ctx context.Context
}

type sessionHandle struct {
	token     raw.Session
	id        string
	store     *storeHandle // must not be closed by the leak net while this is in use
	callbacks *callbacks
	cleanup   runtime.Cleanup
}

// openSession is what the leak net needs to close a session that was dropped.
type openSession struct {
	token     raw.Session
	callbacks *callbacks
}

func (s openSession) close() {
	s.callbacks.closeWith(func() { raw.SessionClose(s.token) })
}

func newSession(store *Store, token raw.Session) *Session {
	handle := &sessionHandle{token: token, id: raw.SessionID(token), store: store.storeHandle,
		callbacks: &callbacks{}}
	handle.cleanup = runtime.AddCleanup(handle, openSession.close,
		openSession{token: token, callbacks: handle.callbacks})
	return &Session{sessionHandle: handle, ctx: store.ctx}
}

// Close closes the handle, after the calls that other goroutines are in. Closing twice is no error;
// the answer is always nil.
func (s *Session) Close() error {
	if !s.isOpened() {
		return nil
	}
	s.cleanup.Stop()
	openSession{token: s.token, callbacks: s.callbacks}.close()
	return nil
}

func (s *Session) isOpened() bool { return s != nil && s.sessionHandle != nil }

// WithContext is the same session under a context. What is opened with a handle under a context, as
// by Store.Session, is under it, too, until its own WithContext gives it another.
//
// A call under a context that is done is refused with the context's error. While another process
// holds the session's lock, a call is repeated until the context's deadline; then its error is both
// ErrBusy and context.DeadlineExceeded. The library cannot be interrupted: a call that waits for a
// lock when the deadline comes ends at the latest lock_timeout_ms of the store's configuration after
// it, and one that works when it is done.
func (s *Session) WithContext(ctx context.Context) *Session {
	if !s.isOpened() {
		return s // every call of it is refused, whatever its context
	}
	return &Session{sessionHandle: s.sessionHandle, ctx: ctx}
}

func (s *Session) caller() caller {
	if !s.isOpened() {
		return caller{}
	}
	return caller{ctx: s.ctx, keptAlive: s.sessionHandle,
		callbacks: []*callbacks{s.callbacks, s.store.callbacks}}
}

// ID is the session's id.
func (s *Session) ID() string {
	if !s.isOpened() {
		return ""
	}
	return s.id
}

// Metadata is the session's metadata with current counts.
func (s *Session) Metadata() (*Metadata, error) {
	return document[Metadata](s.caller(), "Session.Metadata",
		func() ([]byte, *raw.Failure) { return raw.SessionMetadata(s.token) })
}

// Update changes metadata by a JSON merge patch (RFC 7396): null removes a member.
func (s *Session) Update(patch any) error {
	text, err := encode("Session.Update", patch)
	if err != nil {
		return err
	}
	return s.caller().run("Session.Update", func() *raw.Failure {
		return raw.SessionUpdate(s.token, text)
	})
}

// Sync makes everything added so far durable, whatever the durability, and saves the index.
func (s *Session) Sync() error {
	return s.caller().run("Session.Sync", func() *raw.Failure { return raw.SessionSync(s.token) })
}

// Stats are figures of the session.
func (s *Session) Stats() (*SessionStats, error) {
	return document[SessionStats](s.caller(), "Session.Stats",
		func() ([]byte, *raw.Failure) { return raw.SessionStats(s.token) })
}

// Files are the session's files; none for "memory:".
func (s *Session) Files() (*SessionFiles, error) {
	return document[SessionFiles](s.caller(), "Session.Files",
		func() ([]byte, *raw.Failure) { return raw.SessionFiles(s.token) })
}

// Tags are the tags of the session's entries with those above them in the hierarchy, by name.
func (s *Session) Tags() (*SessionTags, error) {
	return document[SessionTags](s.caller(), "Session.Tags",
		func() ([]byte, *raw.Failure) { return raw.SessionTags(s.token) })
}

// Add adds an entry, an Entry or another document, and gives its id. When it answers, the entry is
// in the log, as durable as the session's durability says.
func (s *Session) Add(entry any) (id string, err error) {
	text, err := s.caller().textWith("Session.Add", entry,
		func(entry string) ([]byte, *raw.Failure) { return raw.SessionAdd(s.token, entry) })
	return string(text), err
}

// AddBatch adds several entries, all or none: a []Entry, another array, or JSON lines. It gives
// their ids in the same order.
func (s *Session) AddBatch(entries any) (ids []string, err error) {
	const operation = "Session.AddBatch"
	if slice := reflect.ValueOf(entries); slice.Kind() == reflect.Slice && slice.Len() == 0 {
		entries = "[]" // a nil slice is an empty one, which encoding/json calls null
	}
	text, err := s.caller().textWith(operation, entries,
		func(entries string) ([]byte, *raw.Failure) { return raw.SessionAddBatch(s.token, entries) })
	if err != nil {
		return nil, err
	}
	err = decode(operation, text, &ids)
	return ids, err
}

// Get gives one entry.
func (s *Session) Get(id string) (*Entry, error) {
	text, err := s.GetRaw(id)
	if err != nil {
		return nil, err
	}
	var entry Entry
	if err := decode("Session.Get", text, &entry); err != nil {
		return nil, err
	}
	return &entry, nil
}

// GetRaw gives one entry as it is stored, members that Entry has no field for included.
func (s *Session) GetRaw(id string) (json.RawMessage, error) {
	return s.caller().text("Session.Get",
		func() ([]byte, *raw.Failure) { return raw.SessionGet(s.token, id) })
}

// Delete deletes an entry: hidden at once from every reader in every process. The reason stays in
// the audit log and must not hold what is being deleted. Purge makes it gone for good.
func (s *Session) Delete(id, reason string) error {
	return s.caller().run("Session.Delete", func() *raw.Failure {
		return raw.SessionDelete(s.token, id, reason)
	})
}

// DeleteWhere deletes every entry that a query finds, and tells how many these were. A Query, or a
// struct of your own, without any condition is refused, for it is mostly one whose list came out
// nil; to delete everything, give "{}" as text.
func (s *Session) DeleteWhere(query any, reason string) (count uint64, err error) {
	text, err := encode("Session.DeleteWhere", query)
	if err != nil {
		return 0, err
	}
	if hasNoCondition(query, text) {
		return 0, refusal(ErrInvalidArgument, "Session.DeleteWhere",
			`the query has no condition; to delete everything, give "{}" as text`)
	}
	err = s.caller().run("Session.DeleteWhere", func() (failure *raw.Failure) {
		count, failure = raw.SessionDeleteWhere(s.token, text, reason)
		return failure
	})
	return count, err
}

// hasNoCondition tells whether a struct, of this package or of the caller's, came out empty. A now
// alone is the library's to refuse.
func hasNoCondition(query any, text string) bool {
	value := reflect.ValueOf(query)
	for value.Kind() == reflect.Pointer || value.Kind() == reflect.Interface {
		value = value.Elem() // encoding/json follows as many
	}
	return value.Kind() == reflect.Struct && text == "{}"
}

// Query finds entries, a page of them: Limit results, 100 when that is 0. Find gives all.
func (s *Session) Query(query any) (*Results, error) {
	return newResults(s.caller(), "Session.Query", query,
		func(query string) (raw.Results, *raw.Failure) { return raw.SessionQuery(s.token, query) })
}

// Find gives all that a query finds, or the first Limit when that is not 0; page after page as
// they are gone through.
func (s *Session) Find(query Query) iter.Seq2[Result, error] { return FindAs[Entry](s, query) }

// Count counts the entries that a query finds.
func (s *Session) Count(query any) (count uint64, err error) {
	text, err := encode("Session.Count", query)
	if err != nil {
		return 0, err
	}
	err = s.caller().run("Session.Count", func() (failure *raw.Failure) {
		count, failure = raw.SessionCount(s.token, text)
		return failure
	})
	return count, err
}
