package varve_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"varve"
)

func addMany(t testing.TB, session *varve.Session, count int) {
	t.Helper()
	entries := make([]varve.Entry, count)
	for index := range entries {
		entries[index] = finding(fmt.Sprintf("cup of tea number %d", index))
	}
	if _, err := session.AddBatch(entries); err != nil {
		t.Fatal(err)
	}
}

func TestFindGoesThroughAllPages(t *testing.T) {
	store, session := inMemory(t)
	addMany(t, session, 1203)
	for _, finder := range []interface {
		varve.Finder
	}{store, session} {
		for _, limit := range []int{0, 1, 500, 700, 5000} {
			wanted, seen := limit, map[string]bool{}
			if limit == 0 || limit > 1203 {
				wanted = 1203
			}
			for result, err := range varve.FindAs[varve.Entry](finder, varve.Query{Limit: limit}) {
				if err != nil {
					t.Fatal(err)
				}
				seen[result.Entry.ID] = true
			}
			if len(seen) != wanted {
				t.Errorf("%d of %d with limit %d", len(seen), wanted, limit)
			}
		}
	}
	for range session.Find(varve.Query{}) {
		break // leaving a loop early is no panic
	}
	others := make([]varve.Entry, 600)
	for index := range others {
		others[index] = finding("coffee")
	}
	if _, err := session.AddBatch(others); err != nil {
		t.Fatal(err)
	}
	count := 0
	for result, err := range session.Find(varve.Query{Text: "coffee", Explain: true}) {
		if err != nil || result.Entry.Content != "coffee" || result.Explain == nil {
			t.Fatal(result, err)
		}
		count++
	}
	if count != 600 {
		t.Errorf("%d of 600", count)
	}
	results, err := session.Query(nil)
	if err != nil || results.Count() != 100 {
		t.Fatal(results, err)
	}
	for range results.All() {
		break
	}
	for _, wrong := range []varve.Query{{SortBy: "colour"}, {Limit: -1}} {
		for _, err := range session.Find(wrong) {
			expectError(t, err, varve.ErrInvalidArgument)
		}
	}
}

func TestResults(t *testing.T) {
	_, session := inMemory(t)
	mustAdd(t, session, varve.Entry{ID: "a", Type: "finding", Content: "green tea"})
	mustAdd(t, session, varve.Entry{ID: "b", Type: "finding", Content: "coffee"})
	results, err := session.Query(varve.Query{Text: "tea", Explain: true})
	if err != nil {
		t.Fatal(err)
	}
	page, err := results.Page()
	if err != nil || results.Count() != 1 || page.Next != "" || page.Explain == nil {
		t.Fatalf("%+v, %v", page, err)
	}
	result := page.Results[0]
	score, err := results.Score(0)
	if err != nil || result.Relevance != score || result.Entry.ID != "a" ||
		result.SessionID != session.ID() || result.Explain == nil {
		t.Errorf("%+v, %v, %v", result, score, err)
	}
	line, err := results.Entry(0)
	if err != nil || !bytes.Contains(line, []byte("green tea")) {
		t.Error(string(line), err)
	}
	for _, index := range []int{1, -1} {
		_, err = results.Entry(index)
		expectError(t, err, varve.ErrInvalidArgument)
	}
	results.Close()
	_, err = results.JSON()
	expectError(t, err, varve.ErrBadHandle)
	for _, err := range results.All() {
		expectError(t, err, varve.ErrBadHandle)
	}
}

func TestAllSessionsGoesThroughAllPages(t *testing.T) {
	store := openStore(t, "memory:", nil)
	for index := range 25 {
		createSession(t, store, varve.SessionOptions{SessionID: fmt.Sprint("s", index),
			UserID: []string{"ann", "bob"}[index%2]})
	}
	count := 0
	for session, err := range store.AllSessions(varve.SessionFilter{UserID: "ann", Limit: 4}) {
		if err != nil || session.UserID != "ann" {
			t.Fatal(session, err)
		}
		count++
	}
	if count != 13 {
		t.Error(count)
	}
	for range store.AllSessions(varve.SessionFilter{}) {
		break // leaving a loop early is no panic
	}
}

