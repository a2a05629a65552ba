package varve_test

import (
	"encoding/json"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"varve"
)

// filled gives documents that each have one field of a type, or of a struct in it, with a value that
// is not left out. One at a time: of several that it does not know the library names the first.
func filled(structure reflect.Type) map[string]any {
	documents := map[string]any{}
	for index := range structure.NumField() {
		field := structure.Field(index)
		if inner := field.Type; inner.Kind() == reflect.Struct && inner != reflect.TypeFor[time.Time]() {
			for name, document := range filled(inner) {
				value := reflect.New(structure).Elem()
				value.Field(index).Set(reflect.ValueOf(document))
				documents[field.Name+"."+name] = value.Interface()
			}
			continue
		}
		value := reflect.New(structure).Elem()
		fill(value.Field(index))
		documents[field.Name] = value.Interface()
	}
	return documents
}

func fill(value reflect.Value) {
	switch value.Kind() {
	case reflect.String:
		value.SetString("x")
	case reflect.Bool:
		value.SetBool(true)
	case reflect.Int, reflect.Int64:
		value.SetInt(1)
	case reflect.Float32, reflect.Float64:
		value.SetFloat(0.5)
	case reflect.Pointer:
		value.Set(reflect.New(value.Type().Elem()))
		fill(value.Elem())
	case reflect.Slice:
		value.Set(reflect.MakeSlice(value.Type(), 1, 1))
		fill(value.Index(0))
	case reflect.Map:
		value.Set(reflect.MakeMap(value.Type()))
		member := reflect.New(value.Type().Elem()).Elem()
		if member.Kind() != reflect.Interface {
			fill(member)
		}
		value.SetMapIndex(reflect.ValueOf("x"), member)
	case reflect.Struct:
		if value.Type() == reflect.TypeFor[time.Time]() {
			value.Set(reflect.ValueOf(time.Now()))
			return
		}
		for index := range value.NumField() {
			fill(value.Field(index))
		}
	}
}

// The library refuses a member that it does not know: a field with a wrong name could not be used.
func TestTheLibraryKnowsEveryFieldThatItIsGiven(t *testing.T) {
	store, session := inMemory(t)
	for _, given := range []struct {
		sample any
		call   func(document any) error
	}{
		{varve.Config{}, func(d any) error { _, err := varve.Open("memory:", d); return err }},
		{varve.SessionOptions{}, func(d any) error { _, err := store.CreateSession(d); return err }},
		{varve.SessionFilter{}, func(d any) error { _, err := store.Sessions(d); return err }},
		{varve.UsageFilter{}, func(d any) error { _, err := store.Usage(d); return err }},
		{varve.Query{}, func(d any) error { _, err := store.Query(d); return err }},
		{varve.VerifyOptions{}, func(d any) error { _, err := session.Verify(d); return err }},
		{varve.RepairOptions{}, func(d any) error { _, err := session.Repair(d); return err }},
		{varve.CompactOptions{}, func(d any) error { _, err := session.Compact(d); return err }},
		{varve.PurgeOptions{}, func(d any) error { _, err := session.Purge(d); return err }},
		{varve.MigrateOptions{}, func(d any) error { _, err := session.Migrate(d); return err }},
		{varve.ExportOptions{}, func(d any) error {
			_, err := session.ExportFile(filepath.Join(t.TempDir(), "x"), d)
			return err
		}},
		{varve.ImportOptions{}, func(d any) error { _, err := session.ImportFile("x", d); return err }},
		{varve.BackupOptions{}, func(d any) error { _, err := store.Backup(t.TempDir(), d); return err }},
		{varve.RestoreOptions{}, func(d any) error { _, err := store.Restore("x", d); return err }},
		{varve.MemoryOptions{}, func(d any) error { _, err := store.OpenMemory(d); return err }},
		{varve.ContextRequest{}, func(d any) error { _, err := session.BuildContext(d); return err }},
	} {
		structure := reflect.TypeOf(given.sample)
		for field, document := range filled(structure) {
			text, err := json.Marshal(document)
			if err != nil || string(text) == "{}" {
				t.Errorf("%v.%s is written as %s, %v", structure, field, text, err)
			}
			err = given.call(document)
			isUnknown := err != nil && strings.Contains(err.Error(), "is unknown")
			if isUnknown && !strings.Contains(err.Error(), ".x'") { // x is a name of our own, in maps
				t.Errorf("%v.%s: %v", structure, field, err)
			}
		}
	}
}

// A member of an entry that the library does not know is data.
func TestAnEntryExpiresAfterItsSeconds(t *testing.T) {
	store, session := inMemory(t)
	now := time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC)
	if err := store.SetClock(func() time.Time { return now }); err != nil {
		t.Fatal(err)
	}
	id := mustAdd(t, session, varve.Entry{Type: "finding", Content: "tea", TTLSeconds: 60,
		DecayFactor: varve.Importance(0.25)})
	entry, err := session.Get(id)
	if err != nil || !entry.ExpiresAt.Equal(now.Add(time.Minute)) || *entry.DecayFactor != 0.25 {
		t.Errorf("%+v, %v", entry, err)
	}
}
