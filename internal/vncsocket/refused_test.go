package vncsocket

import (
	"context"
	"crypto/rand"
	"errors"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/vncrelaytest"
)

const (
	noToken = "The first message is not a VNC token."
	invalid = "This VNC address is not valid. Ask for a new one."
)

// A first message that is no token ends the connection, and counts as a wrong one.
func TestAFirstMessageThatIsNoTokenIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		kind    websocket.MessageType
		message string
		refused string
	}{
		"text":     {websocket.MessageText, strings.Repeat("a2", 13), "garbage: reading the token: a text message instead of a binary one"},
		"too long": {websocket.MessageBinary, strings.Repeat("a", 65), "too_long: reading the token: a message that is too long"},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := newFixture(t, options{}, nil)
			b := f.open()
			b.send(c.kind, c.message)
			b.wantClose(codePolicy, noToken)
			<-f.returned
			f.WantRefused(c.refused)
			wantPending(f, name)
		})
	}
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, options{}, nil)
		b, begun := f.open(), time.Now()
		b.wantClose(codePolicy, noToken)
		if took := time.Since(begun); took != 5*time.Second {
			t.Errorf("a slow one is closed after %v", took)
		}
		<-f.returned
		f.WantRefused("timeout: reading the token: i/o timeout")
		wantPending(f, "slow")
	})
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, options{}, nil)
		_ = f.open().pipe.Close()
		<-f.returned
		if refused := f.Marks().Refused; len(refused) != 1 || !strings.HasPrefix(refused[0], "gone: ") {
			t.Errorf("a lost connection: %q", refused)
		}
	})
}

func wantPending(f *fixture, name string) {
	f.T.Helper()
	if m := f.Marks(); f.Limiter.Pending() != 0 || m.Running != 0 || m.Dials != 0 {
		f.T.Errorf("%s: %d half open, %d sessions, %d dials", name, f.Limiter.Pending(), m.Running, m.Dials)
	}
}

// Each refusal, as noVNC shows it, and the same words with the Close. To those who have not signed in
// with its key, a token does not exist.
func TestEachBadTokenIsRefusedWithItsReason(t *testing.T) {
	other := func(change func(*Key)) func(*fixture) string {
		return func(f *fixture) string {
			change(&f.options.SignedIn)
			return f.Issue(desktop.Options{})
		}
	}
	for name, c := range map[string]struct {
		prepare      func(f *fixture) (token string)
		reason, text string
	}{
		"one that never was":      {func(*fixture) string { return strings.Repeat("a2", 13) }, "unknown", invalid},
		"an empty one":            {func(*fixture) string { return "" }, "unknown", invalid},
		"a whole address":         {func(f *fixture) string { return f.Issue(desktop.Options{}) + "." + vncrelaytest.Domain }, "unknown", invalid},
		"one of another tenant":   {other(func(k *Key) { k.Tenant = "other" }), "unknown", invalid},
		"one of another key":      {other(func(k *Key) { k.Hash = "00ff" }), "unknown", invalid},
		"one of the key before":   {other(func(k *Key) { k.Hash = "" }), "unknown", invalid},
		"an expired one":          {expired, "expired", "This VNC address has expired. Ask for a new one."},
		"of one that is released": {released, "released", "This workstation was released."},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t, options{}, nil)
				b := f.show(c.prepare(f))
				b.play(append(chosen[:len(chosen):len(chosen)], vncrelaytest.Refusal(c.text)))
				b.wantClose(codePolicy, c.text)
				<-f.returned
				f.WantRefused(c.reason)
				wantPending(f, name)
			})
		})
	}
}

func expired(f *fixture) string {
	token := f.Issue(desktop.Options{ExpiresIn: time.Second})
	time.Sleep(time.Second)
	return token
}

func released(f *fixture) string {
	token := f.Issue(desktop.Options{})
	release(f)
	return token
}

// Who guesses waits longer and longer, as at the native port.
func TestWrongTokensAreSlowedDown(t *testing.T) {
	for name, wrong := range map[string]func(*fixture) *browser{
		"wrong tokens": func(f *fixture) *browser {
			b := f.show(rand.Text())
			b.play(chosen)
			return b
		},
		"no tokens": func(f *fixture) *browser {
			b := f.open()
			b.send(websocket.MessageText, "hello")
			return b
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := newFixture(t, options{}, nil)
			begun := time.Now()
			var last time.Duration
			for range 34 {
				b, at := wrong(f), time.Now()
				<-f.returned
				last = time.Since(at)
				b.leave()
			}
			if took := time.Since(begun); took < 4*time.Second || last < 2*time.Second {
				t.Errorf("%s: 34 took %v, the last %v", name, took, last)
			}
			// A good one does not wait.
			at := time.Now()
			f.desktop()
			if took := time.Since(at); took != 0 {
				t.Errorf("%s: a good token waited %v", name, took)
			}
		})
	}
}

// A browser with a live token that cannot have the workstation leaves a record, and reads why.
func TestAWorkstationThatCannotBeOpenedIsReported(t *testing.T) {
	unreachable := func(context.Context, *desktop.Pass) (net.Conn, error) { return nil, errors.New("no route") }
	for name, c := range map[string]struct {
		desktop conversation
		change  func(*Options)
		busy    bool
		code    string
		text    string
		status  int
	}{
		"unreachable": {nil, func(o *Options) { o.Dial = unreachable }, false, "workstation_unreachable", "The workstation cannot be reached. Try again later.", 502},
		"silent":      {conversation{"W 1h"}, nil, false, "workstation_timeout", "The workstation did not answer in time. Try again later.", 502},
		"refusing": {conversation{vncrelaytest.Greets, vncrelaytest.Says38, "S \x00" + vncrelaytest.Counted("no")}, nil, false,
			"workstation_refused", "The workstation refused the connection. Tell your administrator.", 502},
		"busy": {nil, nil, true, "busy", "Another viewer is connected.", 403},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t, options{Desktop: c.desktop}, c.change)
				if c.busy {
					defer f.JoinAs(f.Issue(desktop.Options{}), "192.0.2.9:1").Leave()
				}
				b := f.show(f.Issue(desktop.Options{}))
				b.play(append(chosen[:len(chosen):len(chosen)], vncrelaytest.Refusal(c.text)))
				b.wantClose(codePolicy, c.text)
				<-f.Left
				if r := f.WantRecord(c.code, ""); r.Status != c.status {
					t.Errorf("status %d", r.Status)
				}
				time.Sleep(patient) // the workstation's end
			})
		})
	}
}

// Without a session the browser is told to try again: another gateway may answer.
func TestABrowserThatComesWhenTheGatewayShutsDownIsSentAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, options{}, nil)
		f.Closed = true
		b := f.show(f.Issue(desktop.Options{}))
		const text = "The gateway is shutting down. Try again in a moment."
		b.play(append(chosen[:len(chosen):len(chosen)], vncrelaytest.Refusal(text)))
		b.wantClose(codeLeaving, text)
		<-f.returned
		f.WantRefused("shutting_down")
	})
}

// Another protocol behind a good token is not RFB.
func TestABrowserThatDoesNotSpeakRFBIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, options{}, nil)
		b := f.show(f.Issue(desktop.Options{}))
		b.play(conversation{vncrelaytest.Greets, "C GET / HTTP/1.1\r\n"})
		b.wantClose(codeProtocol, "The browser did not answer as a VNC viewer.")
		<-f.returned
		f.WantRefused("http: reading the viewer's version: HTTP instead")
		wantPending(f, "HTTP")
	})
}
