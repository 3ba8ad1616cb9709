package login

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/caddyserver/certmagic"
	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/authserver"
)

const origin = "https://ai.example.com"

// memory is a store of one gateway, which ends with it.
type memory struct {
	mu      sync.Mutex
	records map[authserver.ID]authserver.Record
}

func (*memory) Load(context.Context, []authserver.Kind, func(authserver.Record)) error { return nil }
func (*memory) Loading() bool                                                          { return false }
func (*memory) Follow(func(authserver.Record))                                         {}

func (m *memory) Get(_ context.Context, id authserver.ID) (authserver.Record, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, ok := m.records[id]
	return r, ok, nil
}

func (m *memory) Change(_ context.Context, id authserver.ID, edit func(*authserver.Record) (authserver.Record, error)) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	var before *authserver.Record
	if r, ok := m.records[id]; ok {
		before = &r
	}
	after, err := edit(before)
	if err == nil {
		m.records[id] = after
	}
	return err
}

// idp is an identity provider.
type idp struct{ refused error }

var ann = authserver.Person{ID: "okta-1", Hash: "hash of ann", Name: "ann@example.com", Identity: "okta", Role: "developer"}

func (*idp) Choices() []string { return []string{"okta"} }
func (*idp) Begin(http.ResponseWriter, *http.Request, string, string) (string, error) {
	return "", errors.New("no browser comes here")
}

func (*idp) Still(authserver.Person) bool { return true }

func (*idp) Rights(string) []string { return nil }

func (*idp) MaxLife(string) time.Duration { return 0 }

func (p *idp) Again(context.Context, authserver.Person, string) (authserver.Person, string, error) {
	return ann, "upstream", p.refused
}

// bench is a gateway's authorization server, and the machine of a person who signs in as soon as an
// address is shown.
type bench struct {
	*program
	t       *testing.T
	server  *authserver.Server
	idp     *idp
	shown   strings.Builder
	lost    bool                           // the gateway does not answer
	edit    func(http.ResponseWriter) bool // answers in its place
	renewed atomic.Int64
}

// with runs a test at a clock that goes on when all wait.
func with(t *testing.T, test func(*testing.T, *bench)) {
	t.Helper()
	folder := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		b := &bench{t: t, idp: new(idp)}
		state := authserver.NewState(time.Now)
		if err := state.Open(t.Context(), &memory{records: map[authserver.ID]authserver.Record{}}); err != nil {
			t.Fatal(err)
		}
		s, err := authserver.New(authserver.Config{Origin: origin, Keys: []string{strings.Repeat("k", authserver.MinKey)}})
		if err != nil {
			t.Fatal(err)
		}
		b.server = s.With(state, b.idp, zap.NewNop())
		b.program = &program{http: newClient(b), files: &certmagic.FileStorage{Path: folder}, tell: b, person: true}
		test(t, b)
		time.Sleep(time.Minute) // what keeps a lock fresh ends after it
	})
}

// later goes on after a time.
func later(d time.Duration) { time.Sleep(d) }

// RoundTrip implements http.RoundTripper.
func (b *bench) RoundTrip(r *http.Request) (*http.Response, error) {
	if b.lost {
		return nil, errors.New("connection refused")
	}
	w := httptest.NewRecorder()
	if b.edit != nil && b.edit(w) {
		return w.Result(), nil
	}
	r.RemoteAddr = "192.0.2.1:1000"
	serve, ok := map[string]http.HandlerFunc{
		authserver.MetadataPath: b.server.ServeMetadata, authserver.DevicePath: b.server.ServeDevice,
		authserver.TokenPath: b.server.ServeToken, authserver.RevokePath: b.server.ServeRevoke,
	}[r.URL.Path]
	if !ok || r.URL.Scheme+"://"+r.URL.Host != origin {
		serve = http.NotFound
	}
	if r.Body == nil {
		r.Body = http.NoBody
	}
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(strings.NewReader(string(body)))
	if strings.Contains(string(body), "grant_type=refresh_token") {
		b.renewed.Add(1)
	}
	serve(w, r)
	return w.Result(), nil
}

// Write implements io.Writer: the person reads a code, and signs in at the page.
func (b *bench) Write(text []byte) (int, error) {
	if _, after, found := strings.Cut(string(text), "code: "); found {
		code, _, _ := strings.Cut(after, "\n")
		w := httptest.NewRecorder()
		authserver.NewPages(b.server).Finish(w, httptest.NewRequest(http.MethodGet, "/", nil), code, ann, "upstream")
	}
	return b.shown.Write(text)
}

// want gets a token, which must be good at the gateway.
func (b *bench) want() string {
	b.t.Helper()
	token, err := b.token(b.t.Context(), origin)
	if err != nil {
		b.t.Fatal(err)
	}
	if _, _, err := b.server.Find(b.t.Context(), token); err != nil {
		b.t.Fatalf("%q is not good: %v", token, err)
	}
	return token
}

// refused wants no token, and a sentence.
func (b *bench) refused(sentence string) {
	b.t.Helper()
	if token, err := b.token(b.t.Context(), origin); token != "" || err == nil || !strings.Contains(err.Error(), sentence) {
		b.t.Errorf("%q, %v; want an error with %q", token, err, sentence)
	}
}