func TestAnIteratorBeginsAnewEachTimeItIsGoneThrough(t *testing.T) {
	store, session := inMemory(t)
	for index := range 6 {
		createSession(t, store, nil)
		mustAdd(t, session, varve.Entry{Type: "finding", Content: index})
	}
	sessions := store.AllSessions(varve.SessionFilter{Limit: 2})
	found := session.Find(varve.Query{Limit: 6})
	for round := range 3 {
		ofSessions, ofFound := 0, 0
		for _, err := range sessions {
			if err != nil {
				t.Fatal(err)
			}
			if ofSessions++; round == 0 && ofSessions == 5 {
				break
			}
		}
		for range found {
			ofFound++
		}
		if want := []int{5, 7, 7}[round]; ofSessions != want || ofFound != 6 {
			t.Error(round, ofSessions, ofFound)
		}
	}
}

func TestAllSessionsRescansOnce(t *testing.T) {
	store := openStore(t, filepath.Join(t.TempDir(), "store"), varve.Config{Durability: "os"})
	for range 5 {
		createSession(t, store, varve.SessionOptions{AgentID: "cook"})
	}
	createSession(t, store, nil)
	count := 0
	filter := varve.SessionFilter{Limit: 2, Rescan: true, AgentID: "cook"}
	for session, err := range store.AllSessions(filter) {
		if err != nil || session.AgentID != "cook" {
			t.Fatal(session, err)
		}
		count++
	}
	if count != 5 {
		t.Error(count)
	}
}

func TestAnErrorIsTheLastThingThatAnIteratorGives(t *testing.T) {
	store, session := inMemory(t)
	results, err := session.Query(nil)
	if err != nil {
		t.Fatal(err)
	}
	store.Close()
	results.Close()
	var errs []error
	for _, err := range store.AllSessions(varve.SessionFilter{}) {
		errs = append(errs, err)
	}
	for _, err := range session.Find(varve.Query{}) {
		errs = append(errs, err)
	}
	for _, err := range results.All() {
		errs = append(errs, err)
	}
	if len(errs) != 3 {
		t.Error(errs)
	}
	for _, err := range errs {
		expectError(t, err, varve.ErrBadHandle)
	}
}

func TestTheReasonOfADeletionIsInTheAuditLog(t *testing.T) {
	directory := filepath.Join(t.TempDir(), "store")
	store := openStore(t, directory, nil)
	session := createSession(t, store, varve.SessionOptions{SessionID: "s", UserID: "ann"})
	memory, err := store.OpenMemory(varve.MemoryOptions{UserID: "ann"})
	if err != nil {
		t.Fatal(err)
	}
	defer memory.Close()
	first, second := mustAdd(t, session, finding("tea")), mustAdd(t, session, finding("coffee"))
	mustAdd(t, session, finding("cocoa"))
	_, whereErr := session.DeleteWhere(varve.Query{Text: "cocoa"}, "reason three")
	err = errors.Join(session.Delete(first, "reason one"), memory.Delete(second, "reason two"), whereErr)
	if err != nil {
		t.Fatal(err)
	}
	audit, err := os.ReadFile(filepath.Join(directory, "sessions", "s", "tombstones.jsonl"))
	for _, reason := range []string{"reason one", "reason two", "reason three"} {
		if err != nil || !strings.Contains(string(audit), reason) {
			t.Errorf("%q is not in %s, %v", reason, audit, err)
		}
	}
}

