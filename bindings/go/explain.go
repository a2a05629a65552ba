package varve

// Explanation says why a result stands where it does; docs/query.md#explain. What does not apply to
// the query is nil or zero.
type Explanation struct {
	SortBy       string             `json:"sort_by"`
	Key          float64            `json:"key"` // what decides the order
	Importance   float64            `json:"importance"`
	RecencyBoost float64            `json:"recency_boost"`
	Decay        DecayExplanation   `json:"decay"`
	BM25         float64            `json:"bm25"`   // with text
	Length       int64              `json:"length"` // words of the entry, with text
	Terms        []TermOfEntry      `json:"terms"`
	Vector       *VectorExplanation `json:"vector"`
	Best         *BestExplanation   `json:"best"` // of those that the order best ranks
}

// DecayExplanation is what age made of an entry.
type DecayExplanation struct {
	Curve          string  `json:"curve"`
	HalfLifeHours  float64 `json:"half_life_hours"`
	MinDecayFactor float64 `json:"min_decay_factor"`
	AgeHours       float64 `json:"age_hours"`
	Factor         float64 `json:"factor"`
}

// TermOfEntry is what one term of the query gave an entry.
type TermOfEntry struct {
	Term      string  `json:"term"`
	Frequency int64   `json:"frequency"`
	Score     float64 `json:"score"`
}

// VectorExplanation is what the vector gave an entry, and with words what they did.
type VectorExplanation struct {
	Similarity *float64 `json:"similarity"` // the cosine; nil for an entry without a vector
	Rank       *int64   `json:"rank"`
	Weight     float64  `json:"weight"`
	Share      float64  `json:"share"`
	TextRank   *int64   `json:"text_rank"`
	TextShare  float64  `json:"text_share"`
}

// BestExplanation is what each part of the order best gave.
type BestExplanation struct {
	Match      float64 `json:"match"`
	Neighbours float64 `json:"neighbours"`
	Answer     float64 `json:"answer"`
	Stretch    float64 `json:"stretch"`
	Role       float64 `json:"role"`
	Date       float64 `json:"date"`
	Relevance  float64 `json:"relevance"`
}

// PageExplanation says how a query was answered.
type PageExplanation struct {
	SortBy           string        `json:"sort_by"`
	Strategy         string        `json:"strategy"`
	RowsWalkedAtMost int64         `json:"rows_walked_at_most"`
	Terms            []TermOfQuery `json:"terms"`
	Sessions         int64         `json:"sessions"` // asked, by a query across sessions
}

// TermOfQuery is how rare one term of the query is.
type TermOfQuery struct {
	Term    string  `json:"term"`
	Entries int64   `json:"entries"` // that have it
	IDF     float64 `json:"idf"`
}
