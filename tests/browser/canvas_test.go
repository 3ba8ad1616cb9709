//go:build linux

package browser

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"image"
	"image/draw"
	"image/png"
	"net/http"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/tests/desktop"
	"github.com/gatehouse-proxy/gatehouse/tests/process"
)

const (
	// lookTimeout is how long a desktop may take to be visible, on a busy machine.
	lookTimeout = 20 * time.Second
	// inputTimeout is how long a key, a click or a change may take.
	inputTimeout = 10 * time.Second
	// endTimeout is how long a desktop may be open after its end.
	endTimeout = time.Second
)

const (
	station     = "desk1"
	stationPath = "/console/workstations/" + station + "/desktop"
	demoPath    = "/console/workstations/demo/desktop"
)

// startStation starts a real VNC server.
func startStation(t *testing.T) *desktop.Desktop {
	t.Helper()
	server, err := exec.LookPath("Xtigervnc")
	if err != nil {
		t.Fatal(err)
	}
	d, err := desktop.StartXvnc(t.TempDir(), server, station)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Stop)
	return d
}

// siteWithDesktop is a gateway with a real VNC server.
func siteWithDesktop(t *testing.T, options ...string) (*site, *desktop.Desktop) {
	t.Helper()
	d := startStation(t)
	block := fmt.Sprintf("\t\t\tworkstation %s 127.0.0.1:%d {\n\t\t\t\tpassword {env.BROWSER_DESKTOP}\n%s\n\t\t\t}\n", d.Name, d.Port, strings.Join(options, "\n"))
	return ownSite(t, block, "BROWSER_DESKTOP="+d.Password), d
}

// openDesktop shows a desktop at its own size.
func (b *tab) openDesktop(path string) {
	b.t.Helper()
	b.look(1400, "light")
	if status := b.open(path); status != http.StatusOK {
		b.t.Fatalf("%s: status %d", path, status)
	}
	b.says("Connected", lookTimeout)
	evaluate[any](b, `document.querySelector('[data-control="scale"]').click()`)
}

// says waits until the page's line of state begins with text.
func (b *tab) says(text string, within time.Duration) {
	b.t.Helper()
	b.eventually("the desktop says "+text, `document.querySelector(".state").textContent.trim().startsWith(`+quote(text)+`)`, within)
}

// canvas is the picture of the desktop.
func (b *tab) canvas() (*image.RGBA, error) {
	text, err := b.driver.evaluate(`document.querySelector(".screen canvas")?.toDataURL("image/png") ?? ""`)
	if err != nil {
		return nil, err
	}
	data, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(strings.Trim(string(text), `"`), "data:image/png;base64,"))
	if err != nil || len(data) == 0 {
		return nil, errors.Join(errors.New("there is no picture"), err)
	}
	decoded, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	img := image.NewRGBA(decoded.Bounds())
	draw.Draw(img, img.Rect, decoded, image.Point{}, draw.Src)
	return img, nil
}

// shows waits until the canvas has the scene, from its corner on.
func (b *tab) shows(what string, scene desktop.Scene, within time.Duration) {
	b.t.Helper()
	err := process.Eventually(b.ctx, within, func() error {
		img, err := b.canvas()
		if err == nil {
			err = scene.Check(img, image.Point{})
		}
		return err
	})
	if err != nil {
		b.t.Fatalf("%s: %v", what, err)
	}
}

// at is where a point of the desktop is in the window. The canvas is scrolled to it first.
func (b *tab) at(p image.Point) (x, y float64) {
	b.t.Helper()
	place := evaluate[struct{ X, Y float64 }](b, fmt.Sprintf(`(() => {
		const canvas = document.querySelector(".screen canvas");
		canvas.parentElement.scrollTo(Math.max(0, %[1]d - 200), Math.max(0, %[2]d - 150));
		canvas.parentElement.scrollIntoView();
		const box = canvas.getBoundingClientRect();
		return {X: box.left + %[1]d * box.width / canvas.width, Y: box.top + %[2]d * box.height / canvas.height};
	})()`, p.X, p.Y))
	return place.X, place.Y
}

// arrives waits until a check of what the desktop has received passes.
func (b *tab) arrives(check func() error) {
	b.t.Helper()
	if err := process.Eventually(b.ctx, inputTimeout, check); err != nil {
		b.t.Error(err)
	}
}

// press clicks a control of the desktop.
func (b *tab) press(control string) {
	b.t.Helper()
	clickOn(b, `[data-control="`+control+`"]`)
}

// choose clicks a button of what can be done next.
func (b *tab) choose(name string) {
	b.t.Helper()
	const find = `[...document.querySelectorAll(".choices button")].find(b => b.textContent === %s)`
	b.eventually("the choice "+name, fmt.Sprintf(find, quote(name)), inputTimeout)
	evaluate[any](b, fmt.Sprintf(find+".click()", quote(name)))
}
