package varve

import (
	"time"

	"varve/internal/raw"
)

// UsageFilter is what Store.Usage takes. It sums everybody's usage when UserID is empty.
type UsageFilter struct {
	UserID     string    `json:"user_id,omitempty"`
	AgentID    string    `json:"agent_id,omitempty"`
	SessionIDs []string  `json:"session_ids,omitzero"`
	Time       UsageTime `json:"time,omitzero"`
}

// UsageTime is the time of a UsageFilter: Start <= timestamp < End.
type UsageTime struct {
	Start time.Time `json:"start,omitzero"`
	End   time.Time `json:"end,omitzero"`
}

// Usage is what model calls took, and whose it is: of the fields that say so, the one of its list.
type Usage struct {
	SessionID    string  `json:"session_id"`
	AgentID      string  `json:"agent_id"`
	UserID       string  `json:"user_id"`
	Day          string  `json:"day"` // "2026-01-10", of UTC
	Entries      int64   `json:"entries"`
	InputTokens  float64 `json:"input_tokens"`
	OutputTokens float64 `json:"output_tokens"`
	CostUSD      float64 `json:"cost_usd"`
}

// EntryUsage is what a model call took, as an entry tells of it.
type EntryUsage struct {
	InputTokens      int64   `json:"input_tokens,omitempty"`
	OutputTokens     int64   `json:"output_tokens,omitempty"`
	CostUSD          float64 `json:"cost_usd,omitempty"`
	PromptTokens     int64   `json:"prompt_tokens,omitempty"`     // another name of InputTokens
	CompletionTokens int64   `json:"completion_tokens,omitempty"` // another name of OutputTokens
}

// UsageReport is the answer of Store.Usage.
type UsageReport struct {
	Document
	Total    Usage     `json:"total"`
	Sessions []Usage   `json:"sessions"`
	Agents   []Usage   `json:"agents"`
	Users    []Usage   `json:"users"`
	Days     []Usage   `json:"days"`
	Problems []Problem `json:"problems"`
}

// Usage sums what model calls took over entries that say so. The filter is a UsageFilter or nil.
func (s *Store) Usage(filter any) (*UsageReport, error) {
	return documentWith[UsageReport](s.caller(), "Store.Usage", filter,
		func(filter string) ([]byte, *raw.Failure) { return raw.StoreUsage(s.token, filter) })
}
