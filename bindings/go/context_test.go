package varve_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"varve"
)

func TestACallUnderAContextThatIsDoneIsRefused(t *testing.T) {
	store, session := inMemory(t)
	past, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	_, err := session.WithContext(past).Add(finding("tea"))
	expectError(t, err, context.DeadlineExceeded, "Session.Add")
	_, err = store.WithContext(past).CreateSession(nil)
	expectError(t, err, context.DeadlineExceeded)
	reason := errors.New("the user went away")
	cancelled, cancelCause := context.WithCancelCause(t.Context())
	cancelCause(reason)
	_, err = session.WithContext(cancelled).Query(nil)
	expectError(t, err, reason)
	expectError(t, err, context.Canceled)
	late, cancelLate := context.WithDeadlineCause(t.Context(), time.Now().Add(-time.Second), reason)
	defer cancelLate()
	_, err = session.WithContext(late).Query(nil)
	expectError(t, err, reason)
	expectError(t, err, context.DeadlineExceeded)
	if count, err := session.Count(nil); count != 0 || err != nil {
		t.Errorf("%d entries, %v: the session itself has no context", count, err)
	}
	under := store.WithContext(cancelled)
	for _, err := range under.Find(varve.Query{}) {
		expectError(t, err, reason)
	}
}

func TestWhatIsOpenedUnderAContextIsUnderItToo(t *testing.T) {
	store := openStore(t, "memory:", nil)
	reason := errors.New("the user went away")
	ctx, cancel := context.WithCancelCause(t.Context())
	session, err := store.WithContext(ctx).Session("s", varve.SessionOptions{})
	if err != nil {
		t.Fatal(err)
	}
	memory, err := store.WithContext(ctx).OpenMemory(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer memory.Close()
	cancel(reason)
	_, err = session.Add(finding("tea"))
	expectError(t, err, reason)
	expectError(t, memory.Clear(), reason)
	for _, other := range []context.Context{t.Context(), context.Background()} {
		if _, err = session.WithContext(other).Add(finding("tea")); err != nil {
			t.Error(err)
		}
		if err = memory.WithContext(other).Clear(); err != nil {
			t.Error(err)
		}
	}
}

// held takes the lock of a session as another process would: locks of open files exclude each
// other whoever opened them.
func held(t *testing.T, folder, session string) (release func()) {
	t.Helper()
	const setLockOfOpenFile = 37 // F_OFD_SETLK
	file, err := os.OpenFile(filepath.Join(folder, "sessions", session, "lock"), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	lock := syscall.Flock_t{Type: syscall.F_WRLCK, Len: 1}
	if err := syscall.FcntlFlock(file.Fd(), setLockOfOpenFile, &lock); err != nil {
		t.Fatal(err)
	}
	return func() { file.Close() }
}

// lockable is a session on disk whose calls give up a lock after so long.
func lockable(t *testing.T, lockTimeoutMS int) (folder string, session *varve.Session) {
	folder = filepath.Join(t.TempDir(), "store")
	store := openStore(t, folder, varve.Config{
		Concurrency: varve.ConcurrencyConfig{LockTimeoutMS: lockTimeoutMS}})
	session = createSession(t, store, varve.SessionOptions{SessionID: "s"})
	mustAdd(t, session, finding("makes the lock file"))
	return folder, session
}

func TestWithoutADeadlineTheLockTimeoutDecides(t *testing.T) {
	folder, session := lockable(t, 20)
	release := held(t, folder, "s")
	defer release()
	_, err := session.Add(finding("tea"))
	expectError(t, err, varve.ErrBusy)
	cancellable, cancel := context.WithCancel(t.Context())
	defer cancel()
	_, err = session.WithContext(cancellable).Add(finding("tea"))
	expectError(t, err, varve.ErrBusy)
}

func TestADeadlineLaterThanTheLockTimeoutIsWaitedFor(t *testing.T) {
	folder, session := lockable(t, 20)
	release := held(t, folder, "s")
	deadline, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	given := make(chan struct{})
	go func() {
		time.Sleep(100 * time.Millisecond) // several lock timeouts; fewer would pass as well
		close(given)
		release()
	}()
	if _, err := session.WithContext(deadline).Add(finding("tea")); err != nil {
		t.Error(err)
	}
	<-given
	if count, err := session.Count(nil); count != 2 || err != nil {
		t.Errorf("%d entries, %v: added once", count, err)
	}
}

// overAfterOne is a context with a deadline that is over after it was asked once.
type overAfterOne struct {
	context.Context
	asked *int
}

func (c overAfterOne) Err() error {
	if *c.asked++; *c.asked > 1 {
		return context.DeadlineExceeded
	}
	return nil
}

func TestOnlyWhatIsBusyIsRepeatedUntilTheDeadline(t *testing.T) {
	_, session := inMemory(t)
	deadline, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	_, err := session.WithContext(overAfterOne{deadline, new(int)}).Get("nobody")
	expectError(t, err, varve.ErrNotFound)
	if errors.Is(err, context.DeadlineExceeded) {
		t.Error("it was repeated:", err)
	}
}

func TestADeadlineThatPassesIsBusyAndExceeded(t *testing.T) {
	folder, session := lockable(t, 20)
	release := held(t, folder, "s")
	defer release()
	deadline, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err := session.WithContext(deadline).Add(finding("tea"))
	if deadline.Err() == nil {
		t.Error("it gave up before the deadline")
	}
	expectError(t, err, context.DeadlineExceeded, "Session.Add")
	expectError(t, err, varve.ErrBusy)
}
