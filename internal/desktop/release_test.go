package desktop_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop/memory"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/desktoptest"
)

func TestReleaseEndsEverythingAtOneWorkstation(t *testing.T) {
	storage := new(desktoptest.Storage)
	d := open(t, func(c *desktop.Config) { c.Storage = storage })
	label, _ := issue(t, d, "desk1", desktop.Options{Shared: true})
	spare, _ := issue(t, d, "desk1", desktop.Options{})
	elsewhere, _ := issue(t, d, "desk2", desktop.Options{})
	a, b := mustJoin(t, d, label, viewer), mustJoin(t, d, label, other)
	bystander := mustJoin(t, d, elsewhere, viewer)
	for range 2 { // also when repeated
		if err := d.Release(t.Context(), "default", "desk1", desktop.Releaser{}); err != nil {
			t.Fatal(err)
		}
	}
	wantEnded(t, a, desktop.ReasonReleased)
	wantEnded(t, b, desktop.ReasonReleased)
	wantOpen(t, bystander)
	for _, l := range []string{label, spare} {
		_, err := join(d, l, viewer)
		wantRefusal(t, err, desktop.RefusedReleased)
	}
	_, err := d.Issue(dev, "desk1", desktop.Options{})
	wantFault(t, err, apierror.NotFound, "")
	v, err := d.Get("default", "desk1")
	if err != nil || v.State != desktop.StateReleased || v.ReleasedAt.IsZero() || v.Sessions != 0 || v.Tokens != 0 {
		t.Errorf("%+v, %v", v, err)
	}
	if len(storage.Values()) != 1 {
		t.Errorf("%d values are stored", len(storage.Values()))
	}
	if err := d.Restore(t.Context(), "default", "desk1"); err != nil {
		t.Fatal(err)
	}
	_, err = join(d, label, viewer) // dead stays dead
	wantRefusal(t, err, desktop.RefusedReleased)
	fresh, _ := issue(t, d, "desk1", desktop.Options{})
	mustJoin(t, d, fresh, viewer)
}

func TestNobodyIsInOnceReleaseHasReturned(t *testing.T) {
	before := 0
	for round := range 1000 {
		d := open(t, func(c *desktop.Config) { c.OnConflict = desktop.Share })
		label, _ := issue(t, d, "desk1", desktop.Options{})
		pass, err := d.Find(label, viewer.Addr())
		if err != nil {
			t.Fatal(err)
		}
		var joined []*desktop.Session
		var mu sync.Mutex
		var all sync.WaitGroup
		start := make(chan struct{})
		for range 3 {
			all.Go(func() {
				<-start
				if x, err := pass.Join(viewer, "none"); err == nil {
					mu.Lock()
					joined = append(joined, x)
					mu.Unlock()
				}
			})
		}
		released := make(chan error, 1)
		all.Go(func() {
			<-start
			err := d.Release(context.Background(), "default", "desk1", desktop.Releaser{})
			if open, _ := d.Sessions("default", "desk1"); len(open) != 0 {
				t.Errorf("round %d: %d sessions are open", round, len(open))
			}
			if _, late := pass.Join(viewer, "none"); late == nil {
				t.Errorf("round %d: joined after the release", round)
			}
			released <- err
		})
		close(start)
		all.Wait()
		if err := <-released; err != nil {
			t.Fatal(err)
		}
		before += len(joined)
		for _, x := range joined {
			wantEnded(t, x, desktop.ReasonReleased)
		}
	}
	t.Logf("%d of 3000 joins came before the release", before)
}

func TestAReleaseIsInForceBeforeASlowStorageHasIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		storage := new(desktoptest.Storage)
		storage.Wait = func(ctx context.Context) error {
			select {
			case <-time.After(3 * time.Second):
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		d := open(t, func(c *desktop.Config) { c.Storage = storage })
		label, _ := issue(t, d, "desk1", desktop.Options{})
		x := mustJoin(t, d, label, viewer)
		ctx, gone := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- d.Release(ctx, "default", "desk1", desktop.Releaser{}) }()
		synctest.Wait()
		wantEnded(t, x, desktop.ReasonReleased)
		if d.Live(label) || len(storage.Values()) != 0 {
			t.Error("live, or stored already")
		}
		gone() // the caller hangs up: the mark is made durable all the same
		second := make(chan error, 1)
		go func() { second <- d.Release(t.Context(), "default", "desk1", desktop.Releaser{}) }()
		synctest.Wait()
		select {
		case err := <-second:
			t.Error("a repeated release returned before the mark was durable:", err)
		default:
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
		if err := <-second; err != nil || len(storage.Values()) != 1 {
			t.Error(err, len(storage.Values()))
		}
	})
}

