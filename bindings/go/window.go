package varve

import (
	"runtime"
	"time"

	"varve/internal/raw"
)

// Window is the last so many messages of a conversation, in memory only. It belongs to no store.
type Window struct {
	token   raw.Window
	cleanup runtime.Cleanup
}

// Message is a message as chat programs write it.
type Message struct {
	Role      string    `json:"role,omitempty"`
	Content   any       `json:"content"`
	Timestamp time.Time `json:"timestamp,omitzero"`
}

// NewWindow makes an empty window for so many messages.
func NewWindow(capacity int) (*Window, error) {
	if err := raw.Load(""); err != nil {
		return nil, err
	}
	if capacity < 0 {
		return nil, refusal(ErrInvalidArgument, "NewWindow", "a capacity of %d", capacity)
	}
	token, failure := raw.WindowNew(uint(capacity))
	if failure != nil {
		return nil, newError("NewWindow", failure, nil)
	}
	window := &Window{token: token}
	window.cleanup = runtime.AddCleanup(window, raw.WindowFree, token)
	return window, nil
}

// Close frees the window. Closing twice is no error; the answer is always nil.
func (w *Window) Close() error {
	if !w.isOpened() {
		return nil
	}
	w.cleanup.Stop()
	raw.WindowFree(w.token)
	return nil
}

func (w *Window) isOpened() bool { return w != nil && w.token != 0 }

func (w *Window) caller() caller {
	if !w.isOpened() {
		return caller{}
	}
	return caller{keptAlive: w}
}

// Add adds a message, a Message or another document. In a full window the oldest leaves for it.
func (w *Window) Add(message any) error {
	text, err := encode("Window.Add", message)
	if err != nil {
		return err
	}
	return w.caller().run("Window.Add", func() *raw.Failure { return raw.WindowAdd(w.token, text) })
}

// Recent gives the newest messages, the oldest of them first: so many, or all when count is below 0.
func (w *Window) Recent(count int) ([]Message, error) { return RecentAs[Message](w, count) }

// RecentAs is Window.Recent with messages read as a type of yours.
func RecentAs[T any](window *Window, count int) (messages []T, err error) {
	text, err := window.caller().text("Window.Recent",
		func() ([]byte, *raw.Failure) { return raw.WindowRecent(window.token, countOf(count)) })
	if err != nil {
		return nil, err
	}
	err = decode("Window.Recent", text, &messages)
	return messages, err
}

// Text is the window as lines for a prompt, "role: content", oldest first.
func (w *Window) Text() (string, error) {
	text, err := w.caller().text("Window.Text",
		func() ([]byte, *raw.Failure) { return raw.WindowText(w.token) })
	return string(text), err
}

// Clear removes all messages.
func (w *Window) Clear() error {
	return w.caller().run("Window.Clear", func() *raw.Failure { return raw.WindowClear(w.token) })
}

// Size tells how many messages are in it; 0 when it is closed.
func (w *Window) Size() int {
	if !w.isOpened() {
		return 0
	}
	defer runtime.KeepAlive(w)
	return int(raw.WindowSize(w.token))
}
