package source

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/gatehouse-proxy/gatehouse/caddymodule/guest"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"
)

func TestAnswersThatDoNotCount(t *testing.T) {
	long := strings.Repeat("x", maxAnswer)
	for _, tc := range []struct {
		status       int
		kind, answer string
		code         string
	}{
		{302, "application/json", allowed, FailedRedirect},
		{307, "application/json", allowed, FailedRedirect},
		{201, "application/json", allowed, FailedStatus},
		{500, "application/json", allowed, FailedStatus},
		{200, "text/html", allowed, FailedContentType},
		{200, "", allowed, FailedContentType},
		{200, "application/json", `{"decision":"unknown","reason":"` + long + `"}`, FailedTooLarge},
		{200, "application/json", strings.Repeat(long, 128), FailedTooLarge},
		{200, "application/json", ``, FailedInvalid},
		{200, "application/json", `[]`, FailedInvalid},
		{200, "application/json", `{}`, FailedInvalid},
		{200, "application/json", allowed + allowed, FailedInvalid},
		{200, "application/json", `{"decision":"allow"}`, FailedInvalid},
		{200, "application/json", `{"decision":"deny",` + allowed[1:], FailedInvalid},
		{200, "application/json", `{"Decision":"deny",` + allowed[1:], FailedInvalid},
		{200, "application/json", `{"decision":"allow","address":"10.20.0.9:5901","session":{"view_only":true,"view_only":false}}`, FailedInvalid},
		{200, "application/json", `{"decision":"allow","address":"10.20.0.9:5901","sesion":{"view_only":true}}`, FailedInvalid},
		{200, "application/json", `{"decision":"allow","address":"10.20.0.9:5901","generation":"a b"}`, FailedInvalid},
		{200, "application/json", `{"decision":"allow","address":"10.20.0.9:5901","credential":"vm","login":{"password":"x"}}`, FailedInvalid},
		{200, "application/json", `{"decision":"allow","address":"10.20.0.9:5901","login":{"user":"x","password":"x"}}`, FailedInvalid},
		{200, "application/json", `{"decision":"allow","address":"10.20.0.9:5901","login":{"password":"` + strings.Repeat("x", maxMember+1) + `"}}`, FailedInvalid},
	} {
		s, p, lines := open(t, nil)
		p.sayAs(tc.status, tc.kind, tc.answer)
		wantFailure(t, s, ada, tc.code)
		if _, ok := s.Last(ada, time.Time{}); ok {
			t.Errorf("%d %.60s: allowed", tc.status, tc.answer)
		}
		if lines.FilterField(zap.String("code", tc.code)).Len() != 1 {
			t.Errorf("%d %.60s: the log has %v", tc.status, tc.answer, lines.All())
		}
	}
}

// Reasons come from outside and are shown in a viewer's window.
func TestAReasonIsShortASCII(t *testing.T) {
	for in, want := range map[string]string{
		"Your booking begins at 14:00.": "Your booking begins at 14:00.",
		" für später\x1b[2J\n":          "f?r sp?ter?[2J?",
		strings.Repeat("x", 300):        strings.Repeat("x", 200),
	} {
		s, p, _ := open(t, nil)
		text, _ := json.Marshal(map[string]string{"decision": "deny", "reason": in})
		p.say(string(text))
		if a := wantAnswer(t, s, ada, guest.Deny); a.Reason != want {
			t.Errorf("%q became %q", in, a.Reason)
		}
	}
}

func TestSecretsAreNeverPrinted(t *testing.T) {
	s, p, lines := open(t, nil)
	a := wantAnswer(t, s, ada, guest.Allow)
	p.say(`{"decision":"allow","login":{"password":"hunter2"},"address":5}`)
	bad := ada
	bad.Name = "desk2"
	wantFailure(t, s, bad, FailedInvalid)
	_ = s.Reject(ada, errors.New("no such credential"))
	text := fmt.Sprintf("%v %+v %#v %s %v %+v %#v %d", a, a, a, s, *a.Login, a.Login, a, &a)
	encoder := zapcore.NewJSONEncoder(zapcore.EncoderConfig{})
	for _, line := range lines.All() {
		out, err := encoder.EncodeEntry(line.Entry, line.Context)
		if err != nil {
			t.Fatal(err)
		}
		text += out.String()
	}
	if strings.Contains(text, "hunter2") || strings.Contains(text, secret[6:]) || lines.Len() == 0 {
		t.Error(text)
	}
}

func TestAListHasAllPages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p, _ := open(t, nil)
		pages := func(body []byte) (int, string, string) {
			if jsontest.Has(t, body, `{"cursor":"2"}`) {
				return 200, "application/json", `{"items":[{"workstation_id":"desk2"}]}`
			}
			return 200, "application/json", `{"items":[{"workstation_id":"desk1","labels":{"course":"cs101"},"state":"stopped"}],"next":"2"}`
		}
		p.answer.Store(&pages)
		for range 2 { // the second time from memory
			items, err := s.List("lab")
			if err != nil || len(items) != 2 || items[0].Name != "desk1" || items[0].Labels["course"] != "cs101" || items[0].State != "stopped" || items[1].Name != "desk2" {
				t.Fatalf("%+v, %v", items, err)
			}
		}
		if want := `{"type":"workstation.list","version":1,"tenant":"lab","gateway":"gw-1","cursor":"","limit":500}`; p.asked[0] != want || p.count() != 2 {
			t.Errorf("asked %q", p.asked)
		}
		time.Sleep(time.Minute)
		p.sayAs(500, "", "")
		for range 2 * downAfter { // it counts against nobody's desktop
			if items, err := s.List("lab"); err != nil || len(items) != 2 {
				t.Fatalf("%+v, %v", items, err)
			}
			time.Sleep(negative)
		}
		p.say(allowed)
		wantAnswer(t, s, ada, guest.Allow)
	})
}

func TestASourceMayHaveNoList(t *testing.T) {
	s, p, _ := open(t, nil)
	p.say(`{"decision":"unknown"}`)
	for range 2 {
		if items, err := s.List("lab"); !errors.Is(err, guest.ErrNoList) || items != nil {
			t.Errorf("%+v, %v", items, err)
		}
	}
	if p.count() != 1 {
		t.Errorf("asked %d times", p.count())
	}
	s, p, _ = open(t, nil)
	p.say(`{}`)
	var failure *Failure
	if _, err := s.List("lab"); !errors.As(err, &failure) || failure.Code != FailedInvalid {
		t.Error(err)
	}
	p.say(`{"items":[]}`)
	if items, err := s.List("other"); err != nil || items == nil || len(items) != 0 {
		t.Errorf("%+v, %v", items, err)
	}
}

// A list that never ends is cut.
func TestAListIsBounded(t *testing.T) {
	s, p, _ := open(t, nil)
	p.say(`{"items":[{"workstation_id":"desk1"}],"next":"again"}`)
	if items, err := s.List("lab"); err != nil || len(items) != maxPages || p.count() != maxPages {
		t.Errorf("%d items, %v, asked %d times", len(items), err, p.count())
	}
}
