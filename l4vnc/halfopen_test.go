package l4vnc

import (
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
)

func TestTheOldestHalfOpenConnectionIsEvictedAndCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGateway(t, options{})
		g.handler.settings.limits.PendingPerNetwork = 2
		token := g.Issue(desktop.Options{})
		oldest, oldestDone := g.connect()
		if _, err := (conversation{greets}).Play(oldest, 'C'); err != nil {
			t.Fatal(err)
		}
		second, secondDone := g.connect() // is detected
		third, thirdDone := g.connect()
		<-oldestDone
		if _, err := oldest.Read(make([]byte, 1)); err == nil {
			t.Error("the oldest is not closed")
		}
		g.WantRefused("too_many_connections: max_pending or max_pending_per_network was reached, and this connection was closed for a newer one")
		time.Sleep(time.Second)
		if n := g.Limiter.Pending(); n != 2 {
			t.Errorf("%d are half open", n)
		}
		// A connection with a live token is half open no longer.
		if _, err := join(veNCrypt(subX509None, token+"."+domain), opened).Play(second, 'C'); err != nil {
			t.Fatal(err)
		}
		fourth, fourthDone := g.connect()
		synctest.Wait()
		if n := g.Limiter.Pending(); n != 2 {
			t.Errorf("%d are half open beside a session", n)
		}
		for _, viewer := range []net.Conn{second, third, fourth} {
			_ = viewer.Close()
		}
		<-secondDone
		<-thirdDone
		<-fourthDone
		g.WantRecord("", "viewer_left")
	})
}

// Refusals of tokens that never existed are delayed from the thirty-first in a minute on; dead
// tokens are no guesses.
func TestOnlyGuessesAreDelayed(t *testing.T) {
	const free = 30
	for shown, want := range map[string]time.Duration{
		"a token that never was": 2 * time.Second,
		"a released token":       0,
		"a name of another form": 0,
		"no token but a label":   2 * time.Second,
		"a password":             2 * time.Second,
	} {
		synctest.Test(t, func(t *testing.T) {
			g := newGateway(t, options{})
			text := "This VNC address is not valid. Ask for a new one."
			c := tlsFirst("a2a2a2a2a2a2a2a2a2a2a2a2a2." + domain)
			switch shown {
			case "a released token":
				c = tlsFirst(g.Issue(desktop.Options{}) + "." + domain)
				if err := g.Service.Release(t.Context(), "default", "one", desktop.Releaser{}); err != nil {
					t.Fatal(err)
				}
				text = "This workstation was released."
			case "a name of another form":
				c = veNCrypt(subX509None, "other.test")
			case "a password":
				c = append(veNCrypt(subX509Plain, ""), plain("a2a2a2a2a2a2a2a2a2a2a2a2a2"))
			case "no token but a label":
				c = veNCrypt(subX509None, "short."+domain)
			}
			timed := func() time.Duration {
				viewer, done := g.connect()
				last, err := c.Play(viewer, 'C')
				begun := time.Now()
				if err == nil {
					_, err = (conversation{refusal(text)}).Play(last, 'C')
				}
				if err != nil {
					t.Fatal(shown, ": ", err)
				}
				took := time.Since(begun)
				_ = viewer.Close()
				<-done
				return took
			}
			for range free {
				if took := timed(); took != 0 {
					t.Fatalf("%s: an early refusal took %v", shown, took)
				}
			}
			timed() // takes a turn, at once
			if took := timed(); took != want && (want == 0 || took < want/2 || took > want) {
				t.Errorf("%s: the refusal took %v, want %v", shown, took, want)
			}
		})
	}
}

// An eviction during the delay ends the delay, and the viewer still gets its reason.
func TestADelayedRefusalIsSentWhenTheConnectionIsEvicted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGateway(t, options{})
		g.handler.settings.limits.PendingPerNetwork = 1
		c := tlsFirst("a2a2a2a2a2a2a2a2a2a2a2a2a2." + domain)
		why := refusal("This VNC address is not valid. Ask for a new one.")
		for range 31 {
			g.converse(join(c, conversation{why, "X "}))
		}
		viewer, done := g.connect()
		last, err := c.Play(viewer, 'C')
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait() // it pauses
		begun := time.Now()
		other, otherDone := g.connect()
		conversation{why}.PlayToEnd(t, last)
		if took := time.Since(begun); took != 0 {
			t.Errorf("the reason came after %v", took)
		}
		_ = viewer.Close()
		_ = other.Close()
		<-done
		<-otherDone
	})
}
