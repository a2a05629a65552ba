package varve_test

import (
	"encoding/json"
	"io"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"varve"
)

func contentOf(t *testing.T, session *varve.Session, id string) any {
	t.Helper()
	entry, err := session.Get(id)
	if err != nil {
		t.Fatal(err)
	}
	return entry.Content
}

func TestWhatIsAddedComesBack(t *testing.T) {
	_, session := inMemory(t)
	given := varve.Entry{ID: "tea", Type: "preference",
		Content:   map[string]any{"person": "Ann", "message": "Tea ☕ <b>&</b>"},
		Timestamp: time.Date(2026, 1, 5, 9, 0, 0, 123e6, time.UTC), Importance: varve.Importance(0),
		Tags: []string{"drinks", "people.ann"}, References: []string{"other"},
		Relations: map[string][]string{"caused_by": {"other"}},
		ExpiresAt: time.Date(2226, 1, 5, 9, 0, 0, 0, time.UTC), TraceID: "t", SpanID: "s"}
	if id := mustAdd(t, session, given); id != "tea" {
		t.Error(id)
	}
	back, err := session.Get("tea")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(back.Checksum, "sha256:") {
		t.Errorf("checksum %q", back.Checksum)
	}
	given.SessionID, given.Seq, given.DecayFactor = session.ID(), 1, varve.Importance(1)
	given.SchemaVersion, given.Checksum = 1, back.Checksum
	if !reflect.DeepEqual(*back, given) {
		t.Errorf("%+v\nexpected is\n%+v", *back, given)
	}
	back.ID, back.SessionID = "", "" // what was read can be added again
	mustAdd(t, session, back)
}

func TestMembersOfYourOwn(t *testing.T) {
	type ticket struct {
		varve.Entry
		Priority int `json:"priority"`
	}
	_, session := inMemory(t)
	mustAdd(t, session, ticket{Entry: finding("printer"), Priority: 7})
	for result, err := range varve.FindAs[ticket](session, varve.Query{Text: "printer"}) {
		if err != nil || result.Entry.Priority != 7 || result.Entry.Content != "printer" {
			t.Errorf("%+v, %v", result, err)
		}
	}
	for result, err := range varve.FindAs[json.RawMessage](session, varve.Query{}) {
		if err != nil || !strings.Contains(string(result.Entry), `"priority":7`) {
			t.Errorf("%s, %v", result.Entry, err)
		}
	}
}

func TestNumbersBeyondDoubles(t *testing.T) {
	_, session := inMemory(t)
	for _, number := range []any{int64(9007199254740993), int64(math.MinInt64),
		uint64(math.MaxUint64), json.Number("9007199254740993")} {
		wanted, _ := json.Marshal(number)
		back := contentOf(t, session, mustAdd(t, session, finding(number)))
		if back != json.Number(wanted) {
			t.Errorf("%v (%T), expected is %s", back, back, wanted)
		}
		exact, err := back.(json.Number).Int64()
		if signed, ok := number.(int64); ok && (err != nil || exact != signed) {
			t.Errorf("%d, %v", exact, err)
		}
	}
}

func TestTextOfEveryKind(t *testing.T) {
	_, session := inMemory(t)
	for _, text := range []string{"", "NUL \x00 inside", "👩‍👩‍👧 🇨🇭", "\u2028 \u007f", "�",
		strings.Repeat("ä", 100_000)} {
		if back := contentOf(t, session, mustAdd(t, session, finding(text))); back != text {
			t.Errorf("%.40q came back for %.40q", back, text)
		}
	}
}

func TestNULInAnIDIsRefused(t *testing.T) {
	_, session := inMemory(t)
	_, err := session.Get("a\x00b")
	expectError(t, err, varve.ErrInvalidArgument)
	err = session.Delete("a\x00b", "")
	expectError(t, err, varve.ErrInvalidArgument)
}

// sign is written by itself, whatever is in it.
type sign struct{ Name string }

func (sign) MarshalJSON() ([]byte, error) { return []byte(`"\ufffd"`), nil }

// encoding/json would store U+FFFD in the place of such bytes, and nobody would know.
func TestBytesThatAreNotUTF8AreRefused(t *testing.T) {
	type own struct {
		Type    string `json:"type"`
		Content struct {
			Deep []any `json:"deep"`
		} `json:"content"`
	}
	bad := "caf\xe9"
	nested := own{Type: "finding"}
	nested.Content.Deep = []any{1, &bad}
	type remark struct {
		Content string `json:"content"`
		Unsaid  string `json:"-"`
	}
	type embedding struct {
		remark
		Type string `json:"type"`
	}
	_, session := inMemory(t)
	for place, entry := range map[string]any{
		".Content":                  finding(bad),
		`.Content."a"[1]`:           finding(map[string]any{"a": []string{"good", bad}}),
		`.Content."caf\xe9"`:        finding(map[string]any{bad: 1}),
		".Content.Deep[1]":          nested,
		".remark.Content":           embedding{remark{Content: bad}, "finding"},
		"invalid UTF-8, byte 0xe9":  `{"type":"finding","content":"` + bad + `"}`,
		"invalid UTF-8, byte 0xe9 ": json.RawMessage(`{"type":"finding","content":"` + bad + `"}`),
	} {
		_, err := session.Add(entry)
		expectError(t, err, varve.ErrInvalidArgument, strings.TrimSpace(place))
	}
	if count, err := session.Count(nil); count != 0 || err != nil {
		t.Errorf("%d entries, %v", count, err)
	}
	_, err := session.Get(bad)
	expectError(t, err, varve.ErrInvalidArgument)
	// The replacement character itself is text like any other, escaped or not.
	mustAdd(t, session, finding("� and �"))
	mustAdd(t, session, map[string]any{"type": "finding",
		"content": json.RawMessage(`"\ufffd"`)})
	// What is not written need not be UTF-8, and who writes it himself answers for it.
	mustAdd(t, session, finding(map[string]any{"sign": sign{Name: bad}, "other": `\ufffd`}))
	mustAdd(t, session, embedding{remark{Content: `\ufffd`, Unsaid: bad}, "finding"})
}

