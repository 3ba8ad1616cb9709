//go:build linux

package browser

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// askAsAgent asks a route of the desktop with the key of an agent, and returns the status and the answer.
func askAsAgent(t *testing.T, s *site, route, body string) (status int, answer map[string]any) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url("/v1/workstations/"+station+"/"+route), bytes.NewBufferString(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+s.secrets["desks"])
	r.Header.Set("Content-Type", "application/json")
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Body.Close()
	text, err := io.ReadAll(got.Body)
	if err == nil {
		err = json.Unmarshal(text, &answer)
	}
	if err != nil {
		t.Fatalf("%s: %s %v", route, text, err)
	}
	return got.StatusCode, answer
}

// A person sees that an agent works, takes keyboard and pointer by the button and by a click, and gives them back.
func TestAPersonTakesControlFromAnAgentAndGivesItBack(t *testing.T) {
	s, d := siteWithDesktop(t)
	b := newTab(t, s)
	b.signIn("ops")
	b.openDesktop(stationPath)
	b.shows("the desktop", d.Shown, lookTimeout)
	banner := func(text string) {
		t.Helper()
		b.eventually("the banner says "+text, `document.querySelector(".hold [role=status]").textContent.includes(`+quote(text)+`)`, inputTimeout)
	}
	button := func(action string) {
		t.Helper()
		run(b, chromedp.Click(chromedp.CSS(`[data-hold="`+action+`"]`)))
	}
	types := func(text string, want int) map[string]any {
		t.Helper()
		status, answer := askAsAgent(t, s, "input", `{"actions":[{"type":"type","text":"`+text+`"}]}`)
		if status != want {
			t.Fatalf("%d %v, want %d", status, answer, want)
		}
		return answer
	}

	d.Forget()
	types("ab", http.StatusOK)
	banner("An agent (desks) has control. A key or a click takes it.")
	button("take")
	banner("You have control, and the agent waits.")
	types("cd", http.StatusConflict)
	if status, answer := askAsAgent(t, s, "control", `{"action":"request_help","note":"The page wants a code.\nWho has it?"}`); status != http.StatusOK {
		t.Fatal(status, answer)
	}
	banner("desks asks: The page wants a code.\nWho has it?")
	b.inEveryLook(stationPath + " held")
	list := b.sibling()
	list.look(1280, "light")
	list.open("/console/workstations")
	if text := list.text("#workstations"); !strings.Contains(text, "asks for help") {
		t.Errorf("the list says %q", text)
	}
	list.open("/console/sessions")
	if text := list.text("#sessions"); !strings.Contains(text, "has control") || !strings.Contains(text, "agent") {
		t.Errorf("the list says %q", text)
	}
	list.inEveryLook("/console/sessions")

	button("return")
	b.eventually("the banner goes", `!document.querySelector(".hold.on")`, inputTimeout)
	if answer := types("ef", http.StatusOK); answer["changed_hands"] != true {
		t.Errorf("the first answer is %v", answer)
	}
	banner("An agent (desks) has control.")
	if _, answer := askAsAgent(t, s, "control", `{"action":"request_help"}`); answer["holder"] != "agent" {
		t.Error(answer)
	}
	banner("desks asks for help.")
	b.inEveryLook(stationPath + " asked")
	b.look(1400, "light")
	x, y := b.at(image.Pt(640, 360))
	run(b, chromedp.MouseClickXY(x, y))
	banner("You have control, and the agent waits.")
	types("gh", http.StatusConflict)
	b.arrives(func() error {
		clicks, _ := d.Clicked()
		if typed := d.Typed(); typed != "abef" || len(clicks) != 1 {
			return fmt.Errorf("%q and clicks at %v have arrived", typed, clicks)
		}
		return nil
	})
}
