package raw

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// stub builds a library with the ABI version given and all functions but those left out. A program
// that calls any but the one that tells the version is aborted.
func stub(t *testing.T, folder, name string, abi int, leftOut ...string) string {
	t.Helper()
	source := fmt.Sprintf("#include <stdlib.h>\nint varve_abi_version(void) { return %d; }\n", abi)
	for _, function := range symbolNames {
		if function != "varve_abi_version" && !contains(leftOut, function) {
			source += fmt.Sprintf("void %s(void) { abort(); }\n", function)
		}
	}
	if contains(leftOut, "varve_abi_version") {
		source = "int nothing;\n"
	}
	path := filepath.Join(folder, name)
	if err := os.WriteFile(path+".c", []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	built, err := exec.Command("gcc", "-shared", "-fPIC", "-o", path, path+".c").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, built)
	}
	return path
}

func contains(names []string, wanted string) bool {
	for _, name := range names {
		if name == wanted {
			return true
		}
	}
	return false
}

// refused loads a library that is not fit, and gives the error.
func refused(t *testing.T, path string) *LoadError {
	t.Helper()
	loaded.Store(nil) // whatever another test loaded
	err := Load(path)
	failure, ok := err.(*LoadError)
	if !ok {
		t.Fatalf("Load(%q) = %v, expected is a *LoadError", path, err)
	}
	if LoadedPath() != "" {
		t.Fatalf("%s is in use after an error", LoadedPath())
	}
	return failure
}

func expectText(t *testing.T, err error, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q is not in: %v", part, err)
		}
	}
}
