package varve_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	generatedFunction = regexp.MustCompile(`(?m)^// (\w+) is (varve_\w+) \(`)
	usedByThePackage  = regexp.MustCompile(`\braw\.(\w+)\(`)
	usedInside        = regexp.MustCompile(`\b(\w+)\(`)
)

// notNeeded are C functions that nothing here has to call, and why.
var notNeeded = map[string]string{
	"varve_error_status": "the call itself returned the same status",
}

// Every C function has a Go function in the raw layer, and somebody here who calls it.
func TestEveryFunctionHasAPlace(t *testing.T) {
	text, err := os.ReadFile("../api.json")
	if err != nil {
		t.Fatal(err)
	}
	var api struct{ Functions []struct{ Name string } }
	if err := json.Unmarshal(text, &api); err != nil {
		t.Fatal(err)
	}
	generated, err := os.ReadFile("internal/raw/raw.go")
	if err != nil {
		t.Fatal(err)
	}
	goNames := map[string]string{}
	for _, found := range generatedFunction.FindAllStringSubmatch(string(generated), -1) {
		goNames[found[2]] = found[1]
	}
	used := map[string]bool{}
	collectUses(t, "*.go", usedByThePackage, used)
	collectUses(t, "internal/raw/*.go", usedInside, used)
	for _, function := range api.Functions {
		if notNeeded[function.Name] != "" {
			continue
		}
		if name := goNames[function.Name]; name == "" || !used[name] {
			t.Errorf("nothing in this package calls %s (%q in the raw layer)", function.Name, name)
		}
	}
	if len(api.Functions) < 50 {
		t.Errorf("%d functions in api.json", len(api.Functions))
	}
}

func collectUses(t *testing.T, pattern string, use *regexp.Regexp, used map[string]bool) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") || file == "internal/raw/raw.go" {
			continue
		}
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range use.FindAllStringSubmatch(string(source), -1) {
			used[found[1]] = true
		}
	}
}
