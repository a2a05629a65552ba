package varve_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"varve"
)

func TestErrorsAreComparedByStatus(t *testing.T) {
	store, session := inMemory(t)
	_, err := session.Get("nobody")
	expectError(t, err, varve.ErrNotFound, "varve: Session.Get: ", "nobody", "VARVE_NOT_FOUND")
	if errors.Is(err, varve.ErrBusy) {
		t.Error("it is ErrBusy too")
	}
	id := mustAdd(t, session, finding("tea"))
	_, err = session.Add(map[string]any{"type": "finding", "content": 1, "id": id})
	expectError(t, err, varve.ErrAlreadyExists)
	_, err = store.OpenSession("../etc")
	expectError(t, err, varve.ErrInvalidArgument)
	_, err = varve.Open("ftp://somewhere", nil)
	expectError(t, err, varve.ErrUnsupported)
}

func TestAnErrorTellsThePlace(t *testing.T) {
	_, session := inMemory(t)
	_, err := session.Query(`{"text":"tea","limit":"ten"}`)
	var refused *varve.Error
	if !errors.As(err, &refused) {
		t.Fatal(err)
	}
	if refused.Status != varve.ErrInvalidArgument || refused.Operation != "Session.Query" {
		t.Errorf("%+v", refused)
	}
	details := refused.Details()
	if details.Member != "limit" || details.Offset == nil || *details.Offset == 0 {
		t.Errorf("%+v of %s", details, refused.DetailsJSON())
	}
}

func TestDetailsHaveEveryMember(t *testing.T) {
	_, session := inMemory(t)
	_, err := session.AddBatch(`{"type":"finding","content":1}` + "\n" + `{"type":`)
	details := detailsOf(t, err)
	if details.Line == nil || *details.Line != 2 || details.Size != nil || details.Path != "" {
		t.Errorf("%+v of %v", details, err)
	}
	_, err = session.Add(finding(strings.Repeat("x", 2<<20)))
	expectError(t, err, varve.ErrSizeLimit)
	details = detailsOf(t, err)
	if details.Limit == nil || *details.Limit != 1<<20 || details.Size == nil ||
		*details.Size <= 2<<20 || details.Line != nil || details.Errno != nil {
		t.Errorf("%+v of %v", details, err)
	}
	path := filepath.Join(t.TempDir(), "missing")
	_, err = session.ImportFile(path, nil)
	if details = detailsOf(t, err); details.Path != path || details.Errno == nil {
		t.Errorf("%+v of %v", details, err)
	}
}

func TestWhatThisPackageRefusesHasDetailsToo(t *testing.T) {
	_, session := inMemory(t)
	_, err := session.DeleteWhere(varve.Query{}, "")
	var refused *varve.Error
	if !errors.As(err, &refused) || string(refused.DetailsJSON()) != "{}" {
		t.Errorf("%v, %s", err, refused.DetailsJSON())
	}
	if details := refused.Details(); details != (varve.Details{}) {
		t.Errorf("%+v", details)
	}
}

func detailsOf(t *testing.T, err error) varve.Details {
	t.Helper()
	var refused *varve.Error
	if !errors.As(err, &refused) {
		t.Fatal(err)
	}
	return refused.Details()
}

func TestAnErrorOfTheSystemIsItsErrnoToo(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "file", "below")
	if err := os.WriteFile(filepath.Dir(folder), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := varve.Open(folder, nil)
	if !errors.Is(err, syscall.ENOTDIR) {
		t.Errorf("%v is not ENOTDIR", err)
	}
	_, session := inMemory(t)
	_, err = session.ImportFile(filepath.Join(t.TempDir(), "missing"), nil)
	expectError(t, err, varve.ErrNotFound)
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v is not fs.ErrNotExist", err)
	}
}

// The names here are generated; the library has them too.
func TestStatusesHaveTheLibrarysNames(t *testing.T) {
	text, err := os.ReadFile("../api.json")
	if err != nil {
		t.Fatal(err)
	}
	var api struct {
		Constants []struct {
			Name, Type string
			Value      uint64
		}
	}
	if err := json.Unmarshal(text, &api); err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, constant := range api.Constants {
		if constant.Type == "varve_status_t" {
			compared++
			if name := varve.Status(constant.Value).Name(); name != constant.Name {
				t.Errorf("%d is %s, expected is %s", constant.Value, name, constant.Name)
			}
		}
	}
	if compared < 17 {
		t.Errorf("%d statuses were compared", compared)
	}
	if name := varve.Status(99).Name(); name != "VARVE_UNKNOWN_STATUS" {
		t.Error(name)
	}
	if varve.ErrBusy.Error() != "VARVE_BUSY" || varve.ErrForked != 61 || varve.ErrInternal != 127 {
		t.Error(varve.ErrBusy, int(varve.ErrForked), int(varve.ErrInternal))
	}
}
