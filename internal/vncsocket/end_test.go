package vncsocket

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/coder/websocket"

	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/vncrelaytest"
)

// At every end of a session the page gets its code and its words at once, and the record its reason.
func TestASessionEndsWithItsCodeAndWords(t *testing.T) {
	for reason, c := range map[string]struct {
		policy desktop.Policy
		end    func(f *fixture, b *browser, id string)
		after  time.Duration
		code   int
		text   string
	}{
		"released": {end: func(f *fixture, _ *browser, _ string) { release(f) }, code: 4001, text: "The workstation was released."},
		"released by a key": {end: func(f *fixture, _ *browser, _ string) {
			if err := f.Service.Release(context.Background(), "default", "one", desktop.Releaser{Key: "night"}); err != nil {
				f.T.Error(err)
			}
		}, code: 4001, text: `The key "night" released the workstation.`},
		"ended by a key": {end: func(f *fixture, _ *browser, id string) {
			if err := f.Service.EndSession("default", "one", id, "night"); err != nil {
				f.T.Error(err)
			}
		}, code: 4003, text: `The key "night" ended the session.`},
		"replaced": {policy: desktop.Policy{OnConflict: desktop.Replace}, end: func(f *fixture, _ *browser, _ string) {
			f.JoinAs(f.Issue(desktop.Options{}), "192.0.2.9:1").Leave()
		}, code: 4002, text: `A viewer with the key "dev" took the workstation.`},
		"ended": {end: func(f *fixture, _ *browser, id string) {
			if err := f.Service.EndSession("default", "one", id, ""); err != nil {
				f.T.Error(err)
			}
		}, code: 4003, text: "The session was ended by hand."},
		"idle_timeout": {policy: desktop.Policy{Session: desktop.SessionRules{IdleTimeout: 10 * time.Second}}, after: 10 * time.Second, end: func(*fixture, *browser, string) {},
			code: 4005, text: "No key or pointer was used for the longest time allowed."},
		// At no moment of a ping: over a pipe, which holds nothing, a pong and the end would wait for each other.
		"max_duration": {policy: desktop.Policy{MaxDuration: time.Hour - 10*time.Second}, after: time.Hour - 10*time.Second, end: func(*fixture, *browser, string) {},
			code: 4006, text: "The longest duration of a session is over."},
		"protocol_error": {end: func(_ *fixture, b *browser, _ string) { b.send(websocket.MessageBinary, "\x4d") },
			code: 1002, text: "A message was sent that the protocol does not allow."},
	} {
		t.Run(reason, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t, options{Policy: c.policy}, nil)
				begun := time.Now()
				b := f.desktop()
				views, err := f.Service.Sessions("default", "one")
				if err != nil || len(views) != 1 {
					t.Fatal(views, err)
				}
				c.end(f, b, views[0].ID)
				b.wantClose(c.code, c.text)
				if took := time.Since(begun); took != c.after {
					t.Errorf("it ended after %v, want %v", took, c.after)
				}
				<-f.Left
				code := ""
				if reason == "protocol_error" {
					code = "message"
				}
				f.WantRecord(code, strings.TrimSuffix(reason, " by a key"))
			})
		})
	}
}

func TestAWorkstationThatLeavesIsSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, options{Desktop: vncrelaytest.Join(vncrelaytest.DesktopNone, vncrelaytest.DesktopInit, conversation{"W 1s", "C wrong"})}, nil)
		b := f.show(f.Issue(desktop.Options{}))
		b.play(vncrelaytest.Join(chosen, conversation{accepted, "C \x01", initOne, "W 2s", "C " + pointer}))
		b.wantClose(CodeNoDesktop, "The workstation closed the connection.")
		<-f.Left
		f.WantRecord("", "workstation_left")
	})
}

// A reload that drops the key, and the end of the process.
func TestAReloadAndAShutdownEndTheSession(t *testing.T) {
	for reason, c := range map[string]struct {
		end  func(*fixture)
		code int
		text string
	}{
		"removed":  {func(f *fixture) { f.State.Revoke("default", "dev") }, 4004, "Your key or the workstation is no longer there."},
		"shutdown": {func(f *fixture) { f.State.EndAll(desktop.ReasonShutdown) }, 1001, "The gateway is stopping."},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := newFixture(t, options{}, nil)
			b := f.desktop()
			c.end(f)
			b.wantClose(c.code, c.text)
			<-f.Left
			f.WantRecord("", reason)
		})
	}
}

// signIn is a sign-in to the console.
type signIn struct {
	out     context.Context
	signOut context.CancelFunc
	watched atomic.Int64
	used    atomic.Pointer[func() time.Time]
}

func newSignIn() *signIn {
	s := new(signIn)
	s.out, s.signOut = context.WithCancel(context.Background())
	return s
}

// onEnd is the Options.OnSignOut of s.
func (s *signIn) onEnd(used func() time.Time, f func()) func() {
	s.used.Store(&used)
	s.watched.Add(1)
	stop := context.AfterFunc(s.out, f)
	return func() { s.watched.Add(-1); stop() }
}

const signedOut = "You are no longer signed in."

