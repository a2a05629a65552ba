package varve_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"varve"
)

// byHand writes files of a session that no library made, and opens their store.
func byHand(t *testing.T, files map[string]string) *varve.Store {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, "sessions", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return openStore(t, root, nil)
}

func openSession(t *testing.T, store *varve.Store, id string) *varve.Session {
	t.Helper()
	session, err := store.OpenSession(id)
	if err != nil {
		t.Fatal(err)
	}
	return session
}

// lines are a log: "odd" with the members given, between two entries with none of them.
func lines(members string) string {
	line := `{"id":"%s","type":"finding","content":"tea <&>",` +
		`"timestamp":"2026-01-01T00:00:00Z"%s}` + "\n"
	return fmt.Sprintf(line, "first", "") + fmt.Sprintf(line, "odd", ","+members) +
		fmt.Sprintf(line, "last", "")
}

func TestAnOddMemberHidesNoEntry(t *testing.T) {
	for _, member := range []string{`"decay_factor":"1"`, `"session_id":5`, `"span_id":[5]`,
		`"ttl_seconds":"x"`, `"Seq":"x"`, `"expires_at":"2226-01-01 00:00:00z"`} {
		store := byHand(t, map[string]string{"s/memory.jsonl": lines(member + `,"importance":0.75`)})
		seen := map[string]varve.Entry{}
		for result, err := range openSession(t, store, "s").Find(varve.Query{}) {
			if err != nil {
				t.Fatal(member, err)
			}
			seen[result.Entry.ID] = result.Entry
		}
		odd := seen["odd"]
		if len(seen) != 3 || odd.Importance == nil || *odd.Importance != 0.75 ||
			odd.Content != "tea <&>" || odd.TTLSeconds != 0 || odd.SpanID != "" ||
			odd.DecayFactor != nil || odd.SessionID != "" {
			t.Errorf("%s: %+v", member, seen)
		}
		entry, err := openSession(t, store, "s").Get("odd")
		if err != nil || entry.ID != "odd" {
			t.Error(member, entry, err)
		}
		line, err := openSession(t, store, "s").GetRaw("odd")
		if err != nil || !strings.Contains(string(line), member) {
			t.Errorf("%s, %v", line, err)
		}
	}
}

func TestWholeNumbersMayHaveAPointOrAnExponent(t *testing.T) {
	store := byHand(t, map[string]string{"s/memory.jsonl": lines(`"seq":2e0,"schema_version":1.0,` +
		`"batch":{"i":0.0,"n":1.0e0},"usage":{"input_tokens":5e0,"output_tokens":6}`)})
	entry, err := openSession(t, store, "s").Get("odd")
	if err != nil || entry.Seq != 2 || entry.SchemaVersion != 1 {
		t.Error(entry, err)
	}
	if entry.Batch == nil || entry.Batch.Index != 0 || entry.Batch.Count != 1 {
		t.Error(entry.Batch)
	}
	if entry.Usage == nil || entry.Usage.InputTokens != 5 || entry.Usage.OutputTokens != 6 {
		t.Error(entry.Usage)
	}
}

func TestMomentsAreReadAsTheLibraryReadsThem(t *testing.T) {
	for text, wanted := range map[string]string{
		"2026-01-01t00:00:00z":           "2026-01-01T00:00:00Z",
		"2026-01-01 00:00:00Z":           "2026-01-01T00:00:00Z",
		"2026-01-01 02:30:00.5+02:30":    "2026-01-01T00:00:00.5Z",
		"2026-01-01T23:59:60Z":           "2026-01-01T23:59:59.999Z",
		"2026-01-01t23:59:60.1234-00:30": "2026-01-02T00:29:59.999Z",
	} {
		moment, err := time.Parse(time.RFC3339, wanted)
		if err != nil {
			t.Fatal(err)
		}
		store := byHand(t, map[string]string{"s/memory.jsonl": fmt.Sprintf(
			`{"id":"a","type":"finding","content":1,"timestamp":"%s","expires_at":"%s"}`+"\n",
			text, strings.Replace(text, "2026", "2226", 1))})
		page := pageOf(t, openSession(t, store, "s"), varve.Query{Time: varve.TimeCondition{
			Start: moment, End: moment.Add(time.Millisecond)}})
		if len(page.Results) != 1 {
			t.Fatalf("%s is not %s for the library", text, wanted)
		}
		entry := page.Results[0].Entry
		if !entry.Timestamp.Equal(moment) || !entry.ExpiresAt.Equal(moment.AddDate(200, 0, 0)) {
			t.Errorf("%s is read as %v, %v", text, entry.Timestamp, entry.ExpiresAt)
		}
	}
}

func pageOf(t *testing.T, session *varve.Session, query varve.Query) *varve.Page[varve.Entry] {
	t.Helper()
	results, err := session.Query(query)
	if err != nil {
		t.Fatal(err)
	}
	defer results.Close()
	page, err := results.Page()
	if err != nil {
		t.Fatal(err)
	}
	return page
}

