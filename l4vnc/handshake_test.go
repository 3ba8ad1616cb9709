package l4vnc

import (
	"context"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/workstation"
)

// Each refusal, as the viewer's window shows it.
func TestEachBadTokenIsRefusedWithItsReason(t *testing.T) {
	const invalid = "This VNC address is not valid. Ask for a new one."
	const noName = "Your viewer did not send the host name. Connect again and enter the first part of the VNC address (before the first dot) as the password."
	for name, c := range map[string]struct {
		prepare      func(g *fakeGateway) (token string)
		reason, text string
	}{
		"a token that never was":       {func(*fakeGateway) string { return strings.Repeat("a2", 13) }, "unknown", invalid},
		"a label of another length":    {func(*fakeGateway) string { return "abc" }, "unknown", invalid},
		"a label before the token":     {func(g *fakeGateway) string { return "www." + g.issue(workstation.Options{}) }, "unknown", invalid},
		"no server name, and no label": {func(*fakeGateway) string { return "" }, "no_server_name", noName},
		"an expired token": {func(g *fakeGateway) string {
			token := g.issue(workstation.Options{ExpiresIn: time.Second})
			time.Sleep(time.Second)
			return token
		}, "expired", "This VNC address has expired. Ask for a new one."},
		"a released workstation": {func(g *fakeGateway) string {
			token := g.issue(workstation.Options{})
			if err := g.service.Release(g.t.Context(), "default", "one"); err != nil {
				g.t.Fatal(err)
			}
			return token
		}, "released", "This workstation was released."},
		"a session ended by hand": {func(g *fakeGateway) string {
			token := g.issue(workstation.Options{})
			session := g.joinAs(token, "192.0.2.9:1")
			if err := g.service.EndSession("default", "one", session.ID); err != nil {
				g.t.Fatal(err)
			}
			return token
		}, "revoked", "This VNC address was withdrawn. Ask for a new one."},
		"a token that another client has used": {func(g *fakeGateway) string {
			token := g.issue(workstation.Options{})
			g.joinAs(token, "192.0.2.9:1").Leave()
			return token
		}, "pinned", "This VNC address belongs to another computer. Ask for a new one."},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := newGateway(t, options{policy: workstation.Policy{PinClient: true}})
				host := c.prepare(g)
				if host != "" {
					host += "." + domain
				}
				g.converse(append(veNCrypt(subX509None, host), refusal(c.text)))
				g.wantRefused(c.reason)
				if g.dials != 0 || len(g.records) != 0 || g.limiter.Pending() != 0 {
					t.Errorf("%d dials, %d records, %d half open", g.dials, len(g.records), g.limiter.Pending())
				}
			})
		})
	}
}

// joinAs opens a session from an address, without the handler.
func (g *fakeGateway) joinAs(token, viewer string) *workstation.Session {
	g.t.Helper()
	from := netip.MustParseAddrPort(viewer)
	pass, err := g.service.Find(token, from.Addr())
	if err != nil {
		g.t.Fatal(err)
	}
	session, err := pass.Join(from, "X509None")
	if err != nil {
		g.t.Fatal(err)
	}
	return session
}

// A viewer with a live token that cannot join leaves a record. The workstation is not dialled.
func TestALiveTokenThatCannotJoinIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		policy workstation.Policy
		text   string
	}{
		"busy": {workstation.Policy{}, "Another viewer is connected."},
		"full": {workstation.Policy{OnConflict: workstation.Share, MaxSessions: 1}, "Too many viewers are connected. Try again later."},
	} {
		synctest.Test(t, func(t *testing.T) {
			g := newGateway(t, options{policy: c.policy})
			g.joinAs(g.issue(workstation.Options{}), "192.0.2.9:1")
			g.converse(append(tlsFirst(g.issue(workstation.Options{})+"."+domain), refusal(c.text)))
			if r := g.wantRecord(name, ""); r.Status != 403 || g.dials != 0 {
				t.Errorf("status %d, %d dials", r.Status, g.dials)
			}
			g.wantRefused()
		})
	}
}

