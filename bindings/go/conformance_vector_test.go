package varve_test

import (
	"encoding/json"

	"varve"
)

func init() { register(vectorOperations) }

// Operations of vectors.
var vectorOperations = map[string]operation{
	"session_put_vector": withSession(func(s *varve.Session, a *arguments) (any, error) {
		values, err := a.floats("values")
		if err != nil {
			return nil, err
		}
		a.used["dimension"] = true // the slice tells it
		return nil, s.PutVector(a.text("id"), values)
	}),
}

func (a *arguments) floats(name string) (values []float32, err error) {
	numbers, _ := a.take(name).([]any)
	for _, number := range numbers {
		value, err := number.(json.Number).Float64()
		if err != nil {
			return nil, err
		}
		values = append(values, float32(value))
	}
	return values, nil
}
