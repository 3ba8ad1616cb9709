package vnc

import (
	"bytes"
	"image/color"
	"image/png"
	"slices"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

const (
	cardShot = "/v1/workstations/card/screenshot"
	testCard = "workstation card {\ntest_card\n}\n"
	// still is the part of the test card that does not move.
	still = cardShot + "?region=0,0,1280,380"
)

func TestAnAgentSeesTheTestCard(t *testing.T) {
	h := harness.Start(t, harness.Setup{VNC: "automation view\n" + testCard})
	a := h.Client.Want(200, "GET", cardShot, "agent", "")
	if a.Header.Get("Content-Type") != "image/png" || a.Header.Get("Gatehouse-Size") != "1280x720" || a.Header.Get("Gatehouse-Space") != "1280x720" {
		t.Errorf("%v", a.Header)
	}
	picture, err := png.Decode(bytes.NewReader(a.Body))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []uint32{0xFFFFFF, 0xFFFF00, 0x00FFFF, 0x00FF00, 0xFF00FF, 0xFF0000, 0x0000FF, 0} {
		c := color.RGBAModel.Convert(picture.At(160*i+80, 200)).(color.RGBA)
		if got := uint32(c.R)<<16 | uint32(c.G)<<8 | uint32(c.B); got != want {
			t.Errorf("bar %d is %06x, want %06x", i, got, want)
		}
	}
	again := h.Client.Want(200, "GET", cardShot+"?region=0,0,160,300&max_width=16", "agent", "")
	if id := a.Header.Get("Gatehouse-Session"); id == "" || again.Header.Get("Gatehouse-Session") != id || again.Header.Get("Gatehouse-Space") != "16x30" {
		t.Errorf("%v, then %v", a.Header, again.Header)
	}
	workstations := harness.Parse(t, h.Client.Want(200, "GET", "/v1/workstations", "agent", "").Body)
	if got := harness.At(workstations, "data", 0, "automation"); got != "view" {
		t.Errorf("automation %v", got)
	}
	list := harness.Parse(t, h.Client.Want(200, "GET", "/v1/sessions", "desk", "").Body)
	for name, want := range map[string]any{"key": "agent", "role": "agent", "security": "automation", "workstation_id": "card"} {
		if got := harness.At(list, "data", 0, name); got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
}

func TestAnUnchangedDesktopIsNotSentAgain(t *testing.T) {
	h := harness.Start(t, harness.Setup{VNC: "automation view\n" + testCard})
	first := h.Client.Want(200, "GET", still, "agent", "")
	tag := first.Header.Get("ETag")
	r := h.Client.Request(still+"&quiet_ms=100&max_ms=600", "agent", "") // the rest of the card moves
	r.Header.Set("If-None-Match", `"old", W/`+tag)
	again := h.Client.Send(r)
	if again.Status != 304 || len(again.Body) != 0 || again.Header.Get("ETag") != tag || again.Header.Get("Gatehouse-Settled") != "false" || again.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("%d, %d bytes, %v", again.Status, len(again.Body), again.Header)
	}
	r = h.Client.Request(cardShot+"?wait=20", "agent", "")
	if moved := h.Client.Send(r); moved.Status != 200 || len(moved.Body) == 0 {
		t.Errorf("the whole card has changed: %d", moved.Status)
	}
	head := h.Client.Want(200, "HEAD", still, "agent", "")
	if head.Header.Get("ETag") != tag || len(head.Body) != 0 {
		t.Errorf("HEAD: %v", head.Header)
	}
}

func TestAPictureIsRefusedToThoseWhoMayNot(t *testing.T) {
	h := harness.Start(t, harness.Setup{VNC: "automation view\n" + testCard + "workstation closed {\ntest_card\nsession {\nautomation off\n}\n}\n" + "workstation gone 127.0.0.1:1\n"})
	for _, c := range []struct {
		path, key, code, says string
		status                int
	}{
		{cardShot, "connect", "insufficient_scope", "workstations:automate", 403},
		{cardShot, "foreign", "not_found", "card", 404},
		{"/v1/workstations/none/screenshot", "agent", "not_found", "none", 404},
		{"/v1/workstations/closed/screenshot", "agent", "automation_off", "workstation closed has automation off", 403},
		{"/v1/workstations/gone/screenshot", "agent", "workstation_unreachable", "workstation_unreachable", 502},
		{cardShot + "?max_width=0", "agent", "invalid_value", "max_width", 400},
		{cardShot + "?wait=61", "agent", "invalid_value", "wait", 400},
		{cardShot + "?region=0,0,0,9", "agent", "invalid_value", "region", 400},
		{cardShot + "?region=0,0,9", "agent", "invalid_value", "region", 400},
		{cardShot + "?region=1200,0,100,100", "agent", "invalid_value", "1280x720", 400},
		{cardShot + "?width=9", "agent", "unsupported_parameter", "width", 400},
	} {
		a := h.Client.Get(c.path, c.key)
		harness.WantRefusal(t, c.path, a, c.status, c.code)
		if !bytes.Contains(a.Body, []byte(c.says)) {
			t.Errorf("%s: %s", c.path, a.Body)
		}
		id := a.Header.Get("X-Request-Id")
		found := slices.ContainsFunc(h.Records.Rows(""), func(row any) bool { return harness.At(row, "request_id") == id && harness.At(row, "code") == c.code })
		if tenant := c.key == "foreign"; !found && !tenant {
			t.Errorf("%s with %s leaves no row", c.path, c.key)
		}
	}
}

// A call that waits must not hold what was released.
func TestAReleaseEndsAnAgentsCall(t *testing.T) {
	h := harness.Start(t, harness.Setup{VNC: "automation view\n" + testCard})
	tag := h.Client.Want(200, "GET", still, "agent", "").Header.Get("ETag")
	waits := make(chan harness.Answer, 1)
	go func() {
		r := h.Client.Request(still+"&wait=60", "agent", "")
		r.Header.Set("If-None-Match", tag)
		waits <- h.Client.Send(r)
	}()
	harness.WantInFlight(h, 2) // the call, and its session
	h.VNC.Release("card")
	harness.WantRefusal(t, cardShot, <-waits, 404, "not_found")
	row := vncRecord(h, "card")
	for name, want := range map[string]any{"ended": "released", "role": "agent", "screenshots": harness.Number("1"), "key": "agent"} {
		if got := harness.At(row, name); got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	h.VNC.WaitClosed()
	if !harness.Eventually(func() bool { return h.Records.Metric("gatehouse_automation_memory_bytes") == 0 }) {
		t.Error("memory is held")
	}
}

func TestAReloadKeepsAnAgentsDesktopUnlessItForbidsIt(t *testing.T) {
	s := harness.Setup{VNC: "automation view\n" + testCard}
	h := harness.Start(t, s)
	session := func() string { return h.Client.Want(200, "GET", still, "agent", "").Header.Get("Gatehouse-Session") }
	before := session()
	h.Become(s)
	if after := session(); after != before {
		t.Errorf("session %s became %s", before, after)
	}
	s.VNC = testCard
	h.Become(s)
	harness.WantRefusal(t, cardShot, h.Client.Get(cardShot, "agent"), 403, "automation_off")
}
