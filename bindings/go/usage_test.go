package varve_test

import (
	"testing"
	"time"

	"varve"
)

func TestUsage(t *testing.T) {
	store := openStore(t, "memory:", nil)
	session := createSession(t, store, varve.SessionOptions{UserID: "ann"})
	mustAdd(t, session, map[string]any{"type": "message", "content": "tea",
		"usage": map[string]any{"input_tokens": 10, "output_tokens": 5, "cost_usd": 0.25}})
	report, err := store.Usage(varve.UsageFilter{UserID: "ann"})
	if err != nil || report.Total.Entries != 1 || report.Total.InputTokens != 10 ||
		len(report.Users) != 1 || report.Users[0].UserID != "ann" || report.Total.CostUSD != 0.25 {
		t.Error(report, err)
	}
	_, err = store.Usage(`{"colour":"red"}`)
	expectError(t, err, varve.ErrInvalidArgument)
}

// What was made and came out empty is no condition that was not asked for.
func TestEmptyIsNotAbsent(t *testing.T) {
	store := openStore(t, "memory:", nil)
	session := createSession(t, store, varve.SessionOptions{Stores: []string{}})
	mustAdd(t, session, map[string]any{"type": "message", "content": "tea"})
	expectError(t, session.KV().Set("drink", "tea"), varve.ErrUnsupported)
	_, err := store.Usage(varve.UsageFilter{SessionIDs: []string{}})
	expectError(t, err, varve.ErrInvalidArgument)
	for _, query := range []varve.Query{
		{Content: map[string]any{}}, {IDs: []string{}}, {Types: []string{}},
		{}, {IDs: nil}, {Now: time.Now()}} {
		_, err := session.DeleteWhere(query, "")
		expectError(t, err, varve.ErrInvalidArgument)
		_, err = session.DeleteWhere(&query, "")
		expectError(t, err, varve.ErrInvalidArgument)
	}
	type ofTrip struct {
		varve.Query
		Tags []string `json:"trip_tags,omitempty"`
	}
	var held any = varve.Query{}
	pointer := &varve.Query{}
	for _, query := range []any{ofTrip{}, &ofTrip{}, struct{ varve.Query }{}, &held, &pointer} {
		_, err := session.DeleteWhere(query, "")
		expectError(t, err, varve.ErrInvalidArgument)
	}
	_, err = session.Count(varve.Query{Vector: []float32{}})
	expectError(t, err, varve.ErrInvalidArgument)
	if count, err := session.Count(nil); err != nil || count != 1 {
		t.Error(count, err)
	}
	if count, err := session.DeleteWhere("{}", "all of it"); err != nil || count != 1 {
		t.Error(count, err)
	}
}
