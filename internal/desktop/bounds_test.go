package desktop_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop/memory"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/desktoptest"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"
)

func TestALabelHas1To63Characters(t *testing.T) {
	d := newService(t, nil)
	for length, want := range map[int]bool{0: false, 1: true, 63: true, 64: false} {
		label := strings.Repeat("a", length)
		if got, ok := d.Policy().Label(label + ".vnc.example.com"); ok != want || ok && got != label {
			t.Errorf("%d characters: %q, %t", length, got, ok)
		}
	}
}

func TestALabelHasLettersDigitsAndHyphens(t *testing.T) {
	d := newService(t, nil)
	for label, want := range map[string]bool{"az": true, "AZ": true, "09": true, "a-0": true, "a`": false, "a{": false, "a/": false, "a:": false, "a_": false} {
		if got, ok := d.Policy().Label(label + ".vnc.example.com"); ok != want || ok && got != strings.ToLower(label) {
			t.Errorf("%q: %q, %t", label, got, ok)
		}
	}
}

func TestThePortOfThePolicyHas16Bits(t *testing.T) {
	for port, want := range map[int]bool{-1: false, 1: true, 65535: true, 65536: false} {
		_, err := desktop.New(config(func(c *desktop.Config) { c.Policy.Port = port }))
		if (err == nil) != want {
			t.Errorf("%d: %v", port, err)
		}
	}
}

func TestAReleaseIsAnnouncedOnceThoughNobodyIsConnected(t *testing.T) {
	var events []map[string]any
	d := open(t, func(c *desktop.Config) {
		c.Emit = func(name string, data map[string]any) {
			if name == desktop.EventReleased {
				events = append(events, data)
			}
		}
	})
	for range 2 {
		if err := d.Release(t.Context(), "default", "desk1", desktop.Releaser{}); err != nil {
			t.Fatal(err)
		}
	}
	if len(events) != 1 || events[0]["workstation"] != "desk1" || events[0]["sessions"] != 0 {
		t.Errorf("got %v", events)
	}
}

func TestASessionIsPrintedAsItsID(t *testing.T) {
	d := open(t, nil)
	x := mustJoin(t, d, mustIssue(t, d, "desk1"), viewer)
	if got := fmt.Sprintf("%v", x); got != x.ID || !strings.HasPrefix(got, "vnc-") {
		t.Errorf("got %q", got)
	}
}

func TestAddressesThatAreRead(t *testing.T) {
	long := strings.Repeat("a", 63)
	for text, want := range map[string]string{
		"10.0.0.1:1":                          "10.0.0.1:1",
		"10.0.0.1:65535":                      "10.0.0.1:65535",
		"[2001:db8::1]:5900":                  "[2001:db8::1]:5900",
		"[::ffff:10.0.0.1]:5900":              "10.0.0.1:5900",
		"desk.example.com:5900":               "invalid AddrPort",
		"desk.example.com.:5900":              "invalid AddrPort",
		"7up:5900":                            "invalid AddrPort",
		long + ".example.com:5900":            "invalid AddrPort",
		strings.Repeat("a.", 126) + "a:65535": "invalid AddrPort", // 253 characters
	} {
		addr, port, err := desktop.ParseAddress(text)
		if got := netip.AddrPortFrom(addr, port).String(); err != nil || got != want || port == 0 {
			t.Errorf("%q: %s, port %d, %v; want %s", text, got, port, err, want)
		}
	}
	for text, want := range map[string]string{
		"10.0.0.1":                             "host:port",
		"10.0.0.1:":                            "port",
		"10.0.0.1:0":                           "port",
		"10.0.0.1:65536":                       "port",
		"10.0.0.1:+80":                         "port",
		"10.0.0.1:-1":                          "port",
		"[fe80::1%eth0]:5900":                  "zone",
		"127.1:5900":                           "host name",
		"0x7f000001:5900":                      "host name",
		"desk.0x7f:5900":                       "host name",
		"desk.123:5900":                        "host name",
		":5900":                                "host name",
		"a..b:5900":                            "host name",
		"-a.example.com:5900":                  "host name",
		"a_b.example.com:5900":                 "host name",
		long + "a.example.com:5900":            "host name",
		strings.Repeat("a.", 126) + "aa:65535": "at most 259 characters",
	} {
		if addr, port, err := desktop.ParseAddress(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, %d, %v; want %q", text, addr, port, err, want)
		}
	}
}

