package varve

import (
	"runtime"
	"testing"

	"varve/internal/raw"
)

func TestTheLeakNetClosesMemoriesAndWindows(t *testing.T) {
	store, err := Open("memory:", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	memory, err := store.OpenMemory(nil)
	if err != nil {
		t.Fatal(err)
	}
	window, err := NewWindow(1)
	if err != nil {
		t.Fatal(err)
	}
	memoryToken, windowToken := memory.token, window.token
	runtime.GC()
	if memory.Clear() != nil || window.Clear() != nil {
		t.Fatal("a handle in use was closed")
	}
	gone(t, "Memory", func() bool { return raw.MemoryClear(memoryToken) != nil })
	gone(t, "Window", func() bool { return raw.WindowClear(windowToken) != nil })
}
