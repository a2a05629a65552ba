package varve_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"varve"
)

// seenMembers tells for each field that an answer is read into whether some answer had its member: a
// field whose name is wrong is always empty, and nobody would be told.
type seenMembers map[string]bool

var answered = seenMembers{}

// note looks at an answer, and at what is in it, in the way in which it is read into the type.
func (s seenMembers) note(into reflect.Type, text json.RawMessage) {
	switch into.Kind() {
	case reflect.Pointer:
		s.note(into.Elem(), text)
	case reflect.Slice:
		var items []json.RawMessage
		if json.Unmarshal(text, &items) == nil {
			for _, item := range items {
				s.note(into.Elem(), item)
			}
		}
	case reflect.Map:
		var members map[string]json.RawMessage
		if json.Unmarshal(text, &members) == nil {
			for _, member := range members {
				s.note(into.Elem(), member)
			}
		}
	case reflect.Struct:
		if into == reflect.TypeFor[varve.Entry]() {
			return
		}
		var members map[string]json.RawMessage
		if json.Unmarshal(text, &members) == nil {
			s.noteFields(into, members)
		}
	}
}

func (s seenMembers) noteFields(into reflect.Type, members map[string]json.RawMessage) {
	for _, field := range reflect.VisibleFields(into) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		_, ofEntry := reflect.TypeFor[varve.Entry]().FieldByName(field.Name)
		if name == "" || ofEntry && into.Field(0).Type == reflect.TypeFor[varve.Entry]() {
			continue // an entry has what it was given
		}
		member, isThere := members[name]
		place := into.String() + "." + name
		s[place] = s[place] || isThere
		s.note(field.Type, member)
	}
}

func (s seenMembers) check(t *testing.T) {
	t.Helper()
	var never []string
	for place, seen := range s {
		// These two have tests of their own.
		if !seen && place != "varve.ImportReport.exceeds_limit" && place != "varve.ImportReport.evicted" {
			never = append(never, place)
		}
	}
	slices.Sort(never)
	if len(never) > 0 || len(s) < 100 {
		t.Errorf("of %d members no answer had these: %v", len(s), never)
	}
}
