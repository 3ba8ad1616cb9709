//go:build linux

package browser

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/gatehouse-proxy/gatehouse/tests/desktop"
)

// The key of the recordings of tests, and who has it.
const (
	recipient = "age1aehp8v4f39t89tlag7fapzz9nadsueh5urf59qhlet6kmlnh4uwsr7uzh7"
	identity  = "AGE-SECRET-KEY-129XEJLSWYU3FLREVM6C4SGLL90CUPF7GP3SGZNZDE9VTQQ3KH74S2PTTYL"
)

// siteThatRecords is siteWithDesktop with the option record.
func siteThatRecords(t *testing.T) (*site, *desktop.Desktop) {
	t.Helper()
	d := startStation(t)
	block := fmt.Sprintf(`			workstation %s 127.0.0.1:%d {
				password {env.BROWSER_DESKTOP}
			}
			session {
				record on
			}
			record {
				recipient %s
				replay_identity {env.BROWSER_IDENTITY}
			}
`, d.Name, d.Port, recipient)
	return ownSite(t, block, "BROWSER_DESKTOP="+d.Password, "BROWSER_IDENTITY="+identity), d
}

// recorded is a recording of the desktop, which has changed at one time and changed back at another.
type recorded struct {
	path    string // of its page
	file    string
	at      [2]time.Duration // since it has begun
	length  time.Duration
	changed desktop.Scene
}

// record makes one.
func record(b *tab, d *desktop.Desktop) (r recorded) {
	b.t.Helper()
	const apart = 1200 * time.Millisecond
	before := d.Shown
	r.changed = append(desktop.Scene(nil), before...)
	r.changed[9].Colour.R, r.changed[22].Colour.G = 0xff, 0
	b.openDesktop(stationPath)
	b.shows("the desktop", before, lookTimeout)
	var times [2]time.Time
	for i, scene := range []desktop.Scene{r.changed, before} {
		later(b, apart)
		times[i] = time.Now()
		if err := d.Paint(scene); err != nil {
			b.t.Fatal(err)
		}
		b.shows("a change", scene, inputTimeout)
	}
	later(b, apart)
	b.press("end")
	b.says("You have ended the session", inputTimeout)
	b.arrives(func() error {
		var list struct {
			Data []struct {
				ID, State    string
				Begun, Ended time.Time
			}
		}
		b.site.call(b.t, http.MethodGet, "/v1/recordings?workstation="+station, nil, &list)
		if len(list.Data) == 0 || list.Data[0].State != "complete" {
			return fmt.Errorf("the recordings are %+v", list.Data)
		}
		last := list.Data[0]
		r.path, r.length = "/console/recordings/"+last.ID, last.Ended.Sub(last.Begun)
		for i := range times {
			r.at[i] = times[i].Sub(last.Begun)
		}
		files, err := filepath.Glob(filepath.Join(b.site.dir, "data", "caddy", "gatehouse", "recordings", "*", last.ID+".ghrec"))
		if err == nil && len(files) != 1 {
			err = fmt.Errorf("its files are %q", files)
		}
		if err == nil {
			r.file = files[0]
		}
		return err
	})
	return r
}

// later returns after a time: a recording has the real one.
func later(b *tab, d time.Duration) {
	select {
	case <-time.After(d):
	case <-b.ctx.Done():
		b.t.Fatal(b.ctx.Err())
	}
}

// seek moves the slider as a person does who has clicked there.
func seek(b *tab, to time.Duration) {
	evaluate[bool](b, fmt.Sprintf(`(() => {
		const at = document.querySelector('[data-control="at"]');
		at.value = %d;
		at.dispatchEvent(new Event("input"));
		at.dispatchEvent(new Event("change"));
		return true;
	})()`, to.Milliseconds()))
}

// moment is what the slider shows.
func moment(b *tab) time.Duration {
	return time.Duration(evaluate[float64](b, `Number(document.querySelector('[data-control="at"]').value)`)) * time.Millisecond
}

func TestARecordingReplaysInTheBrowser(t *testing.T) {
	s, d := siteThatRecords(t)
	b := newTab(t, s)
	b.signIn("ops")
	r := record(b, d)
	inEachBrowser(t, s, func(t *testing.T, b *tab) { replays(t, b, d, r) })
}

