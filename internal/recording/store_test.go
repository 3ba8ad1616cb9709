package recording_test

import (
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"filippo.io/age"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/recording"
)

// shelf is a store in a folder of its own, with a clock.
type shelf struct {
	*recording.Store
	now   time.Time
	id    *age.X25519Identity
	lines *observer.ObservedLogs
	made  int
}

var noon = time.Date(2026, 3, 18, 12, 0, 0, 0, time.UTC)

func newShelf(t testing.TB, s recording.Settings) *shelf {
	t.Helper()
	x := &shelf{now: noon, id: identity(t)}
	core, lines := observer.New(zap.InfoLevel)
	x.lines = lines
	if s.Dir == "" {
		s.Dir = filepath.Join(t.TempDir(), "recordings")
	}
	s.Recipients = []age.Recipient{x.id.Recipient()}
	x.Store = recording.NewStore(s, func() string { return "gw-1" }, zap.New(core), func() time.Time { return x.now })
	return x
}

// begin begins one of a tenant's workstation.
func (x *shelf) begin(t testing.TB, tenant, workstation string) (id string, w *recording.Writer) {
	t.Helper()
	x.made++
	h := header()
	h.Session, h.Tenant, h.Workstation, h.Begun = fmt.Sprintf("vnc-%016x", x.made), tenant, workstation, x.now
	w, err := x.Begin(h, nil)
	if err != nil {
		t.Fatal(err)
	}
	return h.Session, w
}

// make makes a whole one, with that many bytes of pictures.
func (x *shelf) make(t testing.TB, tenant, workstation string, size int) (id string) {
	t.Helper()
	id, w := x.begin(t, tenant, workstation)
	w.Server(make([]byte, size))
	if err := w.Close("viewer_left"); err != nil {
		t.Fatal(err)
	}
	return id
}

func every(string) bool { return true }

func ofTenant(name string) func(string) bool {
	return func(tenant string) bool { return tenant == name }
}

// list returns the last digits of the ids of all pages.
func (x *shelf) list(t *testing.T, query string, sees func(string) bool) (ids string) {
	t.Helper()
	q, err := url.ParseQuery(query)
	if err != nil {
		t.Fatal(err)
	}
	for {
		page, err := x.Page(q, sees)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range page.Data {
			ids += e.ID[len(e.ID)-1:]
		}
		if page.Next == nil {
			return ids
		}
		ids += "|"
		q.Set("cursor", *page.Next)
	}
}

