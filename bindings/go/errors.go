package varve

import (
	"encoding/json"
	"fmt"
	"syscall"

	"varve/internal/raw"
)

// Status is the outcome of a call as a number. Each but success is an error to compare with:
// errors.Is(err, varve.ErrNotFound).
type Status int32

// Error is the status's name, as in VARVE_NOT_FOUND.
func (s Status) Error() string { return s.Name() }

// Name is the name by which the documentation calls the status.
func (s Status) Name() string {
	if name, ok := statusNames[s]; ok {
		return name
	}
	return "VARVE_UNKNOWN_STATUS"
}

// Error is a failure that the library reported.
type Error struct {
	Status    Status
	Operation string // of this package, as in "Session.Add"
	Message   string // one line for a person: what went wrong and, where it helps, what to do
	details   string
	cause     error // a callback's error, or why the context is done
}

// Details is the place of a failure; what does not apply is nil or empty.
type Details struct {
	Path   string `json:"path"`
	Member string `json:"member"`
	Offset *int64 `json:"offset"`
	Line   *int64 `json:"line"`
	Size   *int64 `json:"size"`
	Limit  *int64 `json:"limit"`
	Errno  *int64 `json:"errno"`
}

func (e *Error) Error() string {
	text := fmt.Sprintf("varve: %s: %s (%s)", e.Operation, e.Message, e.Status.Name())
	if e.cause != nil {
		text += ": " + e.cause.Error()
	}
	return text
}

// Unwrap gives the status, and where there are such the callback's own error, the context's, and
// the syscall.Errno.
func (e *Error) Unwrap() []error {
	causes := []error{e.Status}
	if e.cause != nil {
		causes = append(causes, e.cause)
	}
	if errno := e.Details().Errno; errno != nil {
		causes = append(causes, syscall.Errno(*errno))
	}
	return causes
}

// Details is where it went wrong.
func (e *Error) Details() (details Details) {
	// The library's own object: should it not fit, what was read of it is what there is.
	_ = json.Unmarshal([]byte(e.details), &details)
	return details
}

// DetailsJSON is the whole object that Details is read from.
func (e *Error) DetailsJSON() json.RawMessage {
	return json.RawMessage(e.details)
}

// PanicError is what a panic inside a callback becomes.
type PanicError struct {
	Value any    // what was given to panic
	Stack []byte // where, as by runtime/debug.Stack
}

func (e *PanicError) Error() string {
	return fmt.Sprintf("a callback panicked: %v", e.Value)
}

// Unwrap gives the panic's value when it is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

func newError(operation string, failure *raw.Failure, cause error) error {
	return &Error{Status: Status(failure.Status), Operation: operation,
		Message: failure.Message, details: failure.Details, cause: cause}
}

// refusal is an error of this package, in the form of the library's.
func refusal(status Status, operation, format string, arguments ...any) error {
	return &Error{Status: status, Operation: operation,
		Message: fmt.Sprintf(format, arguments...), details: "{}"}
}
