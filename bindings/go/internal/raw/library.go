package raw

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/ebitengine/purego"
)

// EnvironmentVariable names the library when the program does not.
const EnvironmentVariable = "VARVE_LIBRARY"

// Attempt is one place where the library was looked for, and why it was not taken.
type Attempt struct {
	Path     string
	FoundABI uint32 // 0: nothing was found that tells one
	Reason   string
}

// LoadError says where the library was looked for.
type LoadError struct {
	WantedABI uint32
	Attempts  []Attempt
}

func (e *LoadError) Error() string {
	text := fmt.Sprintf("varve: no library with ABI version %d was found; give its path to "+
		"varve.Load or in the environment variable %s. Tried:", e.WantedABI, EnvironmentVariable)
	for _, attempt := range e.Attempts {
		text += fmt.Sprintf("\n  %s: %s", attempt.Path, attempt.Reason)
	}
	return text
}

var (
	loaded     atomic.Pointer[string] // path of the library in use; it is never unloaded
	loadedLock sync.Mutex
)

// Load loads the library, once in a process; path is empty for the usual places.
func Load(path string) error {
	if now := loaded.Load(); now != nil && path == "" {
		return nil
	}
	loadedLock.Lock()
	defer loadedLock.Unlock()
	if now := loaded.Load(); now != nil {
		if path == "" || fileOf(path) == *now {
			return nil
		}
		return fmt.Errorf("varve: this process already uses %s, so it cannot load %s", *now, path)
	}
	found, place, failure := search(candidates(path))
	if failure != nil {
		return failure
	}
	symbols = found
	loaded.Store(&place)
	return nil
}

// search loads the first library that is fit, and tells where it was.
func search(places []string) (found [symbolCount]uintptr, place string, failure *LoadError) {
	failure = &LoadError{WantedABI: WantedABI}
	for _, place := range places {
		found, attempt := open(place)
		if attempt == nil {
			return found, place, nil
		}
		failure.Attempts = append(failure.Attempts, *attempt)
	}
	return found, "", failure
}

// LoadedPath is the path of the library in use, "" while there is none.
func LoadedPath() string {
	if now := loaded.Load(); now != nil {
		return *now
	}
	return ""
}

// candidates are the places to look at, in order. A path that was given, by the program or in the
// environment, is the only one: another library in its stead would be a surprise.
func candidates(explicit string) []string {
	if explicit != "" {
		return []string{fileOf(explicit)}
	}
	if given := os.Getenv(EnvironmentVariable); given != "" {
		return []string{fileOf(given)}
	}
	var places []string
	if program, err := os.Executable(); err == nil {
		if resolved, err := filepath.EvalSymlinks(program); err == nil {
			program = resolved
		}
		beside := filepath.Dir(program)
		for _, folder := range []string{beside, filepath.Join(beside, "..", "lib")} {
			for _, name := range libraryNames() {
				places = append(places, filepath.Join(folder, name))
			}
		}
	}
	return append(places, libraryNames()[0]) // where the system's loader looks
}

// fileOf is a path that was given, for the system's loader. That looks for a name without a slash in
// places of its own, and may find another file than the one in the working directory.
func fileOf(path string) string {
	if strings.Contains(path, "/") {
		return path
	}
	return "./" + path
}

func libraryNames() []string {
	if runtime.GOOS == "darwin" {
		return []string{fmt.Sprintf("libvarve.%d.dylib", WantedABI), "libvarve.dylib"}
	}
	return []string{fmt.Sprintf("libvarve.so.%d", WantedABI), "libvarve.so"}
}

// open loads one file, and says why not when it is not fit. Nothing of it is called but the
// function that tells its ABI version.
func open(path string) (found [symbolCount]uintptr, attempt *Attempt) {
	library, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return found, &Attempt{Path: path, Reason: reasonOf(err, path)}
	}
	abi, err := symbol(library, symbolNames[symbolABIVersion])
	if err != nil {
		return found, &Attempt{Path: path, Reason: reasonOf(err, path)}
	}
	version := uint32(call(abi))
	if version != WantedABI {
		reason := fmt.Sprintf("its ABI version is %d, wanted is %d", version, WantedABI)
		return found, &Attempt{Path: path, FoundABI: version, Reason: reason}
	}
	var missing []string
	for index, name := range symbolNames {
		if found[index], err = symbol(library, name); err != nil {
			missing = append(missing, name)
		}
	}
	if missing != nil {
		reason := "it lacks " + strings.Join(missing, ", ")
		return found, &Attempt{Path: path, FoundABI: version, Reason: reason}
	}
	return found, nil
}

func symbol(library uintptr, name string) (uintptr, error) {
	address, err := purego.Dlsym(library, name)
	if err == nil && address == 0 {
		err = errors.New("undefined symbol: " + name)
	}
	return address, err
}

// reasonOf is the loader's message on one line, without the path that stands before it anyway.
func reasonOf(err error, path string) string {
	return strings.TrimPrefix(strings.Join(strings.Fields(err.Error()), " "), path+": ")
}
