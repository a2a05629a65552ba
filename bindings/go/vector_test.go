package varve_test

import (
	"math"
	"testing"

	"varve"
)

func TestVectors(t *testing.T) {
	_, session := inMemory(t)
	for id, vector := range map[string][]float32{"tea": {1, 0, 0}, "rain": {0, 1, 0}} {
		mustAdd(t, session, varve.Entry{ID: id, Type: "finding", Content: id})
		if err := session.PutVector(id, vector); err != nil {
			t.Fatal(err)
		}
	}
	for result, err := range session.Find(varve.Query{Vector: []float32{0.9, 0.1, 0}, Limit: 1}) {
		if err != nil || result.Entry.ID != "tea" {
			t.Error(result, err)
		}
	}
	expectError(t, session.PutVector("nobody", []float32{1, 0, 0}), varve.ErrNotFound)
	for _, vector := range [][]float32{nil, {}, {1, 0}, {0, 0, 0}, {float32(math.NaN()), 0, 0}} {
		expectError(t, session.PutVector("tea", vector), varve.ErrInvalidArgument)
	}
}