func TestAHangingStorageFailsTheCallNotTheRelease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		storage := new(desktoptest.Storage)
		storage.Wait = func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
		d := open(t, func(c *desktop.Config) { c.Storage = storage })
		began := time.Now()
		wantFault(t, d.Release(t.Context(), "default", "desk1", desktop.Releaser{}), apierror.StorageUnavailable, "")
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("took %s", took)
		}
		_, err := d.Issue(dev, "desk1", desktop.Options{})
		wantFault(t, err, apierror.NotFound, "")
	})
}

func TestAFailingStorage(t *testing.T) {
	storage := new(desktoptest.Storage)
	d := open(t, func(c *desktop.Config) { c.Storage = storage })
	broken := errors.New("disk full")
	label, _ := issue(t, d, "desk1", desktop.Options{})
	x := mustJoin(t, d, label, viewer)

	storage.FailWith(broken)
	for range 2 { // the second tries again
		err := d.Release(t.Context(), "default", "desk1", desktop.Releaser{})
		wantFault(t, err, apierror.StorageUnavailable, "")
		if !errors.Is(err, broken) {
			t.Error("the cause is lost for the log")
		}
	}
	wantEnded(t, x, desktop.ReasonReleased)
	wantFault(t, d.Restore(t.Context(), "default", "desk1"), apierror.StorageUnavailable, "")
	_, err := d.Issue(dev, "desk1", desktop.Options{})
	wantFault(t, err, apierror.NotFound, "")
	_, _, err = d.Register(t.Context(), "default", "new", desktop.Registration{Address: "10.0.0.1:5900"})
	wantFault(t, err, apierror.StorageUnavailable, "")
	_, err = d.Get("default", "new")
	wantFault(t, err, apierror.NotFound, "")

	storage.FailWith(nil)
	if err := d.Release(t.Context(), "default", "desk1", desktop.Releaser{}); err != nil || len(storage.Values()) != 1 {
		t.Fatal(err, len(storage.Values()))
	}
}

// A restore that fails may have reached the storage: what memory says then must
// win at the next start.
func TestAFailedRestoreOpensNothingLater(t *testing.T) {
	storage, state := new(desktoptest.Storage), memory.NewState(time.Now)
	use := func(c *desktop.Config) { c.Storage, c.State = storage, state }
	d := open(t, use)
	if err := d.Release(t.Context(), "default", "desk1", desktop.Releaser{}); err != nil {
		t.Fatal(err)
	}
	failing := open(t, func(c *desktop.Config) { use(c); c.Storage = &takesButFails{Storage: storage} })
	wantFault(t, failing.Restore(t.Context(), "default", "desk1"), apierror.StorageUnavailable, "")
	reloaded := open(t, use)
	if v, _ := reloaded.Get("default", "desk1"); v.State != desktop.StateReleased {
		t.Errorf("after the reload: %s", v.State)
	}
	restarted := open(t, func(c *desktop.Config) { c.Storage = storage })
	if v, _ := restarted.Get("default", "desk1"); v.State != desktop.StateReleased {
		t.Errorf("after the restart: %s", v.State)
	}
}

type takesButFails struct{ *desktoptest.Storage }

func (s *takesButFails) Store(ctx context.Context, key string, value []byte) error {
	if err := s.Storage.Store(ctx, key, value); err != nil {
		return err
	}
	return errors.New("timeout after the write")
}

func TestARegistrationEndsAlsoAfterTheClockWasSetBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var back atomic.Int64
		d := open(t, func(c *desktop.Config) {
			c.State = memory.NewState(func() time.Time { return time.Now().Add(-time.Duration(back.Load())) })
		})
		mustRegister(t, d, "run", desktop.Registration{Address: "10.0.0.1:5900", OnExpiry: desktop.OnExpiryEnd, ExpiresIn: time.Hour})
		x := mustJoin(t, d, mustIssue(t, d, "run"), viewer)
		back.Store(int64(time.Second))
		time.Sleep(time.Hour + 2*time.Second)
		synctest.Wait()
		wantEnded(t, x, desktop.ReasonReleased)
	})
}
