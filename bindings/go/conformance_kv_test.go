package varve_test

import (
	"varve"
)

func init() { register(kvOperations) }

// Operations of keys and transcripts.
var kvOperations = map[string]operation{
	"kv_set": withSession(func(s *varve.Session, a *arguments) (any, error) {
		return nil, s.KV().Set(a.text("key"), a.text("value"))
	}),
	"kv_get": withSession(func(s *varve.Session, a *arguments) (any, error) {
		return valueOf(s.KV().Get(a.text("key")))
	}),
	"kv_delete": withSession(func(s *varve.Session, a *arguments) (any, error) {
		return nil, s.KV().Delete(a.text("key"))
	}),
	"kv_list": withSession(func(s *varve.Session, _ *arguments) (any, error) {
		return valueOf(s.KV().List())
	}),
	"transcript_append": withSession(func(s *varve.Session, a *arguments) (any, error) {
		return nil, s.Transcript().Append(a.text("role"), a.text("content"))
	}),
	"transcript_last": withSession(func(s *varve.Session, a *arguments) (any, error) {
		return valueOf(s.Transcript().Last(a.count("n")))
	}),
}
