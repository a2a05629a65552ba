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

// withoutField has the members of answers that are read into no field.
var withoutField = map[string]bool{}

// mayHaveOthers has the types of which an answer may have other members: those that somebody chose,
// and those that the type's own UnmarshalJSON reads.
var mayHaveOthers = map[reflect.Type]bool{
	reflect.TypeFor[varve.Metadata](): true, reflect.TypeFor[varve.Metric](): true,
}

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
	isOfEntry := into.Field(0).Type == reflect.TypeFor[varve.Entry]()
	known := map[string]bool{}
	for _, field := range reflect.VisibleFields(into) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		_, ofEntry := reflect.TypeFor[varve.Entry]().FieldByName(field.Name)
		known[name] = true
		if name == "" || ofEntry && isOfEntry {
			continue // an entry has what it was given
		}
		member, isThere := members[name]
		place := into.String() + "." + name
		s[place] = s[place] || isThere
		s.note(field.Type, member)
	}
	for name := range members {
		if !known[name] && !isOfEntry && !mayHaveOthers[into] {
			withoutField[into.String()+"."+name] = true
		}
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
	if len(withoutField) > 0 {
		t.Errorf("no field has these members of answers: %v", withoutField)
	}
}
