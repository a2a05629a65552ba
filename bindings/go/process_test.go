package varve_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"varve"
	"varve/internal/raw"
)

const (
	folderVariable = "VARVE_TEST_FOLDER"
	tokenVariable  = "VARVE_TEST_TOKEN"
)

func init() {
	children["use a handle of the parent"] = useHandleOfTheParent
	children["exit while calls are in flight"] = exitWhileCallsAreInFlight
	children["list descriptors"] = listDescriptors
	children["open without a library"] = openWithoutALibrary
	children["end a goroutine in a callback"] = endAGoroutineInACallback
	children["use what was not opened"] = useWhatWasNotOpened
}

func fail(problem ...any) {
	fmt.Fprintln(os.Stderr, problem...)
	os.Exit(1)
}

// After exec nothing of the parent is there: its handles are refused, and handles of the child's
// own work beside the parent's.
func useHandleOfTheParent() {
	token, err := strconv.ParseUint(os.Getenv(tokenVariable), 10, 64)
	if err != nil {
		fail(err)
	}
	if err := raw.Load(""); err != nil {
		fail(err)
	}
	_, failure := raw.SessionAdd(raw.Session(token), `{"type":"finding","content":"stolen"}`)
	if failure == nil || failure.Status != raw.BadHandle {
		fail("the parent's handle:", failure)
	}
	store, err := varve.Open(os.Getenv(folderVariable), nil)
	if err != nil {
		fail(err)
	}
	session, err := store.OpenSession("s")
	if err != nil {
		fail(err)
	}
	if _, err := session.Add(finding("the child's")); err != nil {
		fail(err)
	}
}

func TestHandlesEndWithExec(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "store")
	store := openStore(t, folder, nil)
	session := createSession(t, store, varve.SessionOptions{SessionID: "s"})
	mustAdd(t, session, finding("the parent's"))
	token, failure := raw.StoreOpen(folder, "") // a handle whose number can be told
	if failure != nil {
		t.Fatal(failure)
	}
	defer raw.StoreClose(token)
	command := child("use a handle of the parent", folderVariable+"="+folder,
		fmt.Sprintf("%s=%d", tokenVariable, token))
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	if count, err := session.Count(nil); count != 2 || err != nil {
		t.Error(count, err)
	}
}

func listDescriptors() {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		fail(err)
	}
	for _, entry := range entries {
		target, _ := os.Readlink(filepath.Join("/proc/self/fd", entry.Name()))
		fmt.Println(target)
	}
}

func TestDescriptorsEndWithExec(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "store")
	session := createSession(t, openStore(t, folder, nil), nil)
	mustAdd(t, session, finding("tea"))
	output, err := child("list descriptors").CombinedOutput()
	if err != nil || len(output) == 0 || strings.Contains(string(output), folder) {
		t.Errorf("%v\n%s", err, output)
	}
}

// acknowledged are printed by the child after Add answered.
func exitWhileCallsAreInFlight() {
	store, err := varve.Open(os.Getenv(folderVariable), nil)
	if err != nil {
		fail(err)
	}
	session, err := store.OpenSession("s")
	if err != nil {
		fail(err)
	}
	acknowledged := make(chan string)
	for range 8 {
		go func() {
			for {
				id, err := session.Add(finding("tea"))
				if err != nil {
					fail(err)
				}
				acknowledged <- id
			}
		}()
	}
	for range 50 {
		fmt.Println(<-acknowledged)
	}
	os.Exit(0) // the others are still at it
}

func TestExitWhileCallsAreInFlight(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "store")
	store := openStore(t, folder, nil)
	session := createSession(t, store, varve.SessionOptions{SessionID: "s"})
	for range 5 {
		output, err := child("exit while calls are in flight", folderVariable+"="+folder).Output()
		if err != nil {
			t.Fatal(err)
		}
		ids := strings.Fields(string(output))
		if len(ids) != 50 {
			t.Fatalf("%d ids", len(ids))
		}
		for _, id := range ids {
			if _, err := session.GetRaw(id); err != nil {
				t.Error(err)
			}
		}
	}
	if report, err := session.Verify(nil); err != nil || !report.OK {
		t.Error(report, err)
	}
}

func openWithoutALibrary() {
	_, openErr := varve.Open("memory:", nil)
	_, windowErr := varve.NewWindow(1)
	_, versionErr := varve.Version()
	_, abiErr := varve.ABIVersion()
	for _, err := range []error{openErr, windowErr, versionErr, abiErr} {
		var refused *varve.LoadError
		if !errors.As(err, &refused) {
			fail("what needs a library answered", err)
		}
	}
	if varve.LibraryPath() != "" {
		fail(varve.LibraryPath(), "is in use")
	}
	fmt.Println(openErr)
}

func TestTheLibraryInUseStays(t *testing.T) {
	path := os.Getenv("VARVE_LIBRARY")
	if err := errors.Join(varve.Load(""), varve.Load(path)); err != nil {
		t.Error(err)
	}
	if varve.LibraryPath() != path {
		t.Error(varve.LibraryPath())
	}
	err := varve.Load("/nowhere/libvarve.so")
	if err == nil || !strings.Contains(err.Error(), "already uses "+path) {
		t.Error(err)
	}
}

func TestAMissingLibraryIsAnErrorOfOpen(t *testing.T) {
	command := child("open without a library", "VARVE_LIBRARY=/nowhere/libvarve.so")
	output, err := command.CombinedOutput()
	if err != nil || !strings.Contains(string(output), "/nowhere/libvarve.so") {
		t.Errorf("%v\n%s", err, output)
	}
}

func useWhatWasNotOpened() {
	for _, err := range ofWindowsAndResultsNotOpened() {
		if !errors.Is(err, varve.ErrBadHandle) {
			fail(err)
		}
	}
	if varve.LibraryPath() != "" {
		fail("a library is loaded")
	}
}

// Where no library is loaded, a call of it would be a jump to nowhere.
func TestWhatWasNotOpenedNeedsNoLibrary(t *testing.T) {
	command := child("use what was not opened", "VARVE_LIBRARY=/nowhere/libvarve.so")
	if output, err := command.CombinedOutput(); err != nil {
		t.Errorf("%v\n%.500s", err, output)
	}
}

func endAGoroutineInACallback() {
	store, err := varve.Open("memory:", nil)
	if err != nil {
		fail(err)
	}
	session, err := store.CreateSession(nil)
	if err != nil {
		fail(err)
	}
	err = session.SetProgress(func(varve.Progress) error { runtime.Goexit(); return nil })
	if err != nil {
		fail(err)
	}
	ended := make(chan bool)
	go func() {
		defer close(ended)
		_, _ = session.Verify(nil)
	}()
	<-ended
	store.Close()
}

// Closing would wait for ever for a call whose goroutine is gone.
func TestACallbackThatEndsItsGoroutineEndsTheProgram(t *testing.T) {
	command := child("end a goroutine in a callback")
	hung := time.AfterFunc(time.Minute, func() { _ = command.Process.Kill() })
	defer hung.Stop()
	output, err := command.CombinedOutput()
	if err == nil || !strings.Contains(string(output), "a callback called runtime.Goexit") ||
		!strings.Contains(string(output), "endAGoroutineInACallback") {
		t.Errorf("%v\n%s", err, output)
	}
}