func TestTheListHasWhatIsAskedFor(t *testing.T) {
	x := newShelf(t, recording.Settings{})
	x.make(t, "acme", "desk1", 1)
	x.make(t, "acme", "desk1", 1) // at the same moment
	x.now = x.now.Add(time.Second)
	x.make(t, "other", "desk1", 1)
	x.now = x.now.Add(36 * time.Hour)
	x.make(t, "acme", "desk2", 1)
	for query, want := range map[string]string{
		"":                              "4321",
		"limit=1":                       "4|3|2|1",
		"limit=2":                       "43|21",
		"limit=3":                       "432|1",
		"workstation=desk1":             "321",
		"key=alice":                     "4321",
		"key=bob":                       "",
		"user=ada@example.com":          "",
		"from=2026-03-20":               "4",
		"to=2026-03-18":                 "321",
		"from=2026-03-18T12:00:01Z":     "43",
		"to=2026-03-18T12:00:01Z":       "21",
		"from=2026-03-19&to=2026-03-19": "",
	} {
		if got := x.list(t, query, every); got != want {
			t.Errorf("%q: %s, want %s", query, got, want)
		}
	}
	if got := x.list(t, "limit=1", ofTenant("acme")); got != "4|2|1" {
		t.Errorf("a tenant sees %s", got)
	}
	for _, bad := range []string{"cursor=x", "cursor=1.x", "limit=0", "limit=1001", "from=x", "to=2026-03-17&from=2026-03-19"} {
		q, _ := url.ParseQuery(bad)
		param, _, _ := strings.Cut(bad, "=")
		_, err := x.Page(q, every)
		var refused *apierror.Error
		if !errors.As(err, &refused) || refused.HTTPStatus() != 400 || refused.Param != param {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

func TestAnEntrySaysHowItStands(t *testing.T) {
	x := newShelf(t, recording.Settings{})
	if got := x.list(t, "", every); got != "" {
		t.Fatalf("without a folder: %s", got)
	}
	id, w := x.begin(t, "acme", "desk1")
	e, err := x.Get(id, every)
	if err != nil || e.State != recording.Recording || e.Ended != nil || e.Node != "gw-1" || e.Key != "alice" || !e.Begun.Equal(noon) {
		t.Errorf("while it is written: %+v, %v", e, err)
	}
	var refused *apierror.Error
	if _, err := x.Delete(id, every); !errors.As(err, &refused) || refused.Code != apierror.RecordingInProgress {
		t.Errorf("it was deleted: %v", err)
	}
	x.now = x.now.Add(time.Minute)
	_ = w.Close("viewer_left")
	file, e, err := x.Open(id, every)
	if err != nil || e.State != recording.Complete || e.Reason != "viewer_left" || !e.Ended.Equal(x.now) {
		t.Fatalf("at its end: %+v, %v", e, err)
	}
	defer func() { _ = file.Close() }()
	content, err := io.ReadAll(file)
	if r, wrong := recording.NewReader(strings.NewReader(string(content)), x.id); wrong != nil || r.Header().Session != id || r.Header().Node != "gw-1" || int64(len(content)) != e.Bytes {
		t.Errorf("its file has %d bytes, the entry says %d: %v, %v", len(content), e.Bytes, err, wrong)
	}
	failed, w := x.begin(t, "acme", "desk1")
	w.Abort(errors.New("full"))
	_ = w.Close("viewer_left")
	if e, err := x.Get(failed, every); err != nil || e.State != recording.Incomplete {
		t.Errorf("after a failure: %+v, %v", e, err)
	}
	if _, err := x.Delete(id, every); err != nil {
		t.Error(err)
	}
	if _, err := x.Get(id, every); !errors.As(err, &refused) || refused.Code != apierror.NotFound {
		t.Errorf("it is still there: %v", err)
	}
}

// What a gateway leaves behind that was killed is whole up to the last bytes.
func TestWhatADeadGatewayLeavesIsIncomplete(t *testing.T) {
	x := newShelf(t, recording.Settings{})
	id, w := x.begin(t, "acme", "desk1")
	day := filepath.Join(x.Dir, "2026-03-18")
	dead := newShelf(t, recording.Settings{Dir: t.TempDir()}) // its process writes none of these
	dead.now = time.Now()
	if err := os.CopyFS(filepath.Join(dead.Dir, "2026-03-18"), os.DirFS(day)); err != nil {
		t.Fatal(err)
	}
	e, err := dead.Get(id, every)
	if err != nil || e.State != recording.Incomplete || e.Ended == nil {
		t.Errorf("%+v, %v", e, err)
	}
	others := recording.NewStore(dead.Settings, func() string { return "gw-2" }, zap.NewNop(), func() time.Time { return dead.now })
	if e, _ := others.Get(id, every); e.State != recording.Recording {
		t.Errorf("another gateway takes it for %s at once", e.State)
	}
	dead.now = dead.now.Add(25 * time.Hour)
	if e, _ := others.Get(id, every); e.State != recording.Incomplete {
		t.Errorf("another gateway takes it for %s after a day", e.State)
	}
	_ = w.Close("")
}

func TestAnotherTenantsRecordingDoesNotExist(t *testing.T) {
	x := newShelf(t, recording.Settings{})
	id := x.make(t, "acme", "desk1", 1)
	for _, id := range []string{id, "vnc-ffffffffffffffff", "../2026-03-18/" + id, "", "vnc-1"} {
		_, get := x.Get(id, ofTenant("other"))
		_, _, open := x.Open(id, ofTenant("other"))
		_, deleted := x.Delete(id, ofTenant("other"))
		for _, err := range []error{get, open, deleted} {
			var refused *apierror.Error
			if !errors.As(err, &refused) || refused.Code != apierror.NotFound {
				t.Errorf("%q: %v", id, err)
			}
		}
	}
	if _, err := x.Get(id, ofTenant("acme")); err != nil {
		t.Error(err)
	}
	if err := filepath.WalkDir(x.Dir, func(path string, _ os.DirEntry, err error) error {
		if strings.Contains(strings.TrimPrefix(path, x.Dir), "acme") || strings.Contains(strings.TrimPrefix(path, x.Dir), "desk1") {
			t.Errorf("the name %s says whose it is", path)
		}
		return err
	}); err != nil {
		t.Error(err)
	}
}

func TestAFolderThatCannotBeWrittenIsAnError(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	x := newShelf(t, recording.Settings{Dir: file})
	h := header()
	for _, h.Session = range []string{"vnc-0123456789abcdef", "../../x"} {
		if _, err := x.Begin(h, nil); err == nil {
			t.Errorf("%s is recorded", h.Session)
		}
	}
}

// A power failure leaves entries that are empty or cut off.
func TestARecordingWhoseEntryIsDamagedIsListed(t *testing.T) {
	for name, damage := range map[string]func(path string) error{
		"empty":   func(path string) error { return os.WriteFile(path, nil, 0o600) },
		"cut off": func(path string) error { return os.Truncate(path, 20) },
		"another's": func(path string) error {
			return os.WriteFile(path, []byte(`{"id":"vnc-ffffffffffffffff","tenant":"other"}`), 0o600)
		},
		"lost": os.Remove,
	} {
		t.Run(name, func(t *testing.T) {
			x := newShelf(t, recording.Settings{})
			id := x.make(t, "acme", "desk1", 1000)
			want, err := x.Get(id, every)
			if err == nil {
				err = damage(filepath.Join(x.Dir, "2026-03-18", id+".json"))
			}
			if err != nil {
				t.Fatal(err)
			}
			if e, err := x.Get(id, every); err != nil || e.State != recording.Complete || e.Tenant != "" || e.Bytes != want.Bytes || e.Ended == nil {
				t.Errorf("without an identity: %+v, %v", e, err)
			}
			if got := x.list(t, "", ofTenant("acme")) + x.list(t, "", ofTenant("other")); got != "" {
				t.Errorf("a tenant sees %s", got)
			}
			x.Identities = []age.Identity{x.id}
			e, err := x.Get(id, ofTenant("acme"))
			if err != nil || !e.Begun.Equal(want.Begun) || e.Ended == nil {
				t.Errorf("%+v, %v", e, err)
			}
			e.Begun, e.Ended, e.Reason = want.Begun, want.Ended, want.Reason
			if e != want {
				t.Errorf("%+v, want %+v", e, want)
			}
			if got := x.list(t, "", ofTenant("acme")); got != "1" {
				t.Errorf("the list has %q", got)
			}
			if err := os.Truncate(filepath.Join(x.Dir, "2026-03-18", id+".ghrec"), want.Bytes-1); err != nil {
				t.Fatal(err)
			}
			if e, err := x.Get(id, every); err != nil || e.State != recording.Incomplete || e.Key != "alice" {
				t.Errorf("cut off: %+v, %v", e, err)
			}
			if _, err := x.Delete(id, ofTenant("acme")); err != nil || x.list(t, "", every) != "" {
				t.Errorf("it is still there: %v", err)
			}
		})
	}
}
