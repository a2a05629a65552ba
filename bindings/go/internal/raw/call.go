package raw

import (
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/ebitengine/purego"
)

// Failure is a status other than VARVE_OK with what its error object told.
type Failure struct {
	Status  Status
	Message string
	Details string // a JSON object
}

// call calls a C function. Arguments are pointers into Go memory or numbers; the directive keeps
// what they point to where it is, and alive, until the function has returned.
//
//go:uintptrescapes
func call(function uintptr, arguments ...uintptr) uintptr {
	answer, _, _ := purego.SyscallN(function, arguments...)
	return answer
}

// failureOf turns a status and its error object into a Failure, and frees the object.
func failureOf(status Status, errorObject Error) *Failure {
	if status == OK {
		return nil
	}
	failure := &Failure{Status: status, Details: "{}"}
	if errorObject == 0 {
		failure.Message = StatusName(status)
		return failure
	}
	failure.Message = ErrorMessage(errorObject)
	failure.Details = ErrorDetails(errorObject)
	ErrorFree(errorObject)
	return failure
}

// textData is where a text begins; NULL for the empty one.
func textData(text string) *byte {
	if text == "" {
		return nil
	}
	return unsafe.StringData(text)
}

func textOf(text *byte, length uint) string {
	if text == nil {
		return ""
	}
	return string(unsafe.Slice(text, length))
}

func textUntilNUL(text *byte) string {
	if text == nil {
		return ""
	}
	length := uint(0)
	for *(*byte)(unsafe.Add(unsafe.Pointer(text), length)) != 0 {
		length++
	}
	return textOf(text, length)
}

// pointerOf takes an address of C's for what it is: nothing that Go would move.
func pointerOf(address uintptr) *byte {
	return *(**byte)(unsafe.Pointer(&address))
}

// copyText copies a text that is borrowed from the library; nil when there is none.
func copyText(text *byte, length uint) []byte {
	if text == nil {
		return nil
	}
	return append(make([]byte, 0, length), unsafe.Slice(text, length)...)
}

// takeText copies a text that the library gave away, and frees it.
func takeText(text *byte, length uint) []byte {
	copied := copyText(text, length)
	if text != nil {
		Free(text)
	}
	return copied
}

var (
	functions    sync.Map // user_data: the Go function
	lastUserData atomic.Uintptr
)

// Register makes a Go function known to its type's trampoline under a new user_data. C function
// pointers cannot be given back, so there is one for each type, and this for each registration.
func Register(function any) (userData uintptr) {
	userData = lastUserData.Add(1)
	functions.Store(userData, function)
	return userData
}

// Release forgets a registered function. Its trampoline then does nothing and answers 0.
func Release(userData uintptr) {
	functions.Delete(userData)
}

// RegisteredCount tells how many functions are registered.
func RegisteredCount() (count int) {
	functions.Range(func(_, _ any) bool {
		count++
		return true
	})
	return count
}

func registered(userData uintptr) any {
	function, _ := functions.Load(userData)
	return function
}
