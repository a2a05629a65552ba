package varve

import "varve/internal/raw"

// LoadError says where the library was looked for, and why nothing there was taken: WantedABI is the
// ABI version that is needed, Attempts are the places in the order in which they were tried.
type LoadError = raw.LoadError

// LoadAttempt is one place of a LoadError: its Path, the Reason why it was not taken, and FoundABI, the
// ABI version of what is there, 0 where nothing tells one.
type LoadAttempt = raw.Attempt

// Load loads libvarve, which any other call does by itself when it is needed. A path that is given,
// here or in the environment variable VARVE_LIBRARY, is the only one that is tried. Without, these
// are, in this order: beside the program, ../lib from there, and where the system keeps libraries.
// The library is never unloaded, and a process has one: another path later is an error.
func Load(path string) error {
	return raw.Load(path)
}

// LibraryPath is the path of the library in use, and empty while none is loaded.
func LibraryPath() string {
	return raw.LoadedPath()
}

// Version is the version of the library in use.
func Version() (string, error) {
	if err := raw.Load(""); err != nil {
		return "", err
	}
	return raw.Version(), nil
}

// ABIVersion is the ABI version of the library in use.
func ABIVersion() (uint32, error) {
	if err := raw.Load(""); err != nil {
		return 0, err
	}
	return raw.ABIVersion(), nil
}
