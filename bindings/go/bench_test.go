package varve_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/ebitengine/purego"

	"varve"
	"varve/internal/raw"
)

// The cost targets, each as a pair: a call of this package against the same C function through
// purego alone, and a query's answer as Go values against encoding/json's parse of its bytes.
//
//	go test -run NONE -bench . -benchtime 2s

// rawSession is a session opened past this package, for what purego costs alone.
func rawSession(b *testing.B) raw.Session {
	b.Helper()
	store, failure := raw.StoreOpen("memory:", "")
	if failure != nil {
		b.Fatal(failure)
	}
	b.Cleanup(func() { raw.StoreClose(store) })
	session, failure := raw.SessionCreate(store, "")
	if failure != nil {
		b.Fatal(failure)
	}
	return session
}

func library(b *testing.B) uintptr {
	b.Helper()
	if _, err := varve.Version(); err != nil {
		b.Fatal(err)
	}
	handle, err := purego.Dlopen(varve.LibraryPath(), purego.RTLD_NOW)
	if err != nil {
		b.Fatal(err)
	}
	return handle
}

// The least that a call can cost: a C function that returns a constant.
func BenchmarkCallPuregoConstant(b *testing.B) {
	address, err := purego.Dlsym(library(b), "varve_abi_version")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		purego.SyscallN(address)
	}
}

func BenchmarkCallPuregoRegisteredConstant(b *testing.B) {
	var version func() uint32
	purego.RegisterLibFunc(&version, library(b), "varve_abi_version")
	for b.Loop() {
		version()
	}
}

func BenchmarkCallVarveConstant(b *testing.B) {
	for b.Loop() {
		if _, err := varve.ABIVersion(); err != nil {
			b.Fatal(err)
		}
	}
}

// A call with a handle, a text, a number out and an error out.
func BenchmarkCallPuregoCount(b *testing.B) {
	var count func(raw.Session, *byte, uintptr, *uint64, *uintptr) int32
	purego.RegisterLibFunc(&count, library(b), "varve_session_count")
	session, query := rawSession(b), []byte("{}")
	for b.Loop() {
		var found uint64
		var failure uintptr
		if count(session, &query[0], uintptr(len(query)), &found, &failure) != 0 {
			b.Fatal("it failed")
		}
	}
}

// The same through the generated layer, which does not pay for reflection.
func BenchmarkCallRawCount(b *testing.B) {
	session := rawSession(b)
	for b.Loop() {
		if _, failure := raw.SessionCount(session, "{}"); failure != nil {
			b.Fatal(failure)
		}
	}
}

func BenchmarkCallVarveCount(b *testing.B) {
	_, session := inMemory(b)
	for b.Loop() {
		if _, err := session.Count("{}"); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCallVarveCountUnderAContext(b *testing.B) {
	_, session := inMemory(b)
	session = session.WithContext(b.Context())
	for b.Loop() {
		if _, err := session.Count("{}"); err != nil {
			b.Fatal(err)
		}
	}
}

// A hundred results of some 550 bytes.
func queried(b *testing.B) *varve.Session {
	b.Helper()
	_, session := inMemory(b)
	for index := range 100 {
		mustAdd(b, session, map[string]any{"type": "finding", "importance": 0.7,
			"tags": []string{"drinks", "people.ann"}, "references": []string{"other"},
			"content": map[string]any{"role": "user", "n": index, "message": fmt.Sprintf(
				"Tea number %d in the morning, at nine, and not coffee", index)}})
	}
	return session
}

func BenchmarkQueryEncodingJSON(b *testing.B) {
	results, err := queried(b).Query(nil)
	if err != nil {
		b.Fatal(err)
	}
	text, err := results.JSON()
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		var parsed any
		if err := json.Unmarshal(text, &parsed); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkQueryVarve(b *testing.B) {
	session := queried(b)
	for b.Loop() {
		count := 0
		for _, err := range session.Find(varve.Query{Limit: 100}) {
			if err != nil {
				b.Fatal(err)
			}
			count++
		}
		if count != 100 {
			b.Fatal(count)
		}
	}
}

func BenchmarkAddInMemory(b *testing.B) {
	_, session := inMemory(b)
	entry := varve.Entry{Type: "finding", Content: "tea, not coffee", Tags: []string{"drinks"}}
	for b.Loop() {
		if _, err := session.Add(entry); err != nil {
			expectError(b, err, varve.ErrSizeLimit)
			_, session = inMemory(b)
		}
	}
}