func TestAfterAChangeThatMayHaveArrivedTheSameRegistrationIsWrittenAgain(t *testing.T) {
	storage, state := new(desktoptest.Storage), memory.NewState(time.Now)
	use := func(c *desktop.Config) { c.Storage, c.State = storage, state }
	d := open(t, use)
	register(t, d, "default", "run", "10.0.0.1:5901")
	failing := open(t, func(c *desktop.Config) { use(c); c.Storage = &takesButFails{Storage: storage} })
	_, _, err := failing.Register(t.Context(), "default", "run", desktop.Registration{Address: "10.0.0.2:5901"})
	wantFault(t, err, apierror.StorageUnavailable, "")
	register(t, d, "default", "run", "10.0.0.1:5901") // as memory has it
	restarted := open(t, func(c *desktop.Config) { c.Storage = storage })
	if v, err := restarted.Get("default", "run"); err != nil || v.Address != "10.0.0.1:5901" {
		t.Errorf("after a restart: %+v, %v", v, err)
	}
}

func TestAStartWritesNothingThatTheStorageHas(t *testing.T) {
	storage := new(desktoptest.Storage)
	use := func(c *desktop.Config) { c.Storage = storage }
	d := open(t, use)
	register(t, d, "default", "run", "10.0.0.1:5901")
	if err := d.Release(t.Context(), "default", "desk1", desktop.Releaser{}); err != nil {
		t.Fatal(err)
	}
	var writes atomic.Int32
	storage.Before = func(op, _ string) {
		if op == "store" || op == "delete" {
			writes.Add(1)
		}
	}
	open(t, use)
	if n := writes.Load(); n != 0 {
		t.Errorf("%d writes", n)
	}
}

func TestAHangingStorageFailsAfterTenSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		storage := new(desktoptest.Storage)
		d := open(t, func(c *desktop.Config) { c.Storage = storage })
		storage.Wait = func(ctx context.Context) error {
			<-ctx.Done()
			return ctx.Err()
		}
		start := time.Now()
		_, _, err := d.Register(t.Context(), "default", "run", desktop.Registration{Address: "10.0.0.1:5901"})
		wantFault(t, err, apierror.StorageUnavailable, "")
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != 10*time.Second {
			t.Errorf("%v after %v", err, time.Since(start))
		}
	})
}

func TestWhatIsToHappenAtTheEndHappensOnceOrIsTakenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := open(t, nil)
		x := mustJoin(t, d, mustIssue(t, d, "desk1"), viewer)
		ran := make(chan string, 3)
		x.OnEnd(func() { ran <- "taken back" })()
		finish := make(chan struct{})
		stop := x.OnEnd(func() {
			<-finish
			ran <- "run"
		})
		synctest.Wait()
		if len(ran) != 0 {
			t.Errorf("%s before the end", <-ran)
		}
		x.End(desktop.ReasonEnded)
		synctest.Wait()
		stopped := make(chan struct{})
		go func() {
			stop() // waits for what has begun
			stop()
			close(stopped)
		}()
		synctest.Wait()
		select {
		case <-stopped:
			t.Error("it is taken back while it runs")
		default:
		}
		close(finish)
		<-stopped
		x.Leave()
		if got := <-ran; got != "run" || len(ran) != 0 {
			t.Errorf("%s, and %d more", got, len(ran))
		}
	})
}

func TestAnswersHaveTimesInUTCAndWholeSeconds(t *testing.T) {
	view := desktop.SessionView{Started: time.Date(2026, 5, 13, 14, 0, 0, 999, time.FixedZone("", 7200)), Viewer: viewer}
	text, err := json.Marshal(view)
	if err != nil || !jsontest.Has(t, text, `{"started_at":"2026-05-13T12:00:00Z","until":"0001-01-01T00:00:00Z"}`) {
		t.Errorf("%s, %v", text, err)
	}
}
