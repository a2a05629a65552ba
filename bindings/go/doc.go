// Package varve is memory for agents, embedded: it keeps what an agent saw, decided and learnt in
// a directory, finds it again by words, tags, time and relevance that decays, and gives it back
// after any crash. It is the Go face of libvarve, which it loads at run time without cgo.
//
//	store, err := varve.Open("./memory", nil)
//	...
//	defer store.Close()
//	session, err := store.Session("kitchen", varve.SessionOptions{UserID: "ann"})
//	...
//	id, err := session.Add(varve.Entry{Type: "finding", Content: "Ann drinks tea, not coffee"})
//	...
//	for result, err := range session.Find(varve.Query{Question: "What does Ann drink?"}) {
//		...
//	}
//
// # Documents
//
// Configurations, entries, queries and options are JSON objects, as the C headers and docs/ say.
// Wherever a parameter of this package is of type any, it takes: a struct of this package (Config,
// Entry, Query, ...), a struct or map of your own that encoding/json encodes to the same object,
// JSON text as string, []byte or json.RawMessage, or nil for none. Numbers that are read into an
// any are json.Number, so that integers beyond 2^53 stay what they are.
//
// Lines and metadata.json may be written by hand, and a member in them be of another kind than the
// field that is for it. The field is zero then; Session.GetRaw, Results.Entry and JSON have what
// stands there.
//
// # Errors
//
// What the library refuses comes as an *Error. errors.Is compares it with ErrNotFound, ErrBusy and
// the other statuses, with what a callback of yours failed with, and with the syscall.Errno behind
// it; errors.As gives the *Error with its place.
//
// # Goroutines, lifetime
//
// A Store, a Session, a Window and a Memory may be used by any number of goroutines at once; a
// Results by one at a time. Close what was opened; a handle that was dropped without Close is
// closed some time after the garbage collector has found it. A call with a closed handle answers
// ErrBadHandle.
package varve
