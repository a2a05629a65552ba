package varve_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// What each program of examples/ prints, in the first run and in the next.
var printed = map[string]string{
	"remember_and_recall": "recalled: Tea in the morning, never coffee\n",
	"tool_call_trace": "tool_call map[to:Rome tool:find_flight]\n" +
		"tool_result map[flight:VA 123 order:9007199254740993]\n" +
		"results of the first call: 1\n",
	"privacy_erase":  "deleted: 2\nfiles that hold it: 0\n",
	"many_processes": "100 entries of 4 processes, intact: true\n",
	"token_budget": "within the budget: true\nknows of Rome: true\n" +
		"entries were left out: true\n",
}

func TestExamplePrograms(t *testing.T) {
	programs := t.TempDir()
	build := exec.Command("go", "build", "-o", programs, "./examples/...")
	if output, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	built, err := os.ReadDir(programs)
	if err != nil || len(built) != len(printed) {
		t.Fatalf("%d programs were built, %d are expected: %v", len(built), len(printed), err)
	}
	for name, expected := range printed {
		t.Run(name, func(t *testing.T) {
			directory := filepath.Join(t.TempDir(), "m")
			for run := range 2 {
				program := exec.Command(filepath.Join(programs, name), directory)
				output, err := program.CombinedOutput()
				if err != nil || string(output) != expected {
					t.Errorf("run %d: %v\n%s", run+1, err, output)
				}
			}
		})
	}
}

var quotation = regexp.MustCompile("(?s)<!-- (examples/[^ ]+) -->\n```go\n(.*?)```")

func TestTheReadmeQuotesTheExamples(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	quoted := map[string]bool{}
	for _, found := range quotation.FindAllStringSubmatch(string(readme), -1) {
		source, err := os.ReadFile(found[1])
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(source), found[2]) {
			t.Errorf("%s does not hold what the README quotes from it", found[1])
		}
		name := filepath.Base(filepath.Dir(found[1]))
		quoted[name] = true
		for line := range strings.Lines(printed[name]) {
			if !strings.Contains(string(readme), strings.TrimSpace(line)) {
				t.Errorf("the README does not show what %s prints: %s", name, line)
			}
		}
	}
	if len(quoted) != len(printed) {
		t.Errorf("%d examples are quoted, %d are there", len(quoted), len(printed))
	}
}
