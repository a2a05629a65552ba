package varve

import (
	"time"

	"varve/internal/raw"
)

// Transcript is what was said in a session, in order.
type Transcript struct{ session *Session }

// Transcript gives the session's transcript.
func (s *Session) Transcript() Transcript { return Transcript{session: s} }

// Turn is what somebody said.
type Turn struct {
	Role      string    `json:"role"`
	Content   string    `json:"content"`
	Timestamp time.Time `json:"timestamp"`
}

// Append appends what was said, with the present time.
func (t Transcript) Append(role, content string) error {
	return t.session.caller().run("Transcript.Append", func() *raw.Failure {
		return raw.TranscriptAppend(t.session.token, role, content)
	})
}

// Last gives the last turns, the oldest of them first: so many, or all when count is below 0.
func (t Transcript) Last(count int) (turns []Turn, err error) {
	text, err := t.session.caller().text("Transcript.Last",
		func() ([]byte, *raw.Failure) { return raw.TranscriptLast(t.session.token, countOf(count)) })
	if err != nil {
		return nil, err
	}
	err = decode("Transcript.Last", text, &turns)
	return turns, err
}
