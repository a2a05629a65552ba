package varve_test

import (
	"encoding/json"

	"varve"
)

func init() { register(windowOperations) }

// Operations of windows and memories, and of usage.
var windowOperations = map[string]operation{
	"window_new": func(a *arguments) (any, any, error) {
		return opened(varve.NewWindow(a.number("capacity")))
	},
	"window_add": withWindow(func(w *varve.Window, a *arguments) (any, error) {
		return nil, w.Add(a.document("entry_json"))
	}),
	"window_recent": withWindow(func(w *varve.Window, a *arguments) (any, error) {
		return valueOf(varve.RecentAs[json.RawMessage](w, a.count("n")))
	}),
	"window_text": withWindow(func(w *varve.Window, _ *arguments) (any, error) {
		return valueOf(w.Text())
	}),
	"window_clear": withWindow(func(w *varve.Window, _ *arguments) (any, error) {
		return nil, w.Clear()
	}),
	"window_size": withWindow(func(w *varve.Window, _ *arguments) (any, error) {
		return w.Size(), nil
	}),
	"window_free": withWindow(func(w *varve.Window, _ *arguments) (any, error) {
		return nil, w.Close()
	}),
	"memory_open": func(a *arguments) (any, any, error) {
		store := handleOf[*varve.Store](a, "store")
		if a.problem != nil {
			return nil, nil, nil
		}
		return opened(store.OpenMemory(a.document("options_json")))
	},
	"memory_record": withMemory(func(m *varve.Memory, a *arguments) (any, error) {
		return valueOf(m.Record(a.text("session_id"), a.document("entry_json")))
	}),
	"memory_context": withMemory(func(m *varve.Memory, a *arguments) (any, error) {
		return documentOf(m.Context(a.text("session_id"), uint64(a.numberOr("max_tokens", 0))))
	}),
	"memory_load": withMemory(func(m *varve.Memory, a *arguments) (any, error) {
		return nil, m.Load(a.text("session_id"))
	}),
	"memory_save": withMemory(func(m *varve.Memory, a *arguments) (any, error) {
		return nil, m.Save(a.text("session_id"))
	}),
	"memory_clear": withMemory(func(m *varve.Memory, _ *arguments) (any, error) {
		return nil, m.Clear()
	}),
	"memory_store": withMemory(func(m *varve.Memory, a *arguments) (any, error) {
		return valueOf(m.Store(a.document("entry_json")))
	}),
	"memory_search": func(a *arguments) (any, any, error) {
		memory := handleOf[*varve.Memory](a, "memory")
		if a.problem != nil {
			return nil, nil, nil
		}
		return found(memory.Query(a.document("query_json")))
	},
	"memory_delete": withMemory(func(m *varve.Memory, a *arguments) (any, error) {
		return nil, m.Delete(a.text("id"), a.text("reason"))
	}),
	"memory_close": withMemory(func(m *varve.Memory, _ *arguments) (any, error) {
		return nil, m.Close()
	}),
	"store_usage": withStore(func(s *varve.Store, a *arguments) (any, error) {
		return documentOf(s.Usage(a.document("filter_json")))
	}),
}

func withWindow(call func(w *varve.Window, a *arguments) (any, error)) operation {
	return func(a *arguments) (any, any, error) {
		window := handleOf[*varve.Window](a, "window")
		if a.problem != nil {
			return nil, nil, nil
		}
		value, err := call(window, a)
		return value, nil, err
	}
}

func withMemory(call func(m *varve.Memory, a *arguments) (any, error)) operation {
	return func(a *arguments) (any, any, error) {
		memory := handleOf[*varve.Memory](a, "memory")
		if a.problem != nil {
			return nil, nil, nil
		}
		value, err := call(memory, a)
		return value, nil, err
	}
}
