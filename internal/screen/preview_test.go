package screen_test

import (
	"image"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/screen"
)

// peek is a page that shows a small picture.
func (l *lab) peek() (*screen.Screen, error) {
	return l.screens.Open(l.t.Context(), screen.Who{
		Gateway: l, Issuer: desktop.Issuer{Tenant: "default", Key: "agent", KeyHash: "5e1f"}, Workstation: "one", Client: viewer, Preview: true,
	})
}

// A page with a small picture is no agent: it is in no list, takes nothing of agents, and leaves nothing.
func TestAPreviewIsNoSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, nil)
		l.screens.SetLimits(screen.Limits{Sessions: 1, Memory: 4 * 640 * 400 * 2})
		person := l.person()
		for range 3 {
			x, err := l.peek()
			if err != nil {
				t.Fatal(err)
			}
			if shot := l.look(x, screen.Want{MaxWidth: 64}); shot.Space != image.Pt(64, 40) {
				t.Errorf("%+v", shot)
			}
			x.Release()
			time.Sleep(10 * time.Second)
		}
		listed := l.Service.OpenSessions(func(desktop.SessionView) bool { return true })
		if used, _ := l.screens.Memory(); used != 0 || l.State.Open() != 1 || len(listed) != 1 || person.Input.Watched() {
			t.Errorf("%d bytes, %d sessions, listed %+v", used, l.State.Open(), listed)
		}
		agent := l.mustOpen() // it has a connection and a place of its own
		l.look(agent, screen.Want{})
		if l.dials.Load() != 2 {
			t.Errorf("%d connections", l.dials.Load())
		}
		agent.Release()
		<-l.Left
		<-l.Left
		if left := l.Marks().Records; len(left) != 1 || left[0].Role != desktop.RoleAgent || left[0].Screenshots != 1 {
			t.Errorf("%d records, want that of the agent", len(left))
		}
	})
}

func TestAPreviewHasTheRightsOfAnAgent(t *testing.T) {
	for name, c := range map[string]struct {
		change func(p *desktop.Policy)
		before func(l *lab)
		code   apierror.Code
	}{
		"off":    {func(p *desktop.Policy) { p.Session.Automation = desktop.AutomationOff }, nil, apierror.AutomationOff},
		"alone":  {func(p *desktop.Policy) { p.Session.NotShared = true }, nil, apierror.WorkstationOccupied},
		"person": {nil, func(l *lab) { l.look(l.mustOpen(), screen.Want{}); l.person().Input.Press() }, apierror.ControlHeld},
	} {
		synctest.Test(t, func(t *testing.T) {
			l := newLab(t, c.change)
			if c.before != nil {
				c.before(l)
			}
			if _, err := l.peek(); err == nil {
				t.Errorf("%s: it is shown", name)
			} else {
				wantCode(t, err, c.code)
			}
		})
	}
}

func TestAReleaseEndsAPreview(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, nil)
		x, err := l.peek()
		if err != nil {
			t.Fatal(err)
		}
		defer x.Release()
		l.look(x, screen.Want{})
		if err := l.Service.Release(t.Context(), "default", "one", desktop.Releaser{}); err != nil {
			t.Fatal(err)
		}
		_, err = x.Look(t.Context(), screen.Want{})
		wantCode(t, err, apierror.NotFound)
		_, err = l.peek()
		wantCode(t, err, apierror.NotFound)
	})
}
