package varve

import (
	"time"

	"varve/internal/raw"
)

// KV are a session's small facts by key. It keeps as many as its cap says, those set last.
type KV struct{ session *Session }

// KV gives the session's facts by key.
func (s *Session) KV() KV { return KV{session: s} }

// KeyValue is a key with its value, and when it was set.
type KeyValue struct {
	Key   string    `json:"key"`
	Value string    `json:"value"`
	SetAt time.Time `json:"ts"`
}

// Set sets a key, and moves it to the end when it is there.
func (k KV) Set(key, value string) error {
	return k.session.caller().run("KV.Set", func() *raw.Failure {
		return raw.KVSet(k.session.token, key, value)
	})
}

// Get gives the value of a key, or ErrNotFound.
func (k KV) Get(key string) (string, error) {
	text, err := k.session.caller().text("KV.Get",
		func() ([]byte, *raw.Failure) { return raw.KVGet(k.session.token, key) })
	return string(text), err
}

// Delete takes a key away; ErrNotFound when it was not there.
func (k KV) Delete(key string) error {
	return k.session.caller().run("KV.Delete", func() *raw.Failure {
		return raw.KVDelete(k.session.token, key)
	})
}

// List gives all keys, the one that was set longest ago first.
func (k KV) List() (list []KeyValue, err error) {
	text, err := k.session.caller().text("KV.List",
		func() ([]byte, *raw.Failure) { return raw.KVList(k.session.token) })
	if err != nil {
		return nil, err
	}
	err = decode("KV.List", text, &list)
	return list, err
}
