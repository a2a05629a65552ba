package raw

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// theLibrary is the one to test; the tests of the search must not find it by the environment.
var theLibrary = os.Getenv(EnvironmentVariable)

func TestMain(m *testing.M) {
	os.Unsetenv(EnvironmentVariable)
	os.Exit(m.Run())
}

func TestLoadOfAMissingFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "missing.so")
	failure := refused(t, path)
	if len(failure.Attempts) != 1 || failure.Attempts[0].Path != path {
		t.Errorf("tried %v, expected is %s alone", failure.Attempts, path)
	}
	expectText(t, failure, path, "ABI version 1", "No such file", EnvironmentVariable)
}

func TestLoadOfAFileThatIsNoLibrary(t *testing.T) {
	path := filepath.Join(t.TempDir(), "libvarve.so")
	if err := os.WriteFile(path, []byte("not a library"), 0o600); err != nil {
		t.Fatal(err)
	}
	expectText(t, refused(t, path), path)
}

func TestLoadOfAnotherABI(t *testing.T) {
	path := stub(t, t.TempDir(), "libvarve.so", WantedABI+1)
	failure := refused(t, path)
	if failure.Attempts[0].FoundABI != WantedABI+1 || failure.WantedABI != WantedABI {
		t.Errorf("found %d, wanted %d", failure.Attempts[0].FoundABI, failure.WantedABI)
	}
	expectText(t, failure, path, "its ABI version is 2, wanted is 1")
}

func TestLoadOfALibraryThatLacksFunctions(t *testing.T) {
	path := stub(t, t.TempDir(), "libvarve.so", WantedABI, "varve_session_add", "varve_free")
	expectText(t, refused(t, path), path, "it lacks varve_free, varve_session_add")
}

func TestLoadOfALibraryOfSomebodyElse(t *testing.T) {
	path := stub(t, t.TempDir(), "libvarve.so", WantedABI, "varve_abi_version")
	expectText(t, refused(t, path), path, "varve_abi_version")
}

func TestTheEnvironmentNamesTheOnlyCandidate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "from-environment.so")
	t.Setenv(EnvironmentVariable, path)
	if found := candidates(""); !slices.Equal(found, []string{path}) {
		t.Errorf("%v", found)
	}
	explicit := filepath.Join(t.TempDir(), "explicit.so")
	if found := candidates(explicit); !slices.Equal(found, []string{explicit}) {
		t.Errorf("%v: what the program gives comes before the environment", found)
	}
}

func TestANameWithoutASlashIsOfAFileInTheWorkingDirectory(t *testing.T) {
	library, err := os.ReadFile(theLibrary)
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	if err := os.WriteFile("mine.so", library, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv(EnvironmentVariable, "mine.so")
	for _, explicit := range []string{"", "mine.so"} {
		if _, place, failure := search(candidates(explicit)); place != "./mine.so" {
			t.Errorf("%q: found %q: %v", explicit, place, failure)
		}
	}
}

func TestTheOrderOfTheUsualPlaces(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Fatal("the names below are Linux's")
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	beside := filepath.Dir(program)
	library := filepath.Join(filepath.Dir(beside), "lib")
	expected := []string{
		filepath.Join(beside, "libvarve.so.1"), filepath.Join(beside, "libvarve.so"),
		filepath.Join(library, "libvarve.so.1"), filepath.Join(library, "libvarve.so"),
		"libvarve.so.1"}
	if found := candidates(""); !slices.Equal(found, expected) {
		t.Errorf("%v, expected is %v", found, expected)
	}
}

func TestALibraryBesideTheProgramThatIsNotFitIsToldWithTheOthers(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := stub(t, filepath.Dir(program), "libvarve.so", WantedABI+6)
	defer os.Remove(path)
	places := candidates("")
	places = places[:len(places)-1] // the system may have one
	_, _, failure := search(places)
	if failure == nil {
		t.Fatal("a library was found")
	}
	expectText(t, failure, path+": its ABI version is 7, wanted is 1")
	for _, place := range places {
		expectText(t, failure, place+": ")
	}
}

func TestWhatIsLoadedStays(t *testing.T) {
	if theLibrary == "" {
		t.Fatal(EnvironmentVariable + " does not name the library to test")
	}
	loaded.Store(nil)
	if err := Load(theLibrary); err != nil {
		t.Fatal(err)
	}
	if ABIVersion() != WantedABI || Version() != GeneratedFor || LoadedPath() != theLibrary {
		t.Errorf("ABI %d, version %s, %s", ABIVersion(), Version(), LoadedPath())
	}
	if err := Load(""); err != nil {
		t.Errorf("again: %v", err)
	}
	other := filepath.Join(t.TempDir(), "other.so")
	if err := Load(other); err == nil || !strings.Contains(err.Error(), "already uses") {
		t.Errorf("another one: %v", err)
	}
}

func TestAnErrorObjectIsReadAndFreed(t *testing.T) {
	if err := Load(theLibrary); err != nil {
		t.Fatal(err)
	}
	_, failure := StoreOpen("memory:", `{"nothing":1}`)
	if failure == nil || failure.Status != InvalidArgument {
		t.Fatalf("%+v", failure)
	}
	if !strings.Contains(failure.Message, "nothing") || !strings.HasPrefix(failure.Details, "{") {
		t.Errorf("%+v", failure)
	}
}
