package varve_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"os"
	"strings"
	"time"

	"varve"
)

// A store in memory with one session, for the examples below.
func exampleSession() *varve.Session {
	store, err := varve.Open("memory:", nil)
	if err != nil {
		log.Fatal(err)
	}
	session, err := store.CreateSession(varve.SessionOptions{SessionID: "kitchen"})
	if err != nil {
		log.Fatal(err)
	}
	return session
}

func Example() {
	store, err := varve.Open("memory:", nil) // or a directory
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	session, err := store.Session("kitchen", varve.SessionOptions{UserID: "ann"})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := session.Add(varve.Entry{Type: "finding", Content: "tea, not coffee"}); err != nil {
		log.Fatal(err)
	}
	for result, err := range session.Find(varve.Query{Text: "coffee?"}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(result.Entry.Content)
	}
	// Output: tea, not coffee
}

func ExampleError() {
	session := exampleSession()
	_, err := session.Get("nobody")
	fmt.Println(errors.Is(err, varve.ErrNotFound))

	_, err = session.Query(`{"limit": "ten"}`)
	var refused *varve.Error
	if errors.As(err, &refused) {
		fmt.Println(refused.Status, refused.Details().Member)
	}
	// Output:
	// true
	// VARVE_INVALID_ARGUMENT limit
}

func ExampleFindAs() {
	type Ticket struct {
		varve.Entry
		Priority int `json:"priority"`
	}
	session := exampleSession()
	ticket := Ticket{Entry: varve.Entry{Type: "ticket", Content: "Printer is on fire"}, Priority: 1}
	if _, err := session.Add(ticket); err != nil {
		log.Fatal(err)
	}
	for found, err := range varve.FindAs[Ticket](session, varve.Query{Text: "fire"}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(found.Entry.Priority, found.Entry.Content)
	}
	// Output: 1 Printer is on fire
}

func ExampleSession_WithContext() {
	session := exampleSession()
	ctx, cancel := context.WithTimeout(context.Background(), 0)
	defer cancel()
	_, err := session.WithContext(ctx).Add(varve.Entry{Type: "finding", Content: "too late"})
	fmt.Println(errors.Is(err, context.DeadlineExceeded))
	// Output: true
}

func ExampleSession_Export() {
	session := exampleSession()
	_, err := session.Add(varve.Entry{ID: "tea", Type: "finding", Content: "tea, not coffee",
		Timestamp: time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC)})
	if err != nil {
		log.Fatal(err)
	}
	var text strings.Builder
	if _, err := session.Export(&text, "jsonl"); err != nil {
		log.Fatal(err)
	}
	fmt.Println(strings.Contains(text.String(), `"content":"tea, not coffee"`))
	// Output: true
}

func ExampleStore_SetLogger() {
	store, err := varve.Open("memory:", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	withoutTime := func(_ []string, attribute slog.Attr) slog.Attr {
		if attribute.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return attribute
	}
	handler := slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: withoutTime})
	if err := store.SetLogger(slog.New(handler)); err != nil {
		log.Fatal(err)
	}
	if _, err := store.CreateSession(varve.SessionOptions{SessionID: "kitchen"}); err != nil {
		log.Fatal(err)
	}
	if err := store.SetLogger(nil); err != nil {
		log.Fatal(err)
	}
	// Output:
	// level=INFO msg="session created" component=store session_id=kitchen
	// level=INFO msg="session opened" component=session session_id=kitchen metadata.entries=0
}
