package vnc

import (
	"bytes"
	"image/color"
	"image/png"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

func TestAnAgentSeesTheTestCard(t *testing.T) {
	h := harness.Start(t, harness.Setup{VNC: "automation view\nworkstation card {\ntest_card\n}\n"})
	const path = "/v1/workstations/card/screenshot"
	a := h.Client.Want(200, "GET", path, "agent", "")
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
	again := h.Client.Want(200, "GET", path+"?region=0,0,160,300&max_width=16", "agent", "")
	if id := a.Header.Get("Gatehouse-Session"); id == "" || again.Header.Get("Gatehouse-Session") != id || again.Header.Get("Gatehouse-Space") != "16x30" {
		t.Errorf("%v, then %v", a.Header, again.Header)
	}
	list := harness.Parse(t, h.Client.Want(200, "GET", "/v1/sessions", "desk", "").Body)
	for name, want := range map[string]any{"key": "agent", "role": "agent", "security": "automation", "workstation_id": "card"} {
		if got := harness.At(list, "data", 0, name); got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
}
