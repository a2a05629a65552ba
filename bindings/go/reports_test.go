package varve_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"varve"
)

// noteRareAnswers asks for answers that have members which no case comes by.
func noteRareAnswers(t *testing.T) {
	t.Helper()
	folder := t.TempDir()
	noteCompactions(t, filepath.Join(folder, "compacted"), filepath.Join(folder, "backup"))
	noteExplanations(t)
	noteManyTypes(t)
	noteHandMade(t, filepath.Join(folder, "by-hand"))
	noteLock(t, filepath.Join(folder, "locked"))
}

// noted is a document whose members were looked at.
func noted[T report](t *testing.T, answer T, err error) T {
	t.Helper()
	if _, err := documentOf(answer, err); err != nil {
		t.Fatal(err)
	}
	return answer
}

func noteCompactions(t *testing.T, folder, backup string) {
	t.Helper()
	store := openStore(t, folder, nil)
	session := createSession(t, store, varve.SessionOptions{
		SessionID: "kitchen", KVCap: varve.Pointer(0), TranscriptCap: varve.Pointer(7),
		CompactionConfig: &varve.CompactionConfig{AutoCompact: varve.Pointer(false),
			Threshold: varve.Pointer(0.25)},
		DecayConfig: &varve.DecayConfig{Enabled: varve.Pointer(true), Curve: "linear",
			HalfLifeHours: 3, DefaultHalfLifeHours: 5, MinDecayFactor: varve.Pointer(0.5),
			UpdateIntervalMinutes: 7, TypeSpecific: map[string]varve.TypeDecay{"song": {
				HalfLifeHours: 2, MinDecayFactor: varve.Pointer(0.0), Curve: "step",
				DecayEnabled: varve.Pointer(true)}}}})
	id := mustAdd(t, session, finding("tea"))
	if err := session.PutVector(id, []float32{1, 2}); err != nil {
		t.Fatal(err)
	}
	if err := session.Delete(id, ""); err != nil {
		t.Fatal(err)
	}
	compacted, err := session.Compact(varve.CompactOptions{})
	noted(t, compacted, err)
	if *compacted.VectorsBefore != 1 || *compacted.VectorsAfter != 0 || compacted.Dropped.Deleted != 1 {
		t.Errorf("%s", compacted)
	}
	if _, err := store.Backup(backup, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Restore(backup, varve.RestoreOptions{Overwrite: true}); err != nil {
		t.Fatal(err)
	}
	restored, err := store.OpenSession("kitchen")
	if err != nil {
		t.Fatal(err)
	}
	metadata, err := restored.Metadata()
	noted(t, metadata, err)
	decay := metadata.DecayConfig
	if *metadata.KVCap != 0 || *metadata.TranscriptCap != 7 || decay.HalfLifeHours != 3 ||
		decay.TypeSpecific["song"].Curve != "step" || *metadata.CompactionConfig.Threshold != 0.25 ||
		metadata.Compactions[0].Cause != "asked" || metadata.Compactions[0].EntriesBefore != 1 ||
		metadata.Compactions[0].Timestamp.IsZero() || metadata.LastCompaction.IsZero() ||
		metadata.RestoredAt.Before(metadata.LastCompaction) || metadata.Version != 1 {
		t.Errorf("%s is read as %+v", metadata, metadata)
	}
}

func noteExplanations(t *testing.T) {
	t.Helper()
	store, session := inMemory(t)
	id := mustAdd(t, session, finding("green tea"))
	if err := session.PutVector(id, []float32{1, 2}); err != nil {
		t.Fatal(err)
	}
	query := varve.Query{Text: "tea", Vector: []float32{1, 2}, Explain: true}
	for _, finder := range []varve.Finder{session, store} {
		results, err := finder.Query(query)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := found(results, nil); err != nil {
			t.Fatal(err)
		}
		page, err := results.Page()
		if err != nil {
			t.Fatal(err)
		}
		why := page.Results[0].Explain
		if why.SortBy != "best" || why.Best == nil || *why.Vector.Rank != 1 || why.Decay.Factor == 0 ||
			why.Terms[0].Term != "tea" || *why.Vector.Similarity < 0.99 || why.BM25 == 0 {
			t.Errorf("%+v", why)
		}
		if finder == store && page.Explain.Sessions != 1 {
			t.Errorf("%+v", page.Explain)
		}
	}
}

func noteManyTypes(t *testing.T) {
	t.Helper()
	_, session := inMemory(t)
	entries := make([]varve.Entry, 10_005)
	for index := range entries {
		entries[index] = varve.Entry{Type: fmt.Sprintf("t%d", index), Content: 1}
	}
	if _, err := session.AddBatch(entries); err != nil {
		t.Fatal(err)
	}
	metadata, err := session.Metadata()
	noted(t, metadata, err)
	if rest := metadata.StatisticsRest; rest == nil || rest.Types != 5 || rest.Entries != 5 {
		t.Errorf("%+v", rest)
	}
}

// noteHandMade has a log of format version 0, and metadata of a compaction that was killed.
func noteHandMade(t *testing.T, folder string) {
	t.Helper()
	store := openStore(t, folder, nil)
	session := filepath.Join(folder, "sessions", "old")
	if err := os.MkdirAll(session, 0o700); err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(session, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("memory.jsonl", `{"id":"a","type":"finding","content":1,"timestamp":"2025-01-01T00:00:00Z"}`+"\n")
	opened, err := store.OpenSession("old")
	if err != nil {
		t.Fatal(err)
	}
	migrated, err := opened.Migrate(varve.MigrateOptions{})
	if noted(t, migrated, err); !migrated.Changed {
		t.Errorf("%s", migrated)
	}
	metadata, err := opened.Metadata()
	if noted(t, metadata, err); metadata.Migrations[0].To != 1 || metadata.Migrations[0].At.IsZero() {
		t.Errorf("%s", metadata)
	}
	opened.Close()
	text, err := os.ReadFile(filepath.Join(session, "metadata.json"))
	if err != nil {
		t.Fatal(err)
	}
	write("metadata.json", `{"stray_vectors":true,`+string(text)[1:])
	if opened, err = store.OpenSession("old"); err != nil {
		t.Fatal(err)
	}
	metadata, err = opened.Metadata()
	if noted(t, metadata, err); !metadata.StrayVectors {
		t.Errorf("%s", metadata)
	}
}

// noteLock looks until somebody is writing.
func noteLock(t *testing.T, folder string) {
	t.Helper()
	store := openStore(t, folder, nil)
	session := createSession(t, store, varve.SessionOptions{SessionID: "s"})
	ended := make(chan error)
	stop := make(chan bool)
	go func() {
		for {
			select {
			case <-stop:
				close(ended)
				return
			default:
				if _, err := session.Add(finding("tea")); err != nil {
					t.Error(err)
				}
			}
		}
	}()
	defer func() { close(stop); <-ended }()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
		stats, err := session.Stats()
		if err != nil {
			t.Fatal(err)
		}
		if stats.Lock.Held && stats.Lock.ProcessID != 0 {
			noted(t, stats, nil)
			if stats.Lock.ProcessID != int64(os.Getpid()) || stats.Lock.Operation == "" ||
				stats.Lock.Since.IsZero() {
				t.Errorf("%+v", stats.Lock)
			}
			return
		}
	}
	t.Error("nobody was seen to write")
}

func TestMetricsAreNumbersAndHistograms(t *testing.T) {
	store, session := inMemory(t)
	mustAdd(t, session, finding("tea"))
	stats, err := store.Stats()
	if err != nil {
		t.Fatal(err)
	}
	if added := stats.Metrics["memory.operations.add.count"]; added.Value != 1 || added.Histogram != nil {
		t.Errorf("%+v", added)
	}
	written := stats.Metrics["memory.operations.write.duration_ms"].Histogram
	if written == nil || written.Count != 1 || written.Sum <= 0 || written.P50 <= 0 ||
		written.P99 < written.P50 || written.Max != written.Sum {
		t.Errorf("%+v", written)
	}
	var given struct{ Metrics map[string]any }
	again, err := json.Marshal(stats.Metrics)
	if err := json.Unmarshal(stats.JSON(), &given); err != nil {
		t.Fatal(err)
	}
	var back map[string]any
	if err := json.Unmarshal(again, &back); err != nil || !reflect.DeepEqual(back, given.Metrics) {
		t.Errorf("%s is written for %v, %v", again, given.Metrics, err)
	}
}

func TestVerifyTellsOfReferencesToNothing(t *testing.T) {
	_, session := inMemory(t)
	id := mustAdd(t, session, varve.Entry{Type: "finding", Content: 1, References: []string{"gone"}})
	report, err := session.Verify(varve.VerifyOptions{Deep: true})
	if err != nil || len(report.Notes) != 1 || report.Notes[0].ID != id ||
		report.Notes[0].Target != "gone" || report.Notes[0].File == "" || report.NotesTotal != 1 {
		t.Errorf("%s, %v", report, err)
	}
}

func TestAnEntryTellsItsUsageAndItsBatch(t *testing.T) {
	_, session := inMemory(t)
	ids, err := session.AddBatch([]varve.Entry{finding("tea"), {Type: "message", Content: "x",
		Usage: &varve.EntryUsage{InputTokens: 412, CompletionTokens: 9, CostUSD: 0.5}}})
	if err != nil {
		t.Fatal(err)
	}
	entry, err := session.Get(ids[1])
	if err != nil || *entry.Batch != (varve.BatchPlace{Index: 1, Count: 2}) ||
		*entry.Usage != (varve.EntryUsage{InputTokens: 412, CompletionTokens: 9, CostUSD: 0.5}) {
		t.Errorf("%+v, %v", entry, err)
	}
	stats, err := session.Stats()
	if err != nil || stats.Usage.InputTokens != 412 || stats.Usage.OutputTokens != 9 ||
		stats.Usage.CostUSD != 0.5 {
		t.Errorf("%s, %v", stats, err)
	}
}
