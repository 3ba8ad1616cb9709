package desktop_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop/memory"
)

// memoryStorage is a storage in memory.
type memoryStorage struct {
	mu     sync.Mutex
	values map[string][]byte
	fail   error                           // of every call, if set
	before func(op, key string)            // called first, without the lock
	wait   func(ctx context.Context) error // in Store, without the lock
}

func newMemoryStorage() *memoryStorage { return &memoryStorage{values: map[string][]byte{}} }

func (s *memoryStorage) enter(op, key string) error {
	s.mu.Lock()
	before := s.before
	s.mu.Unlock()
	if before != nil {
		before(op, key)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.fail
}

func (s *memoryStorage) Store(ctx context.Context, key string, value []byte) error {
	if err := s.enter("store", key); err != nil {
		return err
	}
	if s.wait != nil {
		if err := s.wait(ctx); err != nil {
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.values[key] = bytes.Clone(value)
	return ctx.Err()
}

func (s *memoryStorage) Load(_ context.Context, key string) ([]byte, error) {
	if err := s.enter("load", key); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	value, ok := s.values[key]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return value, nil
}

func (s *memoryStorage) Delete(_ context.Context, key string) error {
	if err := s.enter("delete", key); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.values, key)
	return nil
}

func (s *memoryStorage) List(_ context.Context, path string, _ bool) ([]string, error) {
	if err := s.enter("list", path); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	keys := slices.Sorted(maps.Keys(s.values))
	if len(keys) == 0 {
		return nil, fs.ErrNotExist
	}
	return slices.DeleteFunc(keys, func(k string) bool { return !strings.HasPrefix(k, path+"/") }), nil
}

func (s *memoryStorage) failWith(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fail = err
}

func (s *memoryStorage) len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.values)
}

var (
	desk1  = desktop.ID{Tenant: "default", Name: "desk1"}
	desk2  = desktop.ID{Tenant: "default", Name: "desk2"}
	viewer = netip.MustParseAddrPort("192.0.2.1:40000")
	other  = netip.MustParseAddrPort("192.0.2.2:40000")
	dev    = desktop.Issuer{Tenant: "default", Key: "dev"}
)

// config declares desk1 and desk2 and allows registrations in 10.0.0.0/8.
func config(change func(*desktop.Config)) desktop.Config {
	c := desktop.Config{
		Policy: desktop.Policy{
			Domain:      "vnc.example.com",
			Networks:    []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")},
			Credentials: map[string]desktop.Credential{"lab": {Password: "hunter2-lab"}},
		},
		Workstations: []desktop.Spec{
			{ID: desk1, Target: desktop.Target{Address: "127.0.0.1:5901", Password: "hunter2-desk1"}},
			{ID: desk2, Target: desktop.Target{TestCard: true}},
		},
		Random: rand.Reader,
	}
	if change != nil {
		change(&c)
	}
	if c.State == nil {
		c.State = memory.NewState(time.Now)
	}
	if c.Storage == nil {
		c.Storage = newMemoryStorage()
	}
	return c
}

func newService(t testing.TB, change func(*desktop.Config)) *desktop.Service {
	t.Helper()
	d, err := desktop.New(config(change))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// open is a service that has started.
func open(t testing.TB, change func(*desktop.Config)) *desktop.Service {
	t.Helper()
	d := newService(t, change)
	if err := d.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return d
}

func issue(t testing.TB, d *desktop.Service, name string, o desktop.Options) (label string, issued desktop.Issued) {
	t.Helper()
	issued, err := d.Issue(dev, name, o)
	if err != nil {
		t.Fatal(err)
	}
	label, _, _ = strings.Cut(issued.URL, ".")
	return label, issued
}

// join finds and joins.
func join(d *desktop.Service, label string, from netip.AddrPort) (*desktop.Session, error) {
	pass, err := d.Find(label, from.Addr())
	if err != nil {
		return nil, err
	}
	return pass.Join(from, "x509none")
}

func mustJoin(t testing.TB, d *desktop.Service, label string, from netip.AddrPort) *desktop.Session {
	t.Helper()
	x, err := join(d, label, from)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func wantRefusal(t testing.TB, err error, code desktop.RefusalCode) {
	t.Helper()
	var r *desktop.Refusal
	if !errors.As(err, &r) || r.Code != code {
		t.Fatalf("got %v, want the refusal %q", err, code)
	}
	if r.Text == "" || len(r.Text) > 80 {
		t.Errorf("%q: the viewer is shown %q", code, r.Text)
	}
}

func wantFault(t testing.TB, err error, code apierror.Code, param string) {
	t.Helper()
	var e *apierror.Error
	if !errors.As(err, &e) || e.Code != code || e.Param != param {
		t.Fatalf("got %v, want %s of %q", err, code, param)
	}
}

func wantEnded(t testing.TB, x *desktop.Session, why desktop.Reason) {
	t.Helper()
	select {
	case <-x.Ended():
	default:
		t.Fatal("the session is still open")
	}
	if x.Why() != why {
		t.Errorf("ended because of %q, want %q", x.Why(), why)
	}
}

func wantOpen(t testing.TB, x *desktop.Session) {
	t.Helper()
	select {
	case <-x.Ended():
		t.Fatalf("the session ended: %s", x.Why())
	default:
	}
}

func mustIssue(t testing.TB, d *desktop.Service, name string) (label string) {
	t.Helper()
	label, _ = issue(t, d, name, desktop.Options{})
	return label
}

func only(tenant string) func(string) bool { return func(t string) bool { return t == tenant } }

func everyTenant(string) bool { return true }