func TestAPurgeErasesWhatWasDamagedAndACompactionDoesNot(t *testing.T) {
	directory := filepath.Join(t.TempDir(), "store")
	folder := filepath.Join(directory, "sessions", "s")
	session := createSession(t, openStore(t, directory, nil), varve.SessionOptions{SessionID: "s"})
	mustAdd(t, session, finding("tea"))
	text, err := os.ReadFile(filepath.Join(folder, "memory.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	text = bytes.Replace(text, []byte("tea"), []byte("ate"), 1)
	if err := os.WriteFile(filepath.Join(folder, "memory.jsonl"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	if report, err := session.Repair(nil); err != nil || report.Quarantined != 1 {
		t.Fatal(report, err)
	}
	if _, err := session.Compact(nil); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(folder, "quarantine.jsonl")); err != nil {
		t.Error(err)
	}
	if _, err := session.Purge(nil); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(folder, "quarantine.jsonl")); !os.IsNotExist(err) {
		t.Error("it is there after a purge:", err)
	}
}

func TestASessionIsOpenedOrCreated(t *testing.T) {
	directory := filepath.Join(t.TempDir(), "store")
	store := openStore(t, directory, nil)
	session, err := store.Session("kitchen", varve.SessionOptions{UserID: "ann", Title: "Kitchen"})
	if err != nil {
		t.Fatal(err)
	}
	mustAdd(t, session, finding("tea"))
	store.Close()

	store = openStore(t, directory, nil)
	for _, options := range []varve.SessionOptions{
		{}, {UserID: "ann"}, {UserID: "ann", Title: "another"}, {SessionID: "x", IfExists: "fail"},
	} {
		session, err := store.Session("kitchen", options)
		if err != nil {
			t.Fatal(options, err)
		}
		if count, err := session.Count(nil); count != 1 || err != nil {
			t.Error(options, count, err)
		}
		if metadata, err := session.Metadata(); err != nil || metadata.Title != "Kitchen" {
			t.Error(options, metadata, err)
		}
	}
	open := varve.SessionOptions{SessionID: "kitchen", IfExists: "open"}
	if session, err := store.CreateSession(open); err != nil || session.ID() != "kitchen" {
		t.Error(err)
	}
	_, err = store.Session("kitchen", varve.SessionOptions{UserID: "bo"})
	expectError(t, err, varve.ErrAlreadyExists, "Store.Session", "belongs to another user")
	_, err = store.CreateSession(varve.SessionOptions{SessionID: "kitchen"})
	expectError(t, err, varve.ErrAlreadyExists)
	_, err = store.Session("", varve.SessionOptions{})
	expectError(t, err, varve.ErrInvalidArgument, "session_id")
}

func TestRepairTellsOfLostMetadata(t *testing.T) {
	directory := filepath.Join(t.TempDir(), "store")
	store := openStore(t, directory, nil)
	mustAdd(t, createSession(t, store, varve.SessionOptions{SessionID: "s"}), finding("tea"))
	store.Close()
	if err := os.Remove(filepath.Join(directory, "sessions", "s", "metadata.json")); err != nil {
		t.Fatal(err)
	}
	session, err := openStore(t, directory, nil).OpenSession("s")
	if err != nil {
		t.Fatal(err)
	}
	for _, lost := range []bool{true, false} {
		report, err := session.Repair(nil)
		if err != nil || report.MetadataLost != lost || report.Entries != 1 {
			t.Error(report, err)
		}
	}
}

func TestExportAndImport(t *testing.T) {
	store, session := inMemory(t)
	addMany(t, session, 50)
	var text bytes.Buffer
	written, err := session.Export(&text, "jsonl")
	if err != nil || written != int64(text.Len()) || strings.Count(text.String(), "\n") != 50 {
		t.Fatal(written, err, text.Len())
	}
	other := createSession(t, store, nil)
	report, err := other.Import(&text)
	if err != nil || report.Added != 50 || len(report.Refused) != 0 {
		t.Fatal(report, err)
	}
	_, err = session.Export(failingWriter{}, "markdown")
	if !errors.Is(err, errWriter) {
		t.Error(err)
	}
	var short shortWriter
	if written, err = session.Export(&short, "jsonl"); written != 3 || !errors.Is(err, errWriter) {
		t.Error(written, err)
	}
	half := strings.NewReader(`{"type":"finding","content":"tea"}` + "\n")
	_, err = other.Import(io.MultiReader(half, iotest.ErrReader(errReader)))
	if count, countErr := other.Count(nil); !errors.Is(err, errReader) || count != 50 || countErr != nil {
		t.Error("an import whose reader failed:", err, count, countErr)
	}
	_, err = session.Export(&text, "xml")
	expectError(t, err, varve.ErrInvalidArgument, "xml")
	path := filepath.Join(t.TempDir(), "memory.json")
	exported, err := session.ExportFile(path, map[string]any{"format": "json",
		"query": varve.Query{Text: "7"}})
	if err != nil || exported.Entries != 1 {
		t.Fatal(exported, err)
	}
	if info, err := os.Stat(path); err != nil || info.Size() != exported.Bytes {
		t.Error(info, err)
	}
}

func TestADryRunTellsThatNotAllWouldFit(t *testing.T) {
	store := openStore(t, "memory:", varve.Config{
		Storage: varve.StorageConfig{MaxSessionSizeMB: varve.Pointer(1.0)}})
	path := filepath.Join(t.TempDir(), "memory.jsonl")
	line := `{"type":"finding","content":"` + strings.Repeat("tea ", 150_000) + `"}` + "\n"
	for count, exceeds := range map[int]bool{1: false, 2: true} {
		if err := os.WriteFile(path, []byte(strings.Repeat(line, count)), 0o600); err != nil {
			t.Fatal(err)
		}
		session := createSession(t, store, nil)
		report, err := session.ImportFile(path, map[string]any{"dry_run": true})
		if err != nil || report.ExceedsLimit != exceeds {
			t.Error(count, report, err)
		}
	}
}

func TestAnImportTellsWhatWentToMakeRoom(t *testing.T) {
	store := openStore(t, "memory:", varve.Config{
		Storage: varve.StorageConfig{MaxSessionSizeMB: varve.Pointer(1.0)}})
	session := createSession(t, store, nil)
	line := `{"type":"finding","content":"` + strings.Repeat("tea ", 5_000) +
		`","importance":0.1,"timestamp":"2001-01-01T00:00:00Z"}` + "\n"
	for _, step := range []struct{ lines, added, evicted int }{{45, 45, 0}, {50, 5, 45}} {
		report, err := session.Import(strings.NewReader(strings.Repeat(line, step.lines)))
		if err != nil || report.Added != int64(step.added) || report.Evicted != int64(step.evicted) {
			t.Error(step, report, err)
		}
	}
}

var errWriter = errors.New("the disk of the writer is full")

var errReader = errors.New("the connection is gone")

// shortWriter fails behind three bytes.
type shortWriter struct{}

func (*shortWriter) Write([]byte) (int, error) { return 3, errWriter }

type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, errWriter }

func TestMaintenanceReports(t *testing.T) {
	store := openStore(t, filepath.Join(t.TempDir(), "store"), nil)
	session := createSession(t, store, varve.SessionOptions{Title: "cups", TTLHours: 24})
	addMany(t, session, 10)
	if count, err := session.DeleteWhere(varve.Query{Text: "3"}, "asked"); count != 1 || err != nil {
		t.Error(count, err)
	}
	if report, err := session.Verify(nil); err != nil || !report.OK || report.Entries != 9 {
		t.Error(report, err)
	}
	if report, err := session.Purge(nil); err != nil || report.Dropped.Deleted != 1 {
		t.Error(report, err)
	}
	if report, err := session.RebuildIndex(nil); err != nil || report.Entries != 9 {
		t.Error(report, err)
	}
	if err := session.Update(map[string]any{"title": "mugs", "mine": 1}); err != nil {
		t.Error(err)
	}
	metadata, err := session.Metadata()
	if err != nil || metadata.Title != "mugs" || metadata.TotalEntries != 9 ||
		!strings.Contains(metadata.String(), `"mine":1`) {
		t.Error(metadata, err)
	}
	if stats, err := session.Stats(); err != nil || stats.Types["finding"] != 9 {
		t.Error(stats, err)
	}
	if files, err := session.Files(); err != nil || len(files.Files) < 3 {
		t.Error(files, err)
	}
	backup := filepath.Join(t.TempDir(), "backup")
	if report, err := store.Backup(backup, nil); err != nil || report.Copied != 1 {
		t.Error(report, err)
	}
	if err := store.DeleteSession(session.ID()); err != nil {
		t.Error(err)
	}
	if report, err := store.Restore(backup, nil); err != nil || report.Entries != 9 {
		t.Error(report, err)
	}
	if text, err := store.Metrics(); err != nil || !strings.Contains(text, "varve_entries") {
		t.Error(text, err)
	}
	if stats, err := store.Stats(); err != nil || stats.EntriesAdded != 10 {
		t.Error(stats, err)
	}
}
