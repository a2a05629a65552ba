package varve_test

import (
	"testing"

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
