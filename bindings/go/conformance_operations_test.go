package varve_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"
	"sync/atomic"
	"time"

	"varve"
)

// The operations of conformance cases, each by the public method that a user would call.

// arguments hands out a step's arguments, and notices those that nobody asked for.
type arguments struct {
	run     *caseRun
	given   map[string]any
	used    map[string]bool
	problem error
}

func (a *arguments) take(name string) any {
	a.used[name] = true
	return a.given[name]
}

func (a *arguments) text(name string) string {
	text, ok := a.take(name).(string)
	if !ok && a.given[name] != nil {
		a.problem = fmt.Errorf("%s is not a text", name)
	}
	return text
}

// document is what a user would give: Go values, or text as it is.
func (a *arguments) document(name string) any {
	given := a.take(name)
	if object, ok := given.(map[string]any); ok && len(object) == 1 {
		if text, ok := object["$text"].(string); ok {
			return text
		}
	}
	return given
}

func (a *arguments) number(name string) int {
	number, ok := a.take(name).(json.Number)
	value, err := number.Int64()
	if !ok || err != nil {
		a.problem = fmt.Errorf("%s is not a number", name)
	}
	return int(value)
}

// numberOr is the usual number where none is given.
func (a *arguments) numberOr(name string, usual int) int {
	if _, given := a.given[name]; !given {
		return usual
	}
	return a.number(name)
}

// count is a number of things; none given, or the largest size_t, stands for all.
func (a *arguments) count(name string) int {
	if _, given := a.given[name]; !given {
		return -1
	}
	if number, _ := a.given[name].(json.Number); number == "18446744073709551615" {
		a.used[name] = true
		return -1
	}
	return a.number(name)
}

func handleOf[T any](a *arguments, name string) (handle T) {
	variable, _ := a.take(name).(string)
	kept, _ := a.run.variables[variable].(saved)
	handle, ok := kept.handle.(T)
	if !ok {
		a.problem = fmt.Errorf("%s: %q keeps no %T", name, variable, handle)
	}
	return handle
}

type operation func(a *arguments) (value, handle any, err error)

// withStore and withSession are operations that give a value.
func withStore(call func(s *varve.Store, a *arguments) (any, error)) operation {
	return func(a *arguments) (any, any, error) {
		store := handleOf[*varve.Store](a, "store")
		if a.problem != nil {
			return nil, nil, nil
		}
		value, err := call(store, a)
		return value, nil, err
	}
}

func withSession(call func(s *varve.Session, a *arguments) (any, error)) operation {
	return func(a *arguments) (any, any, error) {
		session := handleOf[*varve.Session](a, "session")
		if a.problem != nil {
			return nil, nil, nil
		}
		value, err := call(session, a)
		return value, nil, err
	}
}

func withResults(call func(r *varve.Results, a *arguments) (any, error)) operation {
	return func(a *arguments) (any, any, error) {
		results := handleOf[*varve.Results](a, "results")
		if a.problem != nil {
			return nil, nil, nil
		}
		value, err := call(results, a)
		return value, nil, err
	}
}

// report is a document that a method answers with.
type report interface{ JSON() json.RawMessage }

func documentOf[T report](answer T, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	answered.note(reflect.TypeFor[T](), answer.JSON())
	return answer.JSON(), nil
}

// valueOf keeps the zero values of a failed call away.
func valueOf[T any](value T, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return value, nil
}

func opened[T any](handle T, err error) (any, any, error) {
	if err != nil {
		return nil, nil, err
	}
	return nil, handle, nil
}

func found(results *varve.Results, err error) (any, any, error) {
	if err != nil {
		return nil, nil, err
	}
	if _, err := results.Page(); err != nil { // every answer also fits the typed form
		return nil, nil, err
	}
	text, err := results.JSON()
	answered.note(reflect.TypeFor[varve.Page[varve.Entry]](), text)
	return text, results, err
}

// operations are all there are, by name; each file adds its own.
var operations = map[string]operation{}

func register(group map[string]operation) {
	for name, operation := range group {
		if operations[name] != nil {
			panic("two operations are named " + name)
		}
		operations[name] = operation
	}
}

func init() {
	register(libraryOperations)
	register(storeOperations)
	register(sessionOperations)
	register(entryOperations)
	register(maintenanceOperations)
	register(callbackOperations)
}

var libraryOperations = map[string]operation{
	"abi_version": func(*arguments) (any, any, error) {
		version, err := varve.ABIVersion()
		return version, nil, err
	},
	"version": func(*arguments) (any, any, error) {
		version, err := varve.Version()
		return version, nil, err
	},
	"status_name": func(a *arguments) (any, any, error) {
		return varve.Status(a.number("status")).Name(), nil, nil
	},
	"file_write":   fileWrite,
	"file_read":    fileRead,
	"file_replace": fileReplace,
}

