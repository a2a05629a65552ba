package varve

import (
	"encoding/json"
	"iter"
	"runtime"

	"varve/internal/raw"
)

// Results are the answer to a query, a page of it. One goroutine at a time.
type Results struct {
	token   raw.Results
	cleanup runtime.Cleanup
}

func newResults(
	c caller, operation string, query any, find func(query string) (raw.Results, *raw.Failure),
) (*Results, error) {
	text, err := encode(operation, query)
	if err != nil {
		return nil, err
	}
	results := &Results{}
	err = c.run(operation, func() (failure *raw.Failure) {
		results.token, failure = find(text)
		return failure
	})
	if err != nil {
		return nil, err
	}
	results.cleanup = runtime.AddCleanup(results, raw.ResultsFree, results.token)
	return results, nil
}

// Close frees the results. Closing twice is no error; the answer is always nil.
func (r *Results) Close() error {
	if !r.isOpened() {
		return nil
	}
	r.cleanup.Stop()
	raw.ResultsFree(r.token)
	return nil
}

func (r *Results) isOpened() bool { return r != nil && r.token != 0 }

func (r *Results) caller() caller {
	if !r.isOpened() {
		return caller{}
	}
	return caller{keptAlive: r}
}

// Count tells how many there are; 0 when the results are closed.
func (r *Results) Count() int {
	if !r.isOpened() {
		return 0
	}
	defer runtime.KeepAlive(r)
	return int(raw.ResultsCount(r.token))
}

// JSON is the whole answer: {"results": [{"entry", "session_id", "relevance", ...}], "next"}.
func (r *Results) JSON() (json.RawMessage, error) {
	return r.caller().text("Results.JSON",
		func() ([]byte, *raw.Failure) { return raw.ResultsJSON(r.token) })
}

// Entry is the entry of one result as it is stored.
func (r *Results) Entry(index int) (json.RawMessage, error) {
	return r.caller().text("Results.Entry",
		func() ([]byte, *raw.Failure) { return raw.ResultsEntry(r.token, uint(index)) })
}

// Score is the relevance of one result.
func (r *Results) Score(index int) (relevance float64, err error) {
	err = r.caller().run("Results.Score", func() (failure *raw.Failure) {
		relevance, failure = raw.ResultsScore(r.token, uint(index))
		return failure
	})
	return relevance, err
}

// Next is the cursor of the next page, for the query's After; empty on the last.
func (r *Results) Next() (string, error) {
	cursor, err := r.caller().text("Results.Next",
		func() ([]byte, *raw.Failure) { return raw.ResultsNext(r.token) })
	return string(cursor), err
}

// All gives the results in order. An error is the last thing that it gives.
func (r *Results) All() iter.Seq2[Result, error] {
	return func(yield func(Result, error) bool) {
		page, err := pageOf[Entry](r)
		if err != nil {
			yield(Result{}, err)
			return
		}
		for _, result := range page.Results {
			if !yield(result, nil) {
				return
			}
		}
	}
}

// Page is Results as Go values.
type Page[T any] struct {
	Results []ResultOf[T]    `json:"results"`
	Next    string           `json:"next"`    // for Query.After; empty on the last page
	Explain *PageExplanation `json:"explain"` // with Query.Explain
}

// Page reads the results; they may be closed then.
func (r *Results) Page() (*Page[Entry], error) { return pageOf[Entry](r) }

// PageAs is Results.Page with entries read as a type of yours.
func PageAs[T any](results *Results) (*Page[T], error) { return pageOf[T](results) }

func pageOf[T any](results *Results) (*Page[T], error) {
	text, err := results.JSON()
	if err != nil {
		return nil, err
	}
	var page Page[T]
	if err := decode("Results.Page", text, &page); err != nil {
		return nil, err
	}
	return &page, nil
}

// Finder is what can be queried: a Store, a Session.
type Finder interface {
	Query(query any) (*Results, error)
}

// pageSize is how many results Find asks for at a time.
const pageSize = 500

// FindAs gives what a query finds, page by page, with entries read as a type of yours: a struct that
// embeds Entry, a map, or json.RawMessage for what is stored. Query.Limit is how many it gives in
// all; 0 is all there are. An error is the last thing that it gives.
func FindAs[T any](finder Finder, query Query) iter.Seq2[ResultOf[T], error] {
	return func(yield func(ResultOf[T], error) bool) {
		left, limited := query.Limit, query.Limit != 0 // one below 0 is the library's to refuse
		for query := query; ; {
			query.Limit = pageSize
			if limited {
				query.Limit = min(left, pageSize)
			}
			page, err := findPage[T](finder, query)
			if err != nil {
				yield(ResultOf[T]{}, err)
				return
			}
			for _, result := range page.Results {
				if !yield(result, nil) {
					return
				}
			}
			left -= len(page.Results)
			if page.Next == "" || (limited && left <= 0) {
				return
			}
			query.After = page.Next
		}
	}
}

func findPage[T any](finder Finder, query Query) (*Page[T], error) {
	results, err := finder.Query(query)
	if err != nil {
		return nil, err
	}
	defer results.Close()
	return pageOf[T](results)
}