// A desktop ends with the sign-in, whatever it is just doing.
func TestASessionEndsWithTheSignIn(t *testing.T) {
	for name, c := range map[string]struct {
		desktop conversation
		come    func(f *fixture) *browser
		ended   string // of the record, "" without one
	}{
		"before the token":     {nil, func(f *fixture) *browser { return f.open() }, ""},
		"during the handshake": {nil, func(f *fixture) *browser { b := f.show(f.Issue(desktop.Options{})); b.play(chosen[:1]); return b }, ""},
		"before its ClientInit": {nil, func(f *fixture) *browser {
			b := f.show(f.Issue(desktop.Options{}))
			b.play(append(chosen[:4:4], accepted))
			return b
		}, "signed_out"},
		"open": {nil, (*fixture).desktop, "signed_out"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newSignIn()
				f := newFixture(t, options{Desktop: c.desktop}, func(o *Options) { o.OnSignOut = s.onEnd })
				b := c.come(f)
				synctest.Wait()
				s.signOut()
				begun := time.Now()
				b.wantClose(CodeSignIn, signedOut)
				if took := time.Since(begun); took != 0 {
					t.Errorf("after %v", took)
				}
				if c.ended != "" {
					<-f.Left
					f.WantRecord("", c.ended)
				}
				synctest.Wait()
				if f.Limiter.Pending() != 0 || s.watched.Load() != 0 {
					t.Errorf("%d half open, the sign-in is watched: %d", f.Limiter.Pending(), s.watched.Load())
				}
			})
		})
	}
}

// Whoever signs out while the workstation answers does not take the desktop from its holder.
func TestASignOutInTheHandshakeDisplacesNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSignIn()
		slow := vncrelaytest.Join(conversation{"W 3s"}, vncrelaytest.DesktopNone, vncrelaytest.DesktopInit)
		f := newFixture(t, options{Desktop: slow}, func(o *Options) { o.OnSignOut = s.onEnd })
		holder := f.JoinAs(f.Issue(desktop.Options{}), "192.0.2.9:1")
		defer holder.Leave()
		b := f.show(f.Issue(desktop.Options{Claim: desktop.TakeAny}))
		b.play(chosen)
		<-time.After(time.Second)
		s.signOut()
		b.wantClose(CodeSignIn, signedOut)
		<-f.returned
		if why := holder.Why(); why != "" {
			t.Errorf("the holder's session is %s", why)
		}
		f.WantRecord(string(desktop.RefusedRevoked), "")
		synctest.Wait()
		if s.watched.Load() != 0 {
			t.Error("the sign-in is still watched")
		}
	})
}

// Keys and the pointer are use of the sign-in, and updates of the picture are none.
func TestInputIsUseOfTheSignIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSignIn()
		f := newFixture(t, options{}, func(o *Options) { o.OnSignOut = s.onEnd })
		b := f.show(f.Issue(desktop.Options{}))
		synctest.Wait()
		used := *s.used.Load()
		if at := used(); !at.IsZero() {
			t.Errorf("before the desktop is open it was used at %v", at)
		}
		b.play(opened[:len(opened)-2]) // up to its first input
		<-time.After(10 * time.Second)
		b.play(conversation{"C " + vncrelaytest.Request})
		synctest.Wait()
		if at := used(); !at.IsZero() {
			t.Errorf("a request for a picture is use, at %v", at)
		}
		b.play(conversation{"C " + pointer})
		synctest.Wait()
		if at := used(); !at.Equal(time.Now()) {
			t.Errorf("the pointer is no use: it was used %v ago", time.Since(at))
		}
	})
}

// A sign-in that has ended before the socket was opened, and one that outlives it.
func TestASignInIsWatchedAsLongAsTheSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSignIn()
		s.signOut()
		f := newFixture(t, options{}, func(o *Options) { o.OnSignOut = s.onEnd })
		f.open().wantClose(CodeSignIn, signedOut)
	})
	synctest.Test(t, func(t *testing.T) {
		s := newSignIn()
		f := newFixture(t, options{}, func(o *Options) { o.OnSignOut = s.onEnd })
		b := f.desktop()
		<-f.returned
		if s.watched.Load() != 1 {
			t.Error("the sign-in is not watched while the session is open")
		}
		_ = b.ws.Close(websocket.StatusNormalClosure, "")
		<-f.Left
		synctest.Wait()
		f.WantRecord("", "viewer_left")
		if s.watched.Load() != 0 {
			t.Error("the sign-in is watched for ever")
		}
	})
}

// Each reason has a code and words that fit a Close.
func TestEachEndHasACodeAndWords(t *testing.T) {
	for _, reason := range desktop.Reasons() {
		code, text := endOf(reason, strings.Repeat("k", 60))
		if code < 1000 || text == "" && reason != desktop.ReasonViewer || len(text) > 123 || !utf8.ValidString(text) {
			t.Errorf("%s: %d %q", reason, code, text)
		}
	}
	if _, text := endOf(desktop.ReasonReplaced, ""); text != "Another viewer took the workstation." {
		t.Errorf("replaced by nobody known: %q", text)
	}
}