var storeOperations = map[string]operation{
	"store_open": func(a *arguments) (any, any, error) {
		return opened(varve.Open(a.text("uri"), a.document("config_json")))
	},
	"store_close": withStore(func(s *varve.Store, _ *arguments) (any, error) { return nil, s.Close() }),
	"store_sync":  withStore(func(s *varve.Store, _ *arguments) (any, error) { return nil, s.Sync() }),
	"store_sessions": withStore(func(s *varve.Store, a *arguments) (any, error) {
		return documentOf(s.Sessions(a.document("filter_json")))
	}),
	"store_delete_session": withStore(func(s *varve.Store, a *arguments) (any, error) {
		return nil, s.DeleteSession(a.text("id"))
	}),
	"store_query": func(a *arguments) (any, any, error) {
		store := handleOf[*varve.Store](a, "store")
		if a.problem != nil {
			return nil, nil, nil
		}
		return found(store.Query(a.document("query_json")))
	},
	"store_backup": withStore(func(s *varve.Store, a *arguments) (any, error) {
		return documentOf(s.Backup(a.text("path"), a.document("options_json")))
	}),
	"store_restore": withStore(func(s *varve.Store, a *arguments) (any, error) {
		return documentOf(s.Restore(a.text("path"), a.document("options_json")))
	}),
	"store_sweep": withStore(func(s *varve.Store, _ *arguments) (any, error) {
		return documentOf(s.Sweep())
	}),
	"store_stats": withStore(func(s *varve.Store, _ *arguments) (any, error) {
		return documentOf(s.Stats())
	}),
	"store_metrics": withStore(func(s *varve.Store, _ *arguments) (any, error) {
		return valueOf(s.Metrics())
	}),
}

var sessionOperations = map[string]operation{
	"session_create": func(a *arguments) (any, any, error) {
		store := handleOf[*varve.Store](a, "store")
		if a.problem != nil {
			return nil, nil, nil
		}
		return opened(store.CreateSession(a.document("options_json")))
	},
	"session_open": func(a *arguments) (any, any, error) {
		store := handleOf[*varve.Store](a, "store")
		if a.problem != nil {
			return nil, nil, nil
		}
		return opened(store.OpenSession(a.text("id")))
	},
	"session_close": withSession(func(s *varve.Session, _ *arguments) (any, error) {
		return nil, s.Close()
	}),
	"session_sync": withSession(func(s *varve.Session, _ *arguments) (any, error) {
		return nil, s.Sync()
	}),
	"session_id": withSession(func(s *varve.Session, _ *arguments) (any, error) {
		return s.ID(), nil
	}),
	"session_metadata": withSession(func(s *varve.Session, _ *arguments) (any, error) {
		return documentOf(s.Metadata())
	}),
	"session_update": withSession(func(s *varve.Session, a *arguments) (any, error) {
		return nil, s.Update(a.document("patch_json"))
	}),
	"session_stats": withSession(func(s *varve.Session, _ *arguments) (any, error) {
		return documentOf(s.Stats())
	}),
	"session_files": withSession(func(s *varve.Session, _ *arguments) (any, error) {
		return documentOf(s.Files())
	}),
	"session_tags": withSession(func(s *varve.Session, _ *arguments) (any, error) {
		return documentOf(s.Tags())
	}),
	"session_index": withSession(func(s *varve.Session, _ *arguments) (any, error) {
		return documentOf(s.Index())
	}),
}

var entryOperations = map[string]operation{
	"session_add": withSession(func(s *varve.Session, a *arguments) (any, error) {
		return valueOf(s.Add(a.document("entry_json")))
	}),
	"session_add_batch": withSession(func(s *varve.Session, a *arguments) (any, error) {
		return valueOf(s.AddBatch(a.document("entries")))
	}),
	"session_get": withSession(func(s *varve.Session, a *arguments) (any, error) {
		return valueOf(s.GetRaw(a.text("id")))
	}),
	"session_delete": withSession(func(s *varve.Session, a *arguments) (any, error) {
		return nil, s.Delete(a.text("id"), a.text("reason"))
	}),
	"session_delete_where": withSession(func(s *varve.Session, a *arguments) (any, error) {
		return valueOf(s.DeleteWhere(a.document("query_json"), a.text("reason")))
	}),
	"session_query": func(a *arguments) (any, any, error) {
		session := handleOf[*varve.Session](a, "session")
		if a.problem != nil {
			return nil, nil, nil
		}
		return found(session.Query(a.document("query_json")))
	},
	"session_count": withSession(func(s *varve.Session, a *arguments) (any, error) {
		return valueOf(s.Count(a.document("query_json")))
	}),
	"results_count": withResults(func(r *varve.Results, _ *arguments) (any, error) {
		return r.Count(), nil
	}),
	"results_json": withResults(func(r *varve.Results, _ *arguments) (any, error) {
		return valueOf(r.JSON())
	}),
	"results_entry": withResults(func(r *varve.Results, a *arguments) (any, error) {
		return valueOf(r.Entry(a.number("index")))
	}),
	"results_score": withResults(func(r *varve.Results, a *arguments) (any, error) {
		return valueOf(r.Score(a.number("index")))
	}),
	"results_next": withResults(func(r *varve.Results, _ *arguments) (any, error) {
		cursor, err := r.Next()
		if cursor == "" {
			return nil, err
		}
		return cursor, err
	}),
	"results_free": withResults(func(r *varve.Results, _ *arguments) (any, error) {
		return nil, r.Close()
	}),
}

