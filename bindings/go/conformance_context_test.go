package varve_test

import (
	"errors"
	"fmt"

	"varve"
)

func init() { register(contextOperations) }

// Operations of contexts, and of what counts their tokens.
var contextOperations = map[string]operation{
	"context_build": withSession(func(s *varve.Session, a *arguments) (any, error) {
		return documentOf(s.BuildContext(a.document("request_json")))
	}),
	"context_record": withSession(func(s *varve.Session, a *arguments) (any, error) {
		return valueOf(s.Record(a.text("kind"), a.document("payload_json")))
	}),
	"store_set_token_counter": withStore(func(s *varve.Store, a *arguments) (any, error) {
		switch counter := a.take("counter"); counter {
		case nil:
			return nil, s.SetTokenCounter(nil)
		case "bytes":
			return nil, s.SetTokenCounter(func(text string) (uint64, error) {
				return uint64(len(text)), nil
			})
		case "failing":
			return nil, s.SetTokenCounter(func(string) (uint64, error) {
				return 0, errors.New("it cannot count")
			})
		default:
			a.problem = fmt.Errorf("a counter that this runner does not know: %v", counter)
		}
		return nil, nil
	}),
}
