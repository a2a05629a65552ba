package varve_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The runner itself: what it must refuse, each with a part of what it then says.
func TestTheConformanceRunnerRefuses(t *testing.T) {
	const open = `{"op":"store_open","args":{"uri":"memory:"},"save":"store"}`
	const session = open + `,{"op":"session_create","args":{"store":"store"},"save":"s"}`
	for steps, complaint := range map[string]string{
		``:                               "without steps",
		`{"op":"store_paint","args":{}}`: "does not know",
		`{"op":"store_open","args":{"uri":"memory:","colour":"red"}}`:                          "colour",
		open + `,{"op":"store_sync","args":{"store":"other"}}`:                                 "other",
		`{"op":"store_open","args":{"uri":"memory:"},"expect":{"status":"VARVE_IO"}}`:          "VARVE_OK",
		`{"op":"store_open","args":{"uri":"nowhere://"}}`:                                      "VARVE_UNSUPPORTED",
		`{"op":"store_open","args":{"uri":"${nobody}"}}`:                                       "nobody",
		`{"op":"version","args":{},"expect":{"value":"9.9.9"}}`:                                "9.9.9",
		`{"op":"version","args":{},"expect":{"value":{"$type":"number"}}}`:                     "$type",
		`{"op":"version","args":{},"expect":{"value":{"$matches":"^x"}}}`:                      "$matches",
		`{"op":"version","args":{},"expect":{"value":{"$sounds":"like"}}}`:                     "$sounds",
		`{"op":"abi_version","args":{},"expect":{"value":2}}`:                                  "expected is 2",
		`{"op":"abi_version","args":{},"expect":{"value":{"$between":[2,3]}}}`:                 "between",
		open + `,{"op":"store_sessions","args":{"store":"store"},"expect":{"value":[]}}`:       "array",
		open + `,{"op":"store_sessions","args":{"store":"store"},"expect":{"value":{"x":1}}}`:  "x: not there",
		session + `,{"op":"session_set_progress","args":{"session":"s","answer":"whistle"}}`:   "whistle",
		session + `,{"op":"session_get","args":{"session":"s","id":7}}`:                        "id is not a text",
		open + `,{"op":"store_sync","args":{"store":"store"},"expect":{"message":"anything"}}`: "message",
		open + `,{"op":"store_sessions","args":{"store":"store"},
			"expect":{"value":{"sessions":{"$absent":true}}}}`: "though it should not",
		open + `,{"op":"store_sessions","args":{"store":"store"},
			"expect":{"value":{"sessions":{"$unordered":[1]}}}}`: "array of 1",
		open + `,{"op":"store_sessions","args":{"store":"store"},
			"expect":{"value":{"sessions":{"$contains":[1]}}}}`: "no element matches",
	} {
		file := filepath.Join(t.TempDir(), "case.json")
		text := `{"name":"case","about":"","steps":[` + steps + `]}`
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := runCase(file, t.TempDir()); err == nil || !strings.Contains(err.Error(), complaint) {
			t.Errorf("%s\nis answered by %v, expected is %q", steps, err, complaint)
		}
	}
}