var maintenanceOperations = map[string]operation{
	"session_verify": withSession(func(s *varve.Session, a *arguments) (any, error) {
		return documentOf(s.Verify(a.document("options_json")))
	}),
	"session_repair": withSession(func(s *varve.Session, a *arguments) (any, error) {
		return documentOf(s.Repair(a.document("options_json")))
	}),
	"session_compact": withSession(func(s *varve.Session, a *arguments) (any, error) {
		return documentOf(s.Compact(a.document("options_json")))
	}),
	"session_purge": withSession(func(s *varve.Session, a *arguments) (any, error) {
		return documentOf(s.Purge(a.document("options_json")))
	}),
	"session_migrate": withSession(func(s *varve.Session, a *arguments) (any, error) {
		return documentOf(s.Migrate(a.document("options_json")))
	}),
	"session_rebuild_index": withSession(func(s *varve.Session, a *arguments) (any, error) {
		return documentOf(s.RebuildIndex(a.document("options_json")))
	}),
	"session_export": withSession(func(s *varve.Session, a *arguments) (any, error) {
		var text bytes.Buffer
		if _, err := s.Export(&text, a.document("format")); err != nil {
			return nil, err
		}
		return text.String(), nil
	}),
	"session_import": withSession(func(s *varve.Session, a *arguments) (any, error) {
		return documentOf(s.Import(strings.NewReader(a.text("jsonl"))))
	}),
	"session_export_file": withSession(func(s *varve.Session, a *arguments) (any, error) {
		return documentOf(s.ExportFile(a.text("path"), a.document("options_json")))
	}),
	"session_import_file": withSession(func(s *varve.Session, a *arguments) (any, error) {
		return documentOf(s.ImportFile(a.text("path"), a.document("options_json")))
	}),
}

type fakeClock struct{ nowMS atomic.Int64 }

var callbackOperations = map[string]operation{
	"clock": withStore(func(s *varve.Store, a *arguments) (any, error) {
		nowMS := int64(a.number("now_ms"))
		if clock, ok := a.run.clocks[s]; ok {
			clock.nowMS.Store(nowMS)
			return nil, nil
		}
		clock := &fakeClock{}
		clock.nowMS.Store(nowMS)
		a.run.clocks[s] = clock
		return nil, s.SetClock(func() time.Time { return time.UnixMilli(clock.nowMS.Load()) })
	}),
	"store_set_clock": withStore(func(s *varve.Store, a *arguments) (any, error) {
		delete(a.run.clocks, s)
		return nil, s.SetClock(nil)
	}),
	"store_set_log": withStore(func(s *varve.Store, a *arguments) (any, error) {
		lines := &[]any{}
		a.run.lines[s] = lines
		return nil, s.SetLog(varve.LogLevel(a.number("level")),
			func(level varve.LogLevel, line json.RawMessage) {
				*lines = append(*lines, map[string]any{"level": level, "line": line})
			})
	}),
	"log_lines": withStore(func(s *varve.Store, a *arguments) (any, error) {
		if a.run.lines[s] == nil {
			return nil, errors.New("no store_set_log before")
		}
		return *a.run.lines[s], nil
	}),
	"session_set_progress": withSession(func(s *varve.Session, a *arguments) (any, error) {
		switch answer := a.take("answer"); answer {
		case nil:
			return nil, s.SetProgress(nil)
		case "go_on":
			return nil, s.SetProgress(func(varve.Progress) error { return nil })
		case "stop":
			return nil, s.SetProgress(func(varve.Progress) error { return errors.New("stopped") })
		default:
			a.problem = fmt.Errorf("an answer that this runner does not know: %v", answer)
		}
		return nil, nil
	}),
}

func fileWrite(a *arguments) (any, any, error) {
	return nil, nil, os.WriteFile(a.text("path"), []byte(a.text("text")), 0o600)
}

func fileRead(a *arguments) (any, any, error) {
	text, err := os.ReadFile(a.text("path"))
	return string(text), nil, err
}

func fileReplace(a *arguments) (any, any, error) {
	path, find, replace := a.text("path"), a.text("find"), a.text("replace")
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, err
	}
	if !bytes.Contains(text, []byte(find)) {
		return nil, nil, fmt.Errorf("no %q in %s", find, path)
	}
	changed := bytes.Replace(text, []byte(find), []byte(replace), 1)
	return nil, nil, os.WriteFile(path, changed, 0o600)
}
