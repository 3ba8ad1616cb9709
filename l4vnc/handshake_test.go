package l4vnc

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/vncrelay"
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
		"a label before the token":     {func(g *fakeGateway) string { return "www." + g.Issue(desktop.Options{}) }, "unknown", invalid},
		"no server name, and no label": {func(*fakeGateway) string { return "" }, "no_server_name", noName},
		"an expired token": {func(g *fakeGateway) string {
			token := g.Issue(desktop.Options{ExpiresIn: time.Second})
			time.Sleep(time.Second)
			return token
		}, "expired", "This VNC address has expired. Ask for a new one."},
		"a released workstation": {func(g *fakeGateway) string {
			token := g.Issue(desktop.Options{})
			if err := g.Service.Release(g.T.Context(), "default", "one", desktop.Releaser{}); err != nil {
				g.T.Fatal(err)
			}
			return token
		}, "released", "This workstation was released."},
		"a session ended by hand": {func(g *fakeGateway) string {
			token := g.Issue(desktop.Options{})
			session := g.JoinAs(token, "192.0.2.9:1")
			if err := g.Service.EndSession("default", "one", session.ID, ""); err != nil {
				g.T.Fatal(err)
			}
			return token
		}, "revoked", "This VNC address was withdrawn. Ask for a new one."},
		"a token that another client has used": {func(g *fakeGateway) string {
			token := g.Issue(desktop.Options{})
			g.JoinAs(token, "192.0.2.9:1").Leave()
			return token
		}, "pinned", "This VNC address belongs to another computer. Ask for a new one."},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := newGateway(t, options{Policy: desktop.Policy{PinClient: true}})
				host := c.prepare(g)
				if host != "" {
					host += "." + domain
				}
				g.converse(append(veNCrypt(subX509None, host), refusal(c.text)))
				g.WantRefused(c.reason)
				if g.Marks().Dials != 0 || len(g.Marks().Records) != 0 || g.Limiter.Pending() != 0 {
					t.Errorf("%d dials, %d records, %d half open", g.Marks().Dials, len(g.Marks().Records), g.Limiter.Pending())
				}
			})
		})
	}
}

// A viewer with a live token that cannot join leaves a record. The workstation is not dialled.
func TestALiveTokenThatCannotJoinIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		policy desktop.Policy
		text   string
	}{
		"busy": {desktop.Policy{}, "Another viewer is connected."},
		"full": {desktop.Policy{OnConflict: desktop.Share, MaxSessions: 1}, "Too many viewers are connected. Try again later."},
	} {
		synctest.Test(t, func(t *testing.T) {
			g := newGateway(t, options{Policy: c.policy})
			g.JoinAs(g.Issue(desktop.Options{}), "192.0.2.9:1")
			g.converse(append(tlsFirst(g.Issue(desktop.Options{})+"."+domain), refusal(c.text)))
			if r := g.WantRecord(name, ""); r.Status != 403 || g.Marks().Dials != 0 {
				t.Errorf("status %d, %d dials", r.Status, g.Marks().Dials)
			}
			g.WantRefused()
		})
	}
}

// Join decides in the end: another viewer may have been faster, or the workstation released.
func TestAViewerThatLosesTheRaceToJoinIsRefused(t *testing.T) {
	for code, c := range map[string]struct {
		meanwhile func(g *fakeGateway)
		text      string
	}{
		"busy": {func(g *fakeGateway) { g.JoinAs(g.Issue(desktop.Options{}), "192.0.2.9:1") }, "Another viewer is connected."},
		"released": {func(g *fakeGateway) {
			if err := g.Service.Release(g.T.Context(), "default", "one", desktop.Releaser{}); err != nil {
				g.T.Error(err)
			}
		}, "This workstation was released."},
	} {
		synctest.Test(t, func(t *testing.T) {
			g := newGateway(t, options{Desktop: join(conversation{"W 1s"}, desktopNone, desktopInit)})
			token := g.Issue(desktop.Options{})
			time.AfterFunc(time.Second/2, func() { c.meanwhile(g) })
			g.converse(append(tlsFirst(token+"."+domain), refusal(c.text)))
			g.WantRecord(code, "")
			time.Sleep(time.Second) // the workstation's end
		})
	}
}

func TestAViewerThatComesWhenTheGatewayShutsDownIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGateway(t, options{})
		g.Closed = true
		g.converse(append(tlsFirst(g.Issue(desktop.Options{})+"."+domain), refusal("The gateway is shutting down. Try again in a moment.")))
		g.WantRefused("shutting_down")
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
			g.handler.current = func(ctx context.Context) vncrelay.Gateway {
				begun := time.Now()
				<-ctx.Done()
				waited = time.Since(begun)
				return nil
			}
			g.converse(c)
			if g.WantRefused("unavailable"); waited != 7*time.Second {
				t.Errorf("%s: it waited %v", name, waited)
			}
		})
	}
}

// A reload may have replaced the configuration of the listener: tokens are those of the newest.
func TestTheNewestConfigurationServesTheViewer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, newest := newGateway(t, options{}), newGateway(t, options{})
		g.handler.current = func(context.Context) vncrelay.Gateway { return newest }
		g.converse(join(tlsFirst(newest.Issue(desktop.Options{})+"."+domain), opened, conversation{"X "}))
		newest.WantRecord("", "viewer_left")
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
			if _, err := c.open.Play(viewer, 'C'); err != nil {
				t.Fatal(name, ": ", err)
			}
			begun := time.Now()
			<-done
			took := time.Since(begun)
			if took -= refusalLinger; took != c.want {
				t.Errorf("%s: closed after %v, want %v", name, took, c.want)
			}
			if len(g.Marks().Refused) != 1 || !strings.HasPrefix(g.Marks().Refused[0], "timeout: ") {
				t.Errorf("%s: refused %q", name, g.Marks().Refused)
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
		token := g.Issue(desktop.Options{})
		typing, typingDone := g.connect()
		last, err := veNCrypt(subX509Plain, "").Play(typing, 'C')
		if err != nil {
			t.Fatal(err)
		}
		silent, silentDone := g.connect()
		newer, newerDone := g.connect()
		<-silentDone
		if _, err := join(conversation{plain(token)}, opened).Play(last, 'C'); err != nil {
			t.Error(err)
		}
		_, _, _ = typing.Close(), silent.Close(), newer.Close()
		<-typingDone
		<-newerDone
	})
}
