package vnc

import (
	"context"
	"sync"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// seen are the events that reached the subscriber of a test's Caddy.
var seen eventBook

type eventBook struct {
	mu   sync.Mutex // guards the following
	list []caddy.Event
}

func (b *eventBook) reset() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.list = nil
}

// named are the data of the events of a name.
func (b *eventBook) named(name string) (data []map[string]any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, e := range b.list {
		if e.Name() == name {
			data = append(data, e.Data)
		}
	}
	return data
}

func init() { caddy.RegisterModule(subscriber{}) }

// subscriber is the handler "gatehouse_test" of Caddy's events.
type subscriber struct{}

func (subscriber) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "events.handlers.gatehouse_test", New: func() caddy.Module { return new(subscriber) }}
}

func (*subscriber) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next()
	return nil
}

func (*subscriber) Handle(_ context.Context, e caddy.Event) error {
	seen.mu.Lock()
	defer seen.mu.Unlock()
	seen.list = append(seen.list, e)
	return nil
}

const subscribe = `events {
	on vnc_session_opened gatehouse_test
	on vnc_session_closed gatehouse_test
	on workstation_released gatehouse_test
}
`

func TestVNCSubscribersLogAndActivityTellOfASession(t *testing.T) {
	seen.reset()
	d := harness.NewVNCServer(t, harness.NoSecurity)
	h := harness.StartVNC(t, harness.Setup{Global: subscribe, VNC: d.As("one", "")})
	a := h.VNC.Issue("connect", "one", "")
	w := h.VNC.View(a).Echo(1, 1) // 2 pointer events, both ways
	viewer := w.LocalAddr().String()
	id := h.VNC.Sessions("one")[0]
	end := w.ReadToEnd()
	h.VNC.Release("one")
	harness.WantEnd(t, "the viewer", end)
	h.VNC.WaitClosed()

	if !harness.Eventually(func() bool {
		return len(seen.named("vnc_session_closed")) == 1 && len(seen.named("workstation_released")) == 1
	}) {
		t.Fatal("the subscriber was not told")
	}
	opened, closed := seen.named("vnc_session_opened"), seen.named("vnc_session_closed")[0]
	if len(opened) != 1 {
		t.Fatalf("%d sessions opened", len(opened))
	}
	for name, want := range map[string]any{"tenant": "default", "workstation": "one", "session": id, "key": "connect", "viewer": viewer, "security": "TLSFirst"} {
		if opened[0][name] != want || closed[name] != want {
			t.Errorf("%s: %v when opened, %v when closed, want %v", name, opened[0][name], closed[name], want)
		}
	}
	for name, want := range map[string]any{"reason": "released", "bytes_up": int64(12), "bytes_down": int64(12)} {
		if closed[name] != want {
			t.Errorf("closed: %s is %v, want %v", name, closed[name], want)
		}
	}
	if seconds, _ := closed["seconds"].(float64); seconds <= 0 {
		t.Errorf("closed: seconds %v", closed["seconds"])
	}
	if e := seen.named("workstation_released")[0]; e["workstation"] != "one" || e["tenant"] != "default" || e["sessions"] != 1 {
		t.Errorf("released: %v", e)
	}

	row := vncRecord(h, "one")
	for name, want := range map[string]any{
		"id": id, "route": "VNC session", "key": "connect", "status": harness.Number("200"), "code": nil,
		"ended": "released", "bytes_up": harness.Number("12"), "bytes_down": harness.Number("12"),
	} {
		if got := harness.At(row, name); got != want {
			t.Errorf("row: %s is %v, want %v", name, got, want)
		}
	}
	line := vncLogLine(h, `"msg":"vnc session"`, id)
	for name, want := range map[string]any{
		"level": "info", "workstation": "one", "key": "connect", "tenant": "default", "token": opened[0]["token"], "remote": viewer,
		"security": "TLSFirst", "ended": "released", "bytes_up": harness.Number("12"), "bytes_down": harness.Number("12"),
	} {
		if got := harness.At(line, name); got != want {
			t.Errorf("line: %s is %v, want %v", name, got, want)
		}
	}
	for series, want := range map[string]float64{
		`gatehouse_vnc_sessions_total{ended="released",security="TLSFirst"}`: 1,
		`gatehouse_vnc_bytes_total{direction="up"}`:                          12,
		`gatehouse_vnc_bytes_total{direction="down"}`:                        12,
		`gatehouse_vnc_session_duration_seconds_count`:                       1,
	} {
		if got := h.Records.Metric(series); got != want {
			t.Errorf("%s is %v, want %v", series, got, want)
		}
	}
	if rows := harness.At(harness.Parse(t, h.Client.Get("/api/v1/activity?limit=1000", "foreign").Body), "data", 0); rows != nil {
		t.Errorf("another tenant sees %v", rows)
	}
}

// After a reload the subscribers of the newest configuration get the events.
func TestVNCEventsGoToTheNewestConfiguration(t *testing.T) {
	seen.reset()
	d := harness.NewVNCServer(t, harness.NoSecurity)
	h := harness.StartVNC(t, harness.Setup{VNC: d.As("one", "")})
	w := h.VNC.View(h.VNC.Issue("connect", "one", ""))
	h.Become(harness.Setup{Global: subscribe, VNC: d.As("one", "")})
	w.Leave()
	if !harness.Eventually(func() bool { return len(seen.named("vnc_session_closed")) == 1 }) {
		t.Error("nobody was told")
	}
}
