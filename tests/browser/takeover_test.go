//go:build linux

package browser

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/gatehouse-proxy/gatehouse/tests/desktop"
)

// agentAnswer is what a call of an agent gets.
type agentAnswer struct {
	status       int
	Done         int    `json:"done"`
	Control      string `json:"control"`
	ChangedHands bool   `json:"changed_hands"`
	Error        struct {
		Code    string `json:"code"`
		Details struct {
			Holder string `json:"holder"`
		} `json:"details"`
	} `json:"error"`
}

// act posts actions of an agent at the desktop. It may be called beside the test.
func act(ctx context.Context, s *site, body string) (a agentAnswer, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url("/v1/workstations/"+station+"/input"), strings.NewReader(body))
	if err != nil {
		return a, err
	}
	r.Header.Set("Authorization", "Bearer "+s.secrets["desks"])
	r.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return a, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return a, err
	}
	a.status = answer.StatusCode
	if err := json.NewDecoder(bytes.NewReader(text)).Decode(&a); err != nil {
		return a, fmt.Errorf("%d %s: %w", a.status, text, err)
	}
	return a, nil
}

// screenshot asks for a picture as the agent, and returns the status.
func screenshot(t *testing.T, s *site) int {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url("/v1/workstations/"+station+"/screenshot"), http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+s.secrets["desks"])
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	return answer.StatusCode
}

// clickInto is an agent's click in the middle of a part of the form.
func clickInto(part image.Rectangle) string {
	at := part.Min.Add(part.Max).Div(2)
	return fmt.Sprintf(`{"type":"click","button":"left","x":%d,"y":%d}`, at.X, at.Y)
}

// The agent types and types. The person clicks and types in the middle of it, and gives the input back.
func TestAPersonTakesTheInputInTheMiddleOfWhatAnAgentTypes(t *testing.T) {
	s, d := siteWithDesktop(t)
	form, err := desktop.OpenForm(d.Number)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(form.Close)
	typing := fmt.Sprintf(`{"actions":[%s,{"type":"type","text":%q}]}`, clickInto(desktop.FormName), strings.Repeat("a", 40))
	if first, err := act(t.Context(), s, typing); err != nil || first.status != http.StatusOK || first.Control != "agent" {
		t.Fatalf("the agent's first call: %+v, %v", first, err)
	}
	b := newTab(t, s)
	b.signIn("ops")
	b.openDesktop(stationPath)
	banner := func(text string) {
		t.Helper()
		b.eventually("the banner says "+text, `document.querySelector(".hold [role=status]").textContent.includes(`+quote(text)+`)`, inputTimeout)
	}
	banner("An agent (desks) has control.")
	b.keep("takeover-agent")

	ended := make(chan agentAnswer, 1)
	go func() {
		for {
			a, err := act(t.Context(), s, typing)
			if err != nil || a.status != http.StatusOK {
				ended <- a
				return
			}
		}
	}()
	b.arrives(func() error {
		if n := len(form.Contents().Name); n < 60 {
			return fmt.Errorf("the agent has typed %d characters", n)
		}
		return nil
	})
	x, y := b.at(desktop.FormNote.Min.Add(image.Pt(100, 18)))
	run(b, chromedp.MouseClickXY(x, y))
	run(b, chromedp.KeyEvent("human"))
	refused := <-ended
	if refused.status != http.StatusConflict || refused.Error.Code != "control_held" || refused.Error.Details.Holder != "human" {
		t.Errorf("the agent's call during the takeover: %+v", refused)
	}
	b.arrives(func() error {
		if note := form.Contents().Note; note != "human" {
			return fmt.Errorf("the person's field has %q", note)
		}
		return nil
	})
	banner("You have control, and the agent waits.")
	b.keep("takeover-taken")
	if again, err := act(t.Context(), s, typing); err != nil || again.status != http.StatusConflict {
		t.Errorf("the agent's next call: %+v, %v", again, err)
	}
	if status := screenshot(t, s); status != http.StatusConflict {
		t.Errorf("a screenshot while the person types is answered with %d", status)
	}
	if err := onlyThePersons(form.Log()); err != nil {
		t.Error(err)
	}
	if held, err := form.Held(); err != nil || held != "" {
		t.Errorf("%s are down (%v)", held, err)
	}

	run(b, chromedp.Click(chromedp.CSS(`[data-hold="return"]`)))
	var back agentAnswer
	b.arrives(func() (err error) {
		if back, err = act(t.Context(), s, `{"actions":[`+clickInto(desktop.FormSend)+`]}`); err == nil && back.status != http.StatusOK {
			err = fmt.Errorf("the agent gets %d %s", back.status, back.Error.Code)
		}
		return err
	})
	if !back.ChangedHands || form.Contents().Sent != 1 {
		t.Errorf("the agent's first call afterwards: %+v; the form has %+v", back, form.Contents())
	}
	if status := screenshot(t, s); status != http.StatusOK {
		t.Errorf("a screenshot afterwards is answered with %d", status)
	}
	if next, err := act(t.Context(), s, `{"actions":[`+clickInto(desktop.FormAgreed)+`]}`); err != nil || next.ChangedHands || !form.Contents().Agreed {
		t.Errorf("the agent's second call afterwards: %+v, %v", next, err)
	}
	b.keep("takeover-given-back")
}

// onlyThePersons checks what a form got from the person's first click on: nothing of the agent, which
// writes only the letter a in another field.
func onlyThePersons(log []desktop.Input) error {
	taken := false
	typed := ""
	for _, in := range log {
		if in.Down && in.Button == 1 && in.At.In(desktop.FormNote) {
			taken = true
		}
		switch {
		case !taken:
		case in.Symbol == 'a' && in.Down && typed != "hum":
			return fmt.Errorf("a key of the agent came after %q of the person", typed)
		case in.Button != 0 && !in.At.In(desktop.FormNote):
			return fmt.Errorf("a button of the agent came after %q of the person", typed)
		case in.Symbol != 0 && in.Down:
			typed += string(rune(in.Symbol))
		}
	}
	if typed != "human" {
		return errors.New("the person's text is not in the log")
	}
	return nil
}
