package gateway

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop/memory"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/desktoptest"
)

// unreadable is a storage whose first reads fail, each with the next error.
type unreadable struct {
	desktoptest.Storage
	errs []error
}

func (s *unreadable) List(context.Context, string, bool) ([]string, error) {
	if len(s.errs) == 0 {
		return nil, fs.ErrNotExist
	}
	err := s.errs[0]
	s.errs = s.errs[1:]
	return nil, err
}

func newService(t *testing.T, errs ...error) (*desktop.Service, *unreadable) {
	t.Helper()
	storage := &unreadable{errs: errs}
	service, err := desktop.New(desktop.Config{
		State: memory.NewState(time.Now), Storage: storage, Random: rand.Reader, Policy: desktop.Policy{Domain: "vnc.example.com"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return service, storage
}

func TestWorkstationsAreTriedAgainUntilTheirRecordsCanBeRead(t *testing.T) {
	first, second := errors.New("no disk"), errors.New("no folder")
	for name, c := range map[string]struct {
		errs  []error
		after int // tries
		lines []string
	}{
		"at once": {nil, 0, nil},
		"after a while": {[]error{first, first, second}, 3, []string{
			"workstations are not available until their records can be read", "workstations are not available yet", "workstations are available",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				core, lines := observer.New(zap.InfoLevel)
				service, _ := newService(t, c.errs...)
				startWorkstations(t.Context(), service, zap.New(core))
				for try := range c.after {
					if service.Ready() == nil {
						t.Fatalf("ready after %d tries", try)
					}
					time.Sleep(workstationsRetry) // the bubble's clock
					synctest.Wait()
				}
				if err := service.Ready(); err != nil {
					t.Error(err)
				}
				var got []string
				for _, line := range lines.All() {
					got = append(got, line.Message)
				}
				if !slices.Equal(got, c.lines) {
					t.Errorf("the log says %q, want %q", got, c.lines)
				}
			})
		})
	}
}

func TestWorkstationsAreNotTriedAfterTheEndOfTheirConfiguration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, end := context.WithCancel(t.Context())
		service, storage := newService(t, slices.Repeat([]error{errors.New("no disk")}, 10)...)
		startWorkstations(ctx, service, zap.NewNop())
		end()
		time.Sleep(10 * workstationsRetry)
		if len(storage.errs) != 9 {
			t.Errorf("read %d times", 10-len(storage.errs))
		}
	})
}

func TestAKeyMayConnectWhileItIsTheSameKey(t *testing.T) {
	const secret = "gk-unit-0123456789"
	now := time.Now()
	ring, err := keys.NewKeyring([]keys.Spec{{Name: "dev", Secrets: []string{secret}, Scopes: []string{"workstations:connect"}, Expires: now.Add(time.Hour)},
		{Name: "other", Secrets: []string{secret + "x"}, Scopes: []string{"models:read"}}})
	if err != nil {
		t.Fatal(err)
	}
	issuer := func(secret string) desktop.Issuer {
		credential, err := ring.Authenticate(secret, now)
		if err != nil {
			t.Fatal(err)
		}
		return desktop.Issuer{Tenant: credential.Tenant, Key: credential.Name, KeyHash: credential.Hash}
	}
	dev := issuer(secret)
	renamed, moved, unknown := dev, dev, dev
	renamed.Key, moved.Tenant, unknown.KeyHash = "new", "acme", "0"
	may := mayConnect(ring, func() time.Time { return now })
	for name, c := range map[string]struct {
		by   desktop.Issuer
		want bool
	}{
		"the key": {dev, true}, "another name": {renamed, false}, "another tenant": {moved, false},
		"another secret": {unknown, false}, "without the scope": {issuer(secret + "x"), false},
	} {
		if may(c.by) != c.want {
			t.Errorf("%s: %v", name, !c.want)
		}
	}
	now = now.Add(2 * time.Hour)
	if may(dev) {
		t.Error("an expired key may connect")
	}
}