// replays plays a recording, goes to and fro in it, and plays on after a reload of the configuration.
func replays(t *testing.T, b *tab, d *desktop.Desktop, r recorded) {
	t.Helper()
	b.signIn("ops")
	b.open("/console/recordings")
	if list := b.text("main table"); !strings.Contains(list, station) || !strings.Contains(list, "ops") {
		t.Errorf("the list says %q", list)
	}
	b.inEveryLook("/console/recordings")
	if status := b.open(r.path); status != http.StatusOK {
		t.Fatalf("status %d", status)
	}
	b.says("Playing", lookTimeout)
	enter(b, " ")
	b.says("Paused", inputTimeout)
	const near = 500 * time.Millisecond
	for _, c := range []struct {
		what  string
		to    time.Duration
		scene desktop.Scene
	}{
		{"before the change", r.at[0] - near, d.Shown}, {"after the change", r.at[0] + near, r.changed},
		{"at the end", r.length, d.Shown}, {"back", r.at[1] - near, r.changed},
	} {
		seek(b, c.to)
		b.shows(c.what, c.scene, inputTimeout)
	}
	b.inEveryLook(r.path)
	enter(b, kb.ArrowLeft)
	b.eventually("five seconds back", `document.querySelector('[data-control="at"]').value < 100`, inputTimeout)
	enter(b, " ")
	b.shows("the change while it plays", r.changed, lookTimeout)
	if at := moment(b); at < r.at[0]-near || at > r.at[1]+2*near {
		t.Errorf("it came at %v, not at %v", at, r.at[0])
	}
	enter(b, kb.End)
	b.says("Paused", inputTimeout)
	b.press("play")
	b.says("Playing", inputTimeout)
	b.site.reload(t, strings.NewReplacer("grace_period 3s", "grace_period 4s", "grace_period 4s", "grace_period 3s").Replace(b.site.file))
	b.shows("the change after a reload of the configuration", r.changed, lookTimeout)
	b.check()
}

func TestATornRecordingSaysSo(t *testing.T) {
	s, d := siteThatRecords(t)
	b := newTab(t, s)
	b.signIn("ops")
	r := record(b, d)
	file, err := os.ReadFile(r.file)
	if err != nil {
		t.Fatal(err)
	}
	changed := bytes.Clone(file)
	changed[len(file)/2] ^= 1
	for _, c := range []struct {
		says string
		file []byte
	}{{"The recording breaks off here", file[:len(file)-40]}, {"The file is damaged", changed}} {
		if err := os.WriteFile(r.file, c.file, 0o600); err != nil {
			t.Fatal(err)
		}
		b.open(r.path)
		b.eventually("it can be played", `!document.querySelector('[data-control="at"]').disabled`, lookTimeout)
		seek(b, time.Hour)
		b.says(c.says, inputTimeout)
	}
	b.open(r.path + "/delete")
	run(b, chromedp.Click(chromedp.CSS("main button.danger")))
	b.eventually("it is deleted", `document.querySelector(".notice")?.textContent.includes("The recording is deleted")`, inputTimeout)
	if _, err := os.Stat(r.file); !os.IsNotExist(err) {
		t.Errorf("the file is there: %v", err)
	}
}

// An agent clicks at a desktop, and a person takes it.
func TestATakeoverIsAMarkOfTheRecording(t *testing.T) {
	s, d := siteThatRecords(t)
	b := newTab(t, s)
	b.signIn("ops")
	b.openDesktop(stationPath)
	b.shows("the desktop", d.Shown, lookTimeout)
	if status, answer := askAsAgent(t, s, "input", `{"actions":[{"type":"click","x":10,"y":10,"button":"left"}]}`); status != http.StatusOK {
		t.Fatalf("the agent's click: %d %v", status, answer)
	}
	run(b, chromedp.KeyEvent("a"))
	b.arrives(func() error {
		if typed := d.Typed(); !strings.Contains(typed, "a") {
			return fmt.Errorf("%q arrived", typed)
		}
		return nil
	})
	b.press("end")
	b.says("You have ended the session", inputTimeout)
	var list struct{ Data []struct{ ID, Role string } }
	s.call(t, http.MethodGet, "/v1/recordings", nil, &list)
	of := slices.IndexFunc(list.Data, func(r struct{ ID, Role string }) bool { return r.Role != "agent" })
	if of < 0 {
		t.Fatalf("the recordings are %+v", list.Data)
	}
	inEachBrowser(t, s, func(t *testing.T, b *tab) {
		b.signIn("ops")
		b.open("/console/recordings/" + list.Data[of].ID)
		b.eventually("the mark is there", `document.querySelector("#marks button")?.textContent.includes("takeover")`, lookTimeout)
		if ticks := evaluate[int](b, `document.querySelectorAll(".moments rect").length`); ticks != 1 {
			t.Errorf("%d ticks", ticks)
		}
		seek(b, 0)
		clickOn(b, "#marks button")
		b.eventually("it leads there", `document.querySelector('[data-control="at"]').value > 100`, inputTimeout)
		b.inEveryLook("takeover")
	})
}