func TestWhatJSONCannotSayIsRefused(t *testing.T) {
	_, session := inMemory(t)
	for _, content := range []any{math.NaN(), make(chan int), func() {}} {
		_, err := session.Add(finding(content))
		expectError(t, err, varve.ErrInvalidArgument, "json:")
	}
}

// A document that is left out silently would be the default, or everything.
func TestNoCallLeavesOutWhatJSONCannotSay(t *testing.T) {
	store, session := inMemory(t)
	mustAdd(t, session, finding("tea"))
	memory, err := store.OpenMemory(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer memory.Close()
	window, err := varve.NewWindow(1)
	if err != nil {
		t.Fatal(err)
	}
	defer window.Close()
	bad := map[string]any{"limit": math.Inf(1)}
	for name, call := range map[string]func() error{
		"Open":                 func() error { _, err := varve.Open("memory:", bad); return err },
		"Store.CreateSession":  func() error { _, err := store.CreateSession(bad); return err },
		"Store.Sessions":       func() error { _, err := store.Sessions(bad); return err },
		"Store.Query":          func() error { _, err := store.Query(bad); return err },
		"Store.OpenMemory":     func() error { _, err := store.OpenMemory(bad); return err },
		"Session.Update":       func() error { return session.Update(bad) },
		"Session.AddBatch":     func() error { _, err := session.AddBatch([]any{bad}); return err },
		"Session.Count":        func() error { _, err := session.Count(bad); return err },
		"Session.DeleteWhere":  func() error { _, err := session.DeleteWhere(bad, ""); return err },
		"Session.Purge":        func() error { _, err := session.Purge(bad); return err },
		"Session.Export":       func() error { _, err := session.Export(io.Discard, bad); return err },
		"Session.Record":       func() error { _, err := session.Record("event", bad); return err },
		"Memory.Record":        func() error { _, err := memory.Record("talk", bad); return err },
		"Memory.Query":         func() error { _, err := memory.Query(bad); return err },
		"Window.Add":           func() error { return window.Add(bad) },
		"Session.BuildContext": func() error { _, err := session.BuildContext(bad); return err },
		"Session.ImportFile":   func() error { _, err := session.ImportFile("none", bad); return err },
	} {
		expectError(t, call(), varve.ErrInvalidArgument, "varve: "+name+": ", "json:")
	}
	if count, err := session.Count(nil); count != 1 || err != nil {
		t.Error(count, err)
	}
}

func TestDocumentsInEveryForm(t *testing.T) {
	_, session := inMemory(t)
	const text = `{"type":"finding","content":"tea"}`
	for _, entry := range []any{finding("tea"), map[string]string{"type": "finding", "content": "tea"},
		text, []byte(text), json.RawMessage(text)} {
		if back := contentOf(t, session, mustAdd(t, session, entry)); back != "tea" {
			t.Errorf("%v for %T", back, entry)
		}
	}
	ids, err := session.AddBatch([]varve.Entry{finding(1), finding(2)})
	if err != nil || len(ids) != 2 {
		t.Error(ids, err)
	}
	if ids, err = session.AddBatch(text + "\n" + text + "\n"); err != nil || len(ids) != 2 {
		t.Error(ids, err)
	}
	for _, none := range []any{[]varve.Entry(nil), []varve.Entry{}, []map[string]any(nil), nil, ""} {
		if ids, err = session.AddBatch(none); err != nil || len(ids) != 0 {
			t.Errorf("%v, %v for %#v", ids, err, none)
		}
	}
	_, err = session.AddBatch([]any{finding(1), 2})
	expectError(t, err, varve.ErrInvalidArgument)
	if count, _ := session.Count(nil); count != 9 {
		t.Errorf("%d entries: a batch is all or nothing", count)
	}
}

func TestAnEmptyListIsNoAbsentOne(t *testing.T) {
	for wanted, query := range map[string]varve.Query{
		`{}`:                      {},
		`{"ids":[]}`:              {IDs: []string{}},
		`{"types":[]}`:            {Types: []string{}},
		`{"references":[]}`:       {References: []string{}},
		`{"session_ids":[]}`:      {SessionIDs: []string{}},
		`{"tags":{"include":[]}}`: {Tags: varve.TagCondition{Include: []string{}}},
	} {
		if text, err := json.Marshal(query); err != nil || string(text) != wanted {
			t.Errorf("%s instead of %s, %v", text, wanted, err)
		}
	}
}

func TestANilPointerIsRefusedWithWhatToGive(t *testing.T) {
	var config *varve.Config
	_, err := varve.Open("memory:", config)
	expectError(t, err, varve.ErrInvalidArgument)
	if want := "a *varve.Config that is nil is no document; for none give nil itself"; err == nil ||
		!strings.Contains(err.Error(), want) {
		t.Error(err)
	}
	_, session := inMemory(t)
	var query map[string]any
	_, err = session.Count(query)
	expectError(t, err, varve.ErrInvalidArgument)
	if err == nil || !strings.Contains(err.Error(), "a map[string]interface {} that is nil") {
		t.Error(err)
	}
}
