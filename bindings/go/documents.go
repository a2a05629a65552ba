package varve

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"unicode/utf8"
	"unsafe"
)

// encode gives the JSON text of a document that a caller gave; see the package's comment.
func encode(operation string, document any) (string, error) {
	switch given := document.(type) {
	case nil:
		return "", nil
	case string:
		return given, nil
	case []byte:
		return textOf(given), nil
	case json.RawMessage:
		return textOf(given), nil
	}
	text, err := json.Marshal(document)
	if err != nil {
		return "", encodeError(operation, err)
	}
	if string(text) == "null" {
		return "", refusal(ErrInvalidArgument, operation,
			"a %T that is nil is no document; for none give nil itself", document)
	}
	// encoding/json puts this in the place of bytes that are no UTF-8. Nobody would hear of it.
	if bytes.Contains(text, []byte(`\ufffd`)) {
		if place, ok := invalidText(reflect.ValueOf(document), "", 0); ok {
			return "", refusal(ErrInvalidArgument, operation,
				"a text is not UTF-8: %s", firstNonEmpty(place, "the value itself"))
		}
	}
	return textOf(text), nil
}

func encodeError(operation string, err error) error {
	refused := refusal(ErrInvalidArgument, operation, "the document cannot be encoded as JSON")
	refused.(*Error).cause = err
	return refused
}

func firstNonEmpty(texts ...string) string {
	for _, text := range texts {
		if text != "" {
			return text
		}
	}
	return ""
}

// invalidText finds a string that is not UTF-8, and says where it stands.
func invalidText(value reflect.Value, place string, depth int) (string, bool) {
	if !value.IsValid() || depth > 100 {
		return "", false
	}
	if value.CanInterface() { // an embedded struct may have no name here; its fields have
		if _, own := value.Interface().(json.Marshaler); own {
			return "", false // it answers for its own text
		}
	}
	switch value.Kind() {
	case reflect.String:
		return place, !utf8.ValidString(value.String())
	case reflect.Pointer, reflect.Interface:
		return invalidText(value.Elem(), place, depth+1)
	case reflect.Slice, reflect.Array:
		for index := range value.Len() {
			if found, ok := invalidText(value.Index(index),
				fmt.Sprintf("%s[%d]", place, index), depth+1); ok {
				return found, true
			}
		}
	case reflect.Map:
		for entries := value.MapRange(); entries.Next(); {
			key := fmt.Sprintf("%s.%q", place, entries.Key())
			if found, ok := invalidText(entries.Key(), key, depth+1); ok {
				return found, true
			}
			if found, ok := invalidText(entries.Value(), key, depth+1); ok {
				return found, true
			}
		}
	case reflect.Struct:
		for index := range value.NumField() {
			field := value.Type().Field(index)
			isWritten := field.IsExported() || field.Anonymous
			if !isWritten || field.Tag.Get("json") == "-" {
				continue
			}
			if found, ok := invalidText(value.Field(index), place+"."+field.Name, depth+1); ok {
				return found, true
			}
		}
	}
	return "", false
}

// textOf takes bytes that nobody changes any more as a string, without a copy.
func textOf(text []byte) string {
	return unsafe.String(unsafe.SliceData(text), len(text))
}

// decode reads a document of the library's. Numbers that have no type of their own stay exact. One
// odd value of somebody's hand must not hide all the others: what does not fit is read once more
// without it.
func decode(operation string, text []byte, into any) error {
	err := decodeAsIs(text, into)
	if err == nil {
		return nil
	}
	value := reflect.ValueOf(into).Elem()
	value.SetZero() // of what the first attempt left
	if err = decodeAsIs(fit(text, value.Type()), into); err == nil {
		return nil
	}
	return fmt.Errorf("varve: %s: the answer does not match %T: %w", operation, into, err)
}

func decodeAsIs(text []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	return decoder.Decode(into)
}

// Document keeps the whole text of an answer, with members that the struct around it has no field
// for.
type Document struct{ text json.RawMessage }

// JSON is the answer as the library gave it.
func (d Document) JSON() json.RawMessage { return d.text }

// String is JSON as a string.
func (d Document) String() string { return string(d.text) }

func (d *Document) keep(text []byte) { d.text = text }

// answer is a pointer to a struct with a Document in it.
type answer[T any] interface {
	*T
	keep(text []byte)
}

func decodeAnswer[T any, P answer[T]](operation string, text []byte) (*T, error) {
	var value T
	if err := decode(operation, text, &value); err != nil {
		return nil, err
	}
	P(&value).keep(text)
	return &value, nil
}
