package varve_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"varve"
)

// Runs ../../tests/conformance/cases through the public layer; the README there says what a case
// is. conformance_operations_test.go has the operations.

const casesFolder = "../../tests/conformance/cases"

type conformanceCase struct {
	Name  string `json:"name"`
	Steps []step `json:"steps"`
}

type step struct {
	Op     string         `json:"op"`
	Args   map[string]any `json:"args"`
	Save   string         `json:"save"`
	Expect *expectation   `json:"expect"`
}

type expectation struct {
	Status  *string         `json:"status"`
	Value   json.RawMessage `json:"value"`
	Details json.RawMessage `json:"details"`
	Message json.RawMessage `json:"message"`
}

func TestConformance(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(casesFolder, "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	ran, failed := 0, 0
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		if !t.Run(name, func(t *testing.T) {
			ran++
			if err := runCase(file, t.TempDir()); err != nil {
				t.Error(err)
			}
		}) {
			failed++
		}
	}
	fmt.Printf("%d cases, %d failed\n", ran, failed)
	if entries, _ := os.ReadDir(casesFolder); ran != len(entries) || ran == 0 {
		t.Errorf("%d cases ran, %d files are there", ran, len(entries))
	}
	noteRareAnswers(t)
	answered.check(t)
}

// caseRun is a case under way: its variables, and what is to be closed at its end.
type caseRun struct {
	variables map[string]any
	opened    []interface{ Close() error }
	clocks    map[*varve.Store]*fakeClock
	lines     map[*varve.Store]*[]any
}

func runCase(file, folder string) (err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var program conformanceCase
	if err := decodeExact(text, &program); err != nil {
		return err
	}
	if len(program.Steps) == 0 {
		return errors.New("a case without steps")
	}
	run := &caseRun{variables: map[string]any{"dir": folder},
		clocks: map[*varve.Store]*fakeClock{}, lines: map[*varve.Store]*[]any{}}
	defer run.closeAll()
	for index, step := range program.Steps {
		if err := run.step(step); err != nil {
			return fmt.Errorf("step %d, %s: %w", index, step.Op, err)
		}
	}
	return nil
}

func (r *caseRun) closeAll() {
	for index := len(r.opened) - 1; index >= 0; index-- {
		r.opened[index].Close()
	}
}

func (r *caseRun) step(step step) error {
	operation, known := operations[step.Op]
	if !known {
		return errors.New("an operation that this runner does not know")
	}
	filled, err := r.substitute(step.Args)
	if err != nil {
		return err
	}
	arguments := arguments{run: r, given: filled.(map[string]any), used: map[string]bool{}}
	value, handle, failure := operation(&arguments)
	if arguments.problem != nil {
		return arguments.problem
	}
	for name := range arguments.given {
		if !arguments.used[name] {
			return fmt.Errorf("an argument that this runner does not know: %s", name)
		}
	}
	if closer, ok := handle.(interface{ Close() error }); ok && failure == nil {
		r.opened = append(r.opened, closer)
	}
	if value, err = plain(value); err != nil {
		return err
	}
	if step.Save != "" && failure == nil {
		r.variables[step.Save] = value
		if handle != nil {
			r.variables[step.Save] = saved{handle: handle, value: value}
		}
	}
	return r.compare(step.Expect, value, failure)
}

// saved is a variable that keeps a handle; its value is what the step gave beside.
type saved struct{ handle, value any }

func (r *caseRun) compare(expect *expectation, value any, failure error) error {
	if expect == nil {
		expect = &expectation{}
	}
	wanted := "VARVE_OK"
	if expect.Status != nil {
		wanted = *expect.Status
	}
	status, message, details := outcome(failure)
	if status != wanted {
		return fmt.Errorf("answered %s, expected is %s: %v", status, wanted, failure)
	}
	for _, part := range []struct {
		what    string
		pattern json.RawMessage
		value   any
	}{{"value", expect.Value, value}, {"message", expect.Message, message},
		{"details", expect.Details, details}} {
		if part.pattern == nil {
			continue
		}
		var pattern any
		if err := decodeExact(part.pattern, &pattern); err != nil {
			return err
		}
		pattern, err := r.substitute(pattern)
		if err != nil {
			return err
		}
		if err := match(pattern, part.value, part.what); err != nil {
			return fmt.Errorf("%w\nof %s", err, compact(part.value))
		}
	}
	return nil
}

// outcome is what a user sees of an error.
func outcome(failure error) (status, message string, details any) {
	if failure == nil {
		return "VARVE_OK", "", nil
	}
	var refused *varve.Error
	if !errors.As(failure, &refused) || !errors.Is(failure, refused.Status) {
		return "no *varve.Error: " + failure.Error(), "", nil
	}
	if err := decodeExact(refused.DetailsJSON(), &details); err != nil {
		return "details that are no JSON: " + err.Error(), "", nil
	}
	return refused.Status.Name(), refused.Message, details
}

// plain is a value as JSON decoding would give it.
func plain(value any) (any, error) {
	switch value := value.(type) {
	case nil, string:
		return value, nil
	case json.RawMessage:
		var parsed any
		err := decodeExact(value, &parsed)
		return parsed, err
	}
	text, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	var parsed any
	err = decodeExact(text, &parsed)
	return parsed, err
}

func decodeExact(text []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	return decoder.Decode(into)
}

func compact(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	return string(text)
}