// Join decides in the end: another viewer may have been faster, or the workstation released.
func TestAViewerThatLosesTheRaceToJoinIsRefused(t *testing.T) {
	for code, c := range map[string]struct {
		meanwhile func(g *fakeGateway)
		text      string
	}{
		"busy": {func(g *fakeGateway) { g.joinAs(g.issue(workstation.Options{}), "192.0.2.9:1") }, "Another viewer is connected."},
		"released": {func(g *fakeGateway) {
			if err := g.service.Release(g.t.Context(), "default", "one"); err != nil {
				g.t.Error(err)
			}
		}, "This workstation was released."},
	} {
		synctest.Test(t, func(t *testing.T) {
			g := newGateway(t, options{desktop: join(conversation{"W 1s"}, desktopNone, desktopInit)})
			token := g.issue(workstation.Options{})
			time.AfterFunc(time.Second/2, func() { c.meanwhile(g) })
			g.converse(append(tlsFirst(token+"."+domain), refusal(c.text)))
			g.wantRecord(code, "")
		})
	}
}

func TestAViewerThatComesWhenTheGatewayShutsDownIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGateway(t, options{})
		g.closed = true
		g.converse(append(tlsFirst(g.issue(workstation.Options{})+"."+domain), refusal("The gateway is shutting down. Try again in a moment.")))
		g.wantRefused("shutting_down")
	})
}

// Caddy may start the layer-4 app before the gateway.
func TestViewersAreRefusedWhileTheGatewayIsNotReady(t *testing.T) {
	const text = "The gateway is not ready. Try again in a moment."
	for name, c := range map[string]conversation{
		"TLS first": {"T any." + domain, greets, says38, "S \x01\x01", "C \x01", refusal(text)},
		"greeted":   {greets, says38, "S \x01\x01", "C \x01", refusal(text)},
		"3.3":       {greets, says33, "S \x00\x00\x00\x00" + counted(text)},
	} {
		synctest.Test(t, func(t *testing.T) {
			g := newGateway(t, options{})
			g.handler.settings.times.Step = 7 * time.Second
			waited := time.Duration(0)
			g.handler.current = func(ctx context.Context) vncGateway {
				begun := time.Now()
				<-ctx.Done()
				waited = time.Since(begun)
				return nil
			}
			g.converse(c)
			if g.wantRefused("unavailable"); waited != 7*time.Second {
				t.Errorf("%s: it waited %v", name, waited)
			}
		})
	}
}

// A reload may have replaced the configuration of the listener: tokens are those of the newest.
func TestTheNewestConfigurationServesTheViewer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, newest := newGateway(t, options{}), newGateway(t, options{})
		g.handler.current = func(context.Context) vncGateway { return newest }
		g.converse(join(tlsFirst(newest.issue(workstation.Options{})+"."+domain), opened, conversation{"X "}))
		newest.wantRecord("", "viewer_left")
	})
}

// A step that a person takes has more time than one of a program.
func TestEachStepHasItsTime(t *testing.T) {
	for name, c := range map[string]struct {
		open conversation
		want time.Duration
	}{
		"the version":       {conversation{greets}, 10 * time.Second},
		"the security type": {conversation{greets, says38, "S \x01\x13"}, 10 * time.Second},
		"TLS in VeNCrypt":   {veNCrypt(subX509None, "")[:9], 2 * time.Minute},
		"the password":      {veNCrypt(subX509Plain, ""), 2 * time.Minute},
		"TLS first":         {conversation{"C \x16"}, 10 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			g := newGateway(t, options{})
			viewer, done := g.connect()
			if _, err := c.open.play(viewer, 'C'); err != nil {
				t.Fatal(name, ": ", err)
			}
			begun := time.Now()
			<-done
			took := time.Since(begun)
			if took -= refusalLinger; took != c.want {
				t.Errorf("%s: closed after %v, want %v", name, took, c.want)
			}
			if len(g.refused) != 1 || !strings.HasPrefix(g.refused[0], "timeout: ") {
				t.Errorf("%s: refused %q", name, g.refused)
			}
			_ = viewer.Close()
		})
	}
}

// A person may be asked for the password in this step: the connection of a program is evicted
// first.
func TestAViewerAtItsPasswordIsEvictedLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGateway(t, options{})
		g.handler.settings.limits.PendingPerNetwork = 2
		token := g.issue(workstation.Options{})
		typing, typingDone := g.connect()
		last, err := veNCrypt(subX509Plain, "").play(typing, 'C')
		if err != nil {
			t.Fatal(err)
		}
		silent, silentDone := g.connect()
		newer, newerDone := g.connect()
		<-silentDone
		if _, err := join(conversation{plain(token)}, opened).play(last, 'C'); err != nil {
			t.Error(err)
		}
		_, _, _ = typing.Close(), silent.Close(), newer.Close()
		<-typingDone
		<-newerDone
	})
}
