package varve

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	"varve/internal/raw"
)

// caller is what each call of a handle goes through. The zero caller, of a zero Store for example,
// refuses every call.
type caller struct {
	ctx       context.Context // nil: none
	keptAlive any             // must not be collected, and so closed, during the call
	callbacks []*callbacks    // whose failures may be the cause of VARVE_CALLBACK
}

// run makes a call, refuses it when the context is done, and repeats it while another process holds
// a lock and the context's deadline is not over.
func (c caller) run(operation string, call func() *raw.Failure) error {
	var busy *raw.Failure
	if c.keptAlive == nil {
		return refusal(ErrBadHandle, operation, "it was not opened, but made as a zero value")
	}
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		if done := c.done(); done != nil {
			if busy != nil {
				return newError(operation, busy, done)
			}
			return fmt.Errorf("varve: %s: %w", operation, done)
		}
		failure, cause := c.attempt(call)
		if failure == nil {
			return nil
		}
		if Status(failure.Status) != ErrBusy || !c.hasDeadline() {
			return newError(operation, failure, cause)
		}
		busy = failure
		select {
		case <-c.ctx.Done():
		case <-time.After(pause):
		}
	}
}

// attempt makes a call. A callback runs on the thread of its call; by that its failure is found, so
// the goroutine stays there.
func (c caller) attempt(call func() *raw.Failure) (failure *raw.Failure, cause error) {
	if slices.ContainsFunc(c.callbacks, func(c *callbacks) bool { return c.mayFail.Load() }) {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
	}
	failure = call()
	runtime.KeepAlive(c.keptAlive)
	if failure != nil {
		cause = c.causeOf(failure)
	}
	return failure, cause
}

// done is that the context is done, and why where somebody said so; or nil.
func (c caller) done() error {
	if c.ctx == nil || c.ctx.Err() == nil {
		return nil
	}
	done, cause := c.ctx.Err(), context.Cause(c.ctx)
	if errors.Is(cause, done) {
		return cause
	}
	return fmt.Errorf("%w: %w", done, cause)
}

func (c caller) hasDeadline() bool {
	if c.ctx == nil {
		return false
	}
	_, has := c.ctx.Deadline()
	return has
}

func (c caller) causeOf(failure *raw.Failure) error {
	if Status(failure.Status) != ErrCallback {
		return nil
	}
	for _, owner := range c.callbacks {
		if cause := owner.takeFailure(); cause != nil {
			return cause
		}
	}
	return nil
}

// document makes a call that answers with a JSON document.
func document[T any, P answer[T]](
	c caller, operation string, call func() ([]byte, *raw.Failure),
) (*T, error) {
	text, err := c.text(operation, call)
	if err != nil {
		return nil, err
	}
	return decodeAnswer[T, P](operation, text)
}

// documentWith makes a call that takes a document and answers with one.
func documentWith[T any, P answer[T]](
	c caller, operation string, given any, call func(given string) ([]byte, *raw.Failure),
) (*T, error) {
	encoded, err := encode(operation, given)
	if err != nil {
		return nil, err
	}
	return document[T, P](c, operation, func() ([]byte, *raw.Failure) { return call(encoded) })
}

// text makes a call that answers with a text.
func (c caller) text(operation string, call func() ([]byte, *raw.Failure)) (text []byte, err error) {
	err = c.run(operation, func() (failure *raw.Failure) {
		text, failure = call()
		return failure
	})
	return text, err
}

// textWith makes a call that takes a document and answers with a text.
func (c caller) textWith(
	operation string, given any, call func(given string) ([]byte, *raw.Failure),
) ([]byte, error) {
	encoded, err := encode(operation, given)
	if err != nil {
		return nil, err
	}
	return c.text(operation, func() ([]byte, *raw.Failure) { return call(encoded) })
}

// countOf is a number of things for C, where the largest number stands for all.
func countOf(count int) uint {
	if count < 0 {
		return ^uint(0)
	}
	return uint(count)
}
