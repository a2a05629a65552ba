package varve_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"regexp"
	"strconv"
	"strings"
)

// Marks and patterns of conformance cases.

var mark = regexp.MustCompile(`\$\{([^}]*)\}`)

// substitute puts variables in the place of their marks.
func (r *caseRun) substitute(value any) (any, error) {
	switch value := value.(type) {
	case string:
		return r.fill(value)
	case map[string]any:
		if number, ok := value["$number"].(string); ok && len(value) == 1 {
			return json.Number(number), nil
		}
		filled := make(map[string]any, len(value))
		for name, member := range value {
			part, err := r.substitute(member)
			if err != nil {
				return nil, err
			}
			filled[name] = part
		}
		return filled, nil
	case []any:
		filled := make([]any, len(value))
		for index, element := range value {
			part, err := r.substitute(element)
			if err != nil {
				return nil, err
			}
			filled[index] = part
		}
		return filled, nil
	}
	return value, nil
}

func (r *caseRun) fill(text string) (any, error) {
	if found := mark.FindStringSubmatch(text); found != nil && found[0] == text {
		return r.lookUp(found[1])
	}
	var problem error
	filled := mark.ReplaceAllStringFunc(text, func(marked string) string {
		value, err := r.lookUp(marked[2 : len(marked)-1])
		if err != nil {
			problem = err
			return marked
		}
		if text, ok := value.(string); ok {
			return text
		}
		return compact(value)
	})
	return filled, problem
}

func (r *caseRun) lookUp(path string) (any, error) {
	names := strings.Split(path, ".")
	value, known := r.variables[names[0]]
	if !known {
		return nil, fmt.Errorf("no variable %s", names[0])
	}
	if kept, ok := value.(saved); ok {
		value = kept.value
	}
	for _, name := range names[1:] {
		switch holder := value.(type) {
		case map[string]any:
			if value, known = holder[name]; !known {
				return nil, fmt.Errorf("no member %s in %s", name, path)
			}
		case []any:
			index, err := strconv.Atoi(name)
			if err != nil || index < 0 || index >= len(holder) {
				return nil, fmt.Errorf("no element %s in %s", name, path)
			}
			value = holder[index]
		default:
			return nil, fmt.Errorf("%s has no parts", path)
		}
	}
	return value, nil
}

// match compares a value with a pattern, and says where it differs.
func match(pattern, value any, place string) error {
	switch pattern := pattern.(type) {
	case json.Number:
		return matchNumber(pattern, value, place)
	case map[string]any:
		for name, argument := range pattern {
			if strings.HasPrefix(name, "$") {
				if len(pattern) != 1 {
					return fmt.Errorf("%s: a pattern with more than one member", place)
				}
				return matchSpecial(name, argument, value, place)
			}
		}
		return matchObject(pattern, value, place)
	case []any:
		elements, ok := value.([]any)
		if !ok || len(elements) != len(pattern) {
			return fmt.Errorf("%s: not an array of %d", place, len(pattern))
		}
		for index := range pattern {
			here := fmt.Sprintf("%s[%d]", place, index)
			if err := match(pattern[index], elements[index], here); err != nil {
				return err
			}
		}
		return nil
	}
	if pattern != value {
		return fmt.Errorf("%s: %s, expected is %s", place, compact(value), compact(pattern))
	}
	return nil
}

func matchNumber(pattern json.Number, value any, place string) error {
	wanted, okWanted := new(big.Rat).SetString(string(pattern))
	number, isNumber := value.(json.Number)
	found, okFound := new(big.Rat).SetString(string(number))
	if !okWanted || !isNumber || !okFound || wanted.Cmp(found) != 0 {
		return fmt.Errorf("%s: %s, expected is %s", place, compact(value), pattern)
	}
	return nil
}

func matchObject(pattern map[string]any, value any, place string) error {
	object, ok := value.(map[string]any)
	if !ok {
		return fmt.Errorf("%s: not an object", place)
	}
	for name, wanted := range pattern {
		member, present := object[name]
		special, _ := wanted.(map[string]any)
		if _, absent := special["$absent"]; absent {
			if present {
				return fmt.Errorf("%s.%s: there, though it should not", place, name)
			}
			continue
		}
		if !present {
			return fmt.Errorf("%s.%s: not there", place, name)
		}
		if err := match(wanted, member, place+"."+name); err != nil {
			return err
		}
	}
	return nil
}

func matchSpecial(name string, argument, value any, place string) error {
	holds := false
	switch name {
	case "$any":
		return nil
	case "$type":
		holds = argument == typeName(value)
	case "$matches":
		text, isText := value.(string)
		expression, err := regexp.Compile(argument.(string))
		if err != nil {
			return err
		}
		holds = isText && expression.MatchString(text)
	case "$length":
		elements, isArray := value.([]any)
		holds = isArray && matchNumber(argument.(json.Number),
			json.Number(strconv.Itoa(len(elements))), place) == nil
	case "$between":
		return matchBetween(argument.([]any), value, place)
	case "$unordered", "$contains":
		return matchElements(argument.([]any), value, place, name == "$unordered")
	case "$jsonl", "$json":
		return matchText(name, argument, value, place)
	default:
		return fmt.Errorf("%s: a pattern that this runner does not know: %s", place, name)
	}
	if !holds {
		return fmt.Errorf("%s: %s is not %s %s", place, compact(value), name, compact(argument))
	}
	return nil
}

func typeName(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case json.Number:
		return "number"
	case []any:
		return "array"
	}
	return "object"
}

func matchBetween(ends []any, value any, place string) error {
	number, isNumber := value.(json.Number)
	found, okFound := new(big.Rat).SetString(string(number))
	low, okLow := new(big.Rat).SetString(string(ends[0].(json.Number)))
	high, okHigh := new(big.Rat).SetString(string(ends[1].(json.Number)))
	if !isNumber || !okFound || !okLow || !okHigh || found.Cmp(low) < 0 || found.Cmp(high) > 0 {
		return fmt.Errorf("%s: %s is not between %v and %v", place, compact(value), ends[0], ends[1])
	}
	return nil
}

// matchElements finds an element for each pattern: one of its own when all is of the same length.
func matchElements(patterns []any, value any, place string, whole bool) error {
	elements, ok := value.([]any)
	if !ok || (whole && len(elements) != len(patterns)) {
		return fmt.Errorf("%s: not an array of %d", place, len(patterns))
	}
	taken := make([]bool, len(elements))
	for _, pattern := range patterns {
		found := false
		for index := range elements {
			if !taken[index] && match(pattern, elements[index], place) == nil {
				found, taken[index] = true, whole
				break
			}
		}
		if !found {
			return fmt.Errorf("%s: no element matches %s", place, compact(pattern))
		}
	}
	return nil
}

func matchText(name string, argument, value any, place string) error {
	text, isText := value.(string)
	if !isText {
		return fmt.Errorf("%s: not a text", place)
	}
	lines := []string{text}
	if name == "$jsonl" {
		lines = strings.Split(strings.TrimSuffix(text, "\n"), "\n")
		if text == "" {
			lines = nil
		}
	}
	parsed := make([]any, len(lines))
	for index, line := range lines {
		if err := decodeExact([]byte(line), &parsed[index]); err != nil {
			return errors.Join(fmt.Errorf("%s: line %d", place, index+1), err)
		}
	}
	if name == "$json" {
		return match(argument, parsed[0], place)
	}
	return match(argument, parsed, place)
}
