package varve

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// fitMembersOf are the structs of documents that somebody may have written by hand. The library
// takes members that it does not use itself as they are, so these may have values of any kind.
var fitMembersOf = map[reflect.Type]bool{
	reflect.TypeFor[Entry]():       true,
	reflect.TypeFor[MemoryEntry](): true,
	reflect.TypeFor[Message]():     true,
	reflect.TypeFor[SessionInfo](): true,
	reflect.TypeFor[Metadata]():    true,
}

var (
	timeType        = reflect.TypeFor[time.Time]()
	unmarshalerType = reflect.TypeFor[json.Unmarshaler]()
)

// fit gives a JSON text as a type can read it: moments and whole numbers in the only form that
// time.Time and integers take, and without the members of hand-made documents that do not fit their
// fields.
func fit(text json.RawMessage, into reflect.Type) json.RawMessage {
	switch {
	case into == timeType:
		return fitTime(text)
	case reflect.PointerTo(into).Implements(unmarshalerType):
		return text
	case into.Kind() == reflect.Pointer:
		return fit(text, into.Elem())
	case into.Kind() == reflect.Int || into.Kind() == reflect.Int64:
		return fitWhole(text)
	case into.Kind() == reflect.Slice:
		var items []json.RawMessage
		if json.Unmarshal(text, &items) != nil {
			return text
		}
		for index := range items {
			items[index] = fit(items[index], into.Elem())
		}
		return textOr(text, items)
	case into.Kind() == reflect.Struct:
		var members map[string]json.RawMessage
		if json.Unmarshal(text, &members) != nil {
			return text
		}
		fitMembers(members, into)
		return textOr(text, members)
	}
	return text
}

// fitMembers fits each member to its field, those of embedded structs included. One that has no
// room there is taken out when the field is of a hand-made document.
func fitMembers(members map[string]json.RawMessage, into reflect.Type) {
	for _, field := range reflect.VisibleFields(into) {
		if field.Anonymous || !field.IsExported() {
			continue
		}
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		for member, value := range members {
			if !strings.EqualFold(member, name) { // encoding/json, too, takes SEQ for seq
				continue
			}
			members[member] = fit(value, field.Type)
			if fitMembersOf[owner(into, field)] && !fits(members[member], field.Type) {
				delete(members, member)
			}
		}
	}
}

// owner is the struct that a field is declared in.
func owner(structure reflect.Type, field reflect.StructField) reflect.Type {
	for _, index := range field.Index[:len(field.Index)-1] {
		structure = structure.Field(index).Type
		if structure.Kind() == reflect.Pointer {
			structure = structure.Elem()
		}
	}
	return structure
}

func fits(text json.RawMessage, into reflect.Type) bool {
	return json.Unmarshal(text, reflect.New(into).Interface()) == nil
}

// textOr is the JSON text of a value, or the text before.
func textOr(before json.RawMessage, value any) json.RawMessage {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false) // a json.RawMessage gets what stands there
	if encoder.Encode(value) != nil {
		return before
	}
	return text.Bytes()
}

// fitWhole writes 1.0 and 1e0 as 1, as far as a double is sure of each integer.
func fitWhole(text json.RawMessage) json.RawMessage {
	const sureUpTo = 1 << 53
	number, err := strconv.ParseFloat(string(text), 64)
	if err != nil || number != math.Trunc(number) || math.Abs(number) >= sureUpTo {
		return text
	}
	return strconv.AppendInt(nil, int64(number), 10)
}

func fitTime(text json.RawMessage) json.RawMessage {
	var given string
	if json.Unmarshal(text, &given) != nil {
		return text
	}
	moment, err := parseTime(given)
	if err != nil {
		return text
	}
	return textOr(text, moment)
}

// parseTime reads a moment as the library does: RFC 3339, which allows small letters and a blank
// for the T. Of a leap second the library makes the last millisecond before it.
func parseTime(text string) (time.Time, error) {
	const date, untilSecond, untilFraction = len("2006-01-02"), len("2006-01-02T15:04:"),
		len("2006-01-02T15:04:05")
	if len(text) > untilFraction {
		text = strings.ToUpper(text)
		if text[date] == ' ' {
			text = text[:date] + "T" + text[date+1:]
		}
		if text[untilSecond:untilFraction] == "60" {
			text = text[:untilSecond] + "59.999" + strings.TrimLeft(text[untilFraction:], ".0123456789")
		}
	}
	return time.Parse(time.RFC3339Nano, text)
}
