package varve

import (
	"unsafe"

	"varve/internal/raw"
)

// PutVector gives an entry its vector, an embedding that you made of it, for queries with a Vector.
func (s *Session) PutVector(id string, values []float32) error {
	return s.caller().run("Session.PutVector", func() *raw.Failure {
		return raw.SessionPutVector(s.token, id, unsafe.SliceData(values), uint32(len(values)))
	})
}