func TestOddMembersBesideThoseOfYourOwn(t *testing.T) {
	type ticket struct {
		varve.Entry
		Priority  int             `json:"priority"`
		Content   json.RawMessage `json:"content"`
		SessionID any             `json:"session_id"`
		Seen      []time.Time     `json:"seen"`
		Due       *time.Time      `json:"due"`
	}
	store := byHand(t, map[string]string{"s/memory.jsonl": lines(
		`"priority":7,"session_id":5,"decay_factor":"1","seen":["2026-01-01 00:00:00Z"],` +
			`"due":"2027-01-01 00:00:00z"`)})
	session := openSession(t, store, "s")
	for result, err := range varve.FindAs[ticket](session, varve.Query{IDs: []string{"odd"}}) {
		entry := result.Entry
		if err != nil || entry.Priority != 7 || entry.SessionID != json.Number("5") ||
			string(entry.Content) != `"tea <&>"` || entry.Seen[0].Year() != 2026 ||
			entry.Due == nil || entry.Due.Year() != 2027 {
			t.Errorf("%+v, %v", entry, err)
		}
	}
	type pointing struct {
		*varve.Entry
		Priority int `json:"priority"`
	}
	for result, err := range varve.FindAs[pointing](session, varve.Query{IDs: []string{"odd"}}) {
		if err != nil || result.Entry.Priority != 7 || result.Entry.ID != "odd" ||
			result.Entry.SessionID != "" {
			t.Errorf("%+v, %v", result, err)
		}
	}
	// What does not fit a type of yours is told: it is not the entry that is odd.
	type wrong struct {
		varve.Entry
		Content int `json:"content"`
	}
	for _, err := range varve.FindAs[wrong](session, varve.Query{}) {
		if err == nil || !strings.Contains(err.Error(), "does not match") {
			t.Error(err)
		}
	}
}

func TestAnOddSessionHidesNoSession(t *testing.T) {
	store := byHand(t, map[string]string{
		"odd/memory.jsonl":  lines(`"trace_id":"t"`),
		"odd/metadata.json": `{"title":"by hand","created_at":"2026-01-01 00:00:00z","ttl_hours":"x"}`,
		"good/memory.jsonl": lines(`"trace_id":"t"`),
		"good/metadata.json": `{"created_at":"2026-01-02T00:00:00Z",
			"last_accessed":"2026-01-03T00:00:00Z"}`,
	})
	page, err := store.Sessions(nil)
	if err != nil || len(page.Sessions) != 2 {
		t.Fatal(page, err)
	}
	good, odd := page.Sessions[0], page.Sessions[1]
	if good.SessionID != "good" || good.LastAccessed.Day() != 3 {
		t.Errorf("%+v", good)
	}
	created := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	if odd.Title != "by hand" || !odd.LastAccessed.IsZero() || !odd.CreatedAt.Equal(created) ||
		!strings.Contains(page.String(), `"last_accessed":""`) {
		t.Errorf("%+v", odd)
	}
	metadata, err := openSession(t, store, "odd").Metadata()
	if err != nil || metadata.Title != "by hand" || metadata.TTLHours != 0 ||
		!metadata.CreatedAt.Equal(created) {
		t.Error(metadata, err)
	}
}

func TestOddMomentsOfOtherFiles(t *testing.T) {
	store := byHand(t, map[string]string{
		"s/kv.json":       `{"entries":[{"key":"a","value":"b","ts":"2026-01-01 00:00:00Z"}]}`,
		"s/transcript.md": "### user — 2026-01-01t00:00:00z\n\nhi\n",
		"s/memory.jsonl":  lines(`"role":5`),
	})
	session, created := openSession(t, store, "s"), time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	list, err := session.KV().List()
	if err != nil || len(list) != 1 || !list[0].SetAt.Equal(created) {
		t.Error(list, err)
	}
	turns, err := session.Transcript().Last(-1)
	if err != nil || len(turns) != 1 || !turns[0].Timestamp.Equal(created) {
		t.Error(turns, err)
	}
	memory, err := store.OpenMemory(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer memory.Close()
	context, err := memory.Context("s", 0)
	if err != nil || len(context.Entries) != 3 || context.Entries[1].ID != "odd" {
		t.Error(context, err)
	}
}

func TestAWholeNumberThatNoDoubleHoldsStays(t *testing.T) {
	store := byHand(t, map[string]string{"s/memory.jsonl": lines(
		`"seq":2e0,"usage":{"input_tokens":9007199254740993,"output_tokens":9223372036854775807}`)})
	entry, err := openSession(t, store, "s").Get("odd")
	if err != nil || entry.Usage == nil || entry.Usage.InputTokens != 9007199254740993 ||
		entry.Usage.OutputTokens != 9223372036854775807 {
		t.Error(entry.Usage, err)
	}
}
