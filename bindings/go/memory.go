package varve

import (
	"context"
	"iter"
	"runtime"

	"varve/internal/raw"
)

// Memory is what an agent remembers of one user, in three tiers over one store: working memory,
// the sessions' logs, and a long-term session of the user's own.
type Memory struct {
	*memoryHandle
	ctx context.Context
}

type memoryHandle struct {
	token   raw.Memory
	store   *storeHandle // must not be closed by the leak net while this is in use
	cleanup runtime.Cleanup
}

// MemoryOptions are what OpenMemory takes. An empty UserID is refused, for it is mostly that of a
// program that does not know whose turn it is, which would be shown everybody's memory. Where all
// sessions of the store are one user's, give nil, or other options as a document without it.
type MemoryOptions struct {
	UserID   string   `json:"user_id"`
	AgentID  string   `json:"agent_id,omitempty"`
	Window   int      `json:"window,omitempty"`    // entries of each session's working memory
	TTLHours *float64 `json:"ttl_hours,omitempty"` // 0 is for ever
}

// MemoryContext is what the agent is to have in front of it.
type MemoryContext struct {
	Document
	Entries    []MemoryEntry `json:"entries"`
	TokenCount int64         `json:"token_count"`
	Source     string        `json:"source"` // working, short_term
}

// MemoryEntry is a message as it was given, with what was filled in.
type MemoryEntry struct {
	Entry
	Role string `json:"role,omitempty"`
}

// OpenMemory opens the memory of a user, with MemoryOptions, another document, or nil.
func (s *Store) OpenMemory(options any) (*Memory, error) {
	text, err := encode("Store.OpenMemory", options)
	if err != nil {
		return nil, err
	}
	handle := &memoryHandle{}
	err = s.caller().run("Store.OpenMemory", func() (failure *raw.Failure) {
		handle.token, failure = raw.MemoryOpen(s.token, text)
		return failure
	})
	if err != nil {
		return nil, err
	}
	handle.store = s.storeHandle
	handle.cleanup = runtime.AddCleanup(handle, raw.MemoryClose, handle.token)
	return &Memory{memoryHandle: handle, ctx: s.ctx}, nil
}

// Close closes the memory. Working memory is gone with it, what was recorded is not.
func (m *Memory) Close() error {
	if !m.isOpened() {
		return nil
	}
	m.cleanup.Stop()
	raw.MemoryClose(m.token)
	return nil
}

func (m *Memory) isOpened() bool { return m != nil && m.memoryHandle != nil }

// WithContext is the same memory under a context; see Session.WithContext.
func (m *Memory) WithContext(ctx context.Context) *Memory {
	if !m.isOpened() {
		return m // every call of it is refused, whatever its context
	}
	return &Memory{memoryHandle: m.memoryHandle, ctx: ctx}
}

func (m *Memory) caller() caller {
	if !m.isOpened() {
		return caller{}
	}
	return caller{ctx: m.ctx, keptAlive: m.memoryHandle, callbacks: []*callbacks{m.store.callbacks}}
}

// Record records a message in a session's log and in its working memory, and gives its id. A
// session that does not exist is made.
func (m *Memory) Record(sessionID string, message any) (id string, err error) {
	text, err := m.caller().textWith("Memory.Record", message,
		func(message string) ([]byte, *raw.Failure) {
			return raw.MemoryRecord(m.token, sessionID, message)
		})
	return string(text), err
}

// Context gives the session's working memory, or its log when that is empty: the newest entries
// that fit into so many tokens, oldest first. 0 is no limit.
func (m *Memory) Context(sessionID string, maxTokens uint64) (*MemoryContext, error) {
	return document[MemoryContext](m.caller(), "Memory.Context",
		func() ([]byte, *raw.Failure) { return raw.MemoryContext(m.token, sessionID, maxTokens) })
}

// Load takes the session's newest entries into its working memory.
func (m *Memory) Load(sessionID string) error {
	return m.caller().run("Memory.Load", func() *raw.Failure {
		return raw.MemoryLoad(m.token, sessionID)
	})
}

// Save makes everything recorded in the session durable, whatever its durability.
func (m *Memory) Save(sessionID string) error {
	return m.caller().run("Memory.Save", func() *raw.Failure {
		return raw.MemorySave(m.token, sessionID)
	})
}

// Clear empties the working memory of all sessions.
func (m *Memory) Clear() error {
	return m.caller().run("Memory.Clear", func() *raw.Failure { return raw.MemoryClear(m.token) })
}

// Store stores an entry in long-term memory, and gives its id.
func (m *Memory) Store(message any) (id string, err error) {
	text, err := m.caller().textWith("Memory.Store", message,
		func(message string) ([]byte, *raw.Failure) { return raw.MemoryStore(m.token, message) })
	return string(text), err
}

// Query finds entries over all sessions of the user, long term and short: a page of them, as
// Store.Query does.
func (m *Memory) Query(query any) (*Results, error) {
	return newResults(m.caller(), "Memory.Query", query,
		func(query string) (raw.Results, *raw.Failure) { return raw.MemorySearch(m.token, query) })
}

// Find gives all that a query finds over the sessions of the user, or the first Limit when that is
// not 0; page after page as they are gone through.
func (m *Memory) Find(query Query) iter.Seq2[Result, error] { return FindAs[Entry](m, query) }

// Delete deletes an entry wherever it is among the user's sessions; see Session.Delete.
func (m *Memory) Delete(id, reason string) error {
	return m.caller().run("Memory.Delete", func() *raw.Failure {
		return raw.MemoryDelete(m.token, id, reason)
	})
}
