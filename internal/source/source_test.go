package source

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"
)

const (
	planeURL = "https://control.example.com/desktops"
	secret   = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3"
)

var ada = Question{
	Reason: Issue, Tenant: "lab", Name: "desk1", Caller: Caller{Key: "ada", User: "alice@example.com", Address: netip.MustParseAddr("203.0.113.7")}, ViewOnly: true,
}

// plane is a control plane. It is a transport, so that it can be asked in a bubble.
type plane struct {
	answer atomic.Pointer[func(body []byte) (status int, kind, answer string)]
	takes  atomic.Int64 // how long an answer takes
	lost   atomic.Bool  // it cannot be reached

	mu     sync.Mutex // guards the following
	asked  []string   // bodies
	now    int
	most   int // at once
	header http.Header
}

func (p *plane) say(answer string) { p.sayAs(200, "application/json; charset=utf-8", answer) }

func (p *plane) sayAs(status int, kind, answer string) {
	f := func([]byte) (int, string, string) { return status, kind, answer }
	p.answer.Store(&f)
}

func (p *plane) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.asked)
}

func (p *plane) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	p.asked = append(p.asked, string(body))
	p.now++
	p.most = max(p.most, p.now)
	p.header = r.Header.Clone()
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		p.now--
		p.mu.Unlock()
	}()
	if p.lost.Load() {
		return nil, errors.New("connection refused")
	}
	select {
	case <-time.After(time.Duration(p.takes.Load())):
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
	status, kind, answer := (*p.answer.Load())(body)
	return &http.Response{
		StatusCode: status, Header: http.Header{"Content-Type": {kind}, "Location": {"https://elsewhere.example.com"}}, Body: io.NopCloser(strings.NewReader(answer)),
	}, nil
}

const allowed = `{"decision":"allow","address":"10.20.0.9:5901","generation":"vm-7f3a/4","login":{"password":"hunter2"}}`

func open(t *testing.T, change func(*Config)) (*Source, *plane, *observer.ObservedLogs) {
	t.Helper()
	p := new(plane)
	p.say(allowed)
	core, lines := observer.New(zap.DebugLevel)
	c := Config{Name: "lab", URL: planeURL, Secrets: []string{secret}, Gateway: func() string { return "gw-1" }, Transport: p, Logger: zap.New(core), Now: time.Now}
	if change != nil {
		change(&c)
	}
	s, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return s, p, lines
}

func wantAnswer(t *testing.T, s *Source, q Question, want Decision) Answer {
	t.Helper()
	a, err := s.Resolve(q, time.Time{})
	if err != nil || a.Decision != want {
		t.Fatalf("%v, %v, want %s", a, err, want)
	}
	return a
}

func wantFailure(t *testing.T, s *Source, q Question, code string) {
	t.Helper()
	a, err := s.Resolve(q, time.Time{})
	var failure *Failure
	if !errors.As(err, &failure) || failure.Code != code || a.Decision != "" {
		t.Fatalf("%v, %v, want the failure %s", a, err, code)
	}
}

func TestAQuestionSaysWhoWantsWhat(t *testing.T) {
	s, p, _ := open(t, nil)
	a := wantAnswer(t, s, ada, Allow)
	if a.Address != "10.20.0.9:5901" || a.Generation != "vm-7f3a/4" || a.Login.Password != "hunter2" {
		t.Errorf("%q, %q", a.Address, a.Generation)
	}
	const want = `{"type":"workstation.resolve","version":1,"tenant":"lab","gateway":"gw-1","reason":"issue","workstation_id":"desk1",` +
		`"caller":{"key":"ada","user":"alice@example.com","address":"203.0.113.7"},"session":{"view_only":true}}`
	if p.asked[0] != want || p.header.Get("Content-Type") != "application/json" {
		t.Errorf("asked %s", p.asked[0])
	}
}

func TestAnswersCountForTheirTime(t *testing.T) {
	for _, tc := range []struct {
		answer string
		want   Decision
		life   time.Duration
	}{
		{allowed, Allow, 30 * time.Second},
		{`{"decision":"allow","address":"10.20.0.9:5901","cache_seconds":5}`, Allow, 5 * time.Second},
		{`{"decision":"allow","address":"10.20.0.9:5901","cache_seconds":3600}`, Allow, 30 * time.Second},
		{`{"decision":"allow","address":"10.20.0.9:5901","cache_seconds":0}`, Allow, 0},
		{`{"decision":"deny","reason":"no"}`, Deny, 2 * time.Second},
		{`{"decision":"unknown"}`, Unknown, 2 * time.Second},
		{`{"decision":"wait","retry_after":20}`, Wait, 20 * time.Second},
		{`{"decision":"wait","retry_after":86400}`, Wait, 10 * time.Minute},
		{`{"decision":"wait"}`, Wait, 10 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			s, p, _ := open(t, nil)
			p.say(tc.answer)
			first := wantAnswer(t, s, ada, tc.want)
			if tc.want == Wait && first.RetryAfter != tc.life {
				t.Errorf("%s: wait %v", tc.answer, first.RetryAfter)
			}
			if tc.life > 0 {
				time.Sleep(tc.life - time.Millisecond)
				wantAnswer(t, s, ada, tc.want)
				if p.count() != 1 {
					t.Errorf("%s: asked again within %v", tc.answer, tc.life)
				}
				time.Sleep(time.Millisecond)
			}
			wantAnswer(t, s, ada, tc.want)
			if p.count() != 2 {
				t.Errorf("%s: not asked again after %v", tc.answer, tc.life)
			}
		})
	}
}

// Each of these might get another answer.
func TestAnswersAreKeptByTenantNameKeyAndUser(t *testing.T) {
	s, p, _ := open(t, nil)
	questions := []Question{ada, ada, ada, ada, ada}
	questions[1].Tenant, questions[2].Name, questions[3].Caller.Key, questions[4].Caller.User = "other", "desk2", "bob", "bob@example.com"
	for range 2 {
		for _, q := range questions {
			wantAnswer(t, s, q, Allow)
		}
	}
	if p.count() != len(questions) {
		t.Errorf("asked %d times", p.count())
	}
}

func TestEqualQuestionsUnderWayAreAskedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p, _ := open(t, nil)
		p.takes.Store(int64(time.Second))
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() { wantAnswer(t, s, ada, Allow) })
		}
		wg.Wait()
		if p.count() != 1 {
			t.Errorf("asked %d times", p.count())
		}
	})
}

// A control plane that hangs: no call waits longer than the timeout, and 64 questions are under way.
func TestAControlPlaneThatHangsIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p, lines := open(t, nil)
		p.takes.Store(int64(time.Hour))
		var wg sync.WaitGroup
		begun := time.Now()
		for i := range 200 {
			q := ada
			q.Name = fmt.Sprint("desk", i)
			wg.Go(func() {
				if _, err := s.Resolve(q, time.Time{}); err == nil {
					t.Error("an answer")
				}
			})
		}
		wg.Wait()
		if took := time.Since(begun); took > 2*time.Second || p.most != maxAsked {
			t.Errorf("took %v, %d at once", took, p.most)
		}
		timedOut, busy := lines.FilterField(zap.String("code", FailedTimeout)).Len(), lines.FilterField(zap.String("code", FailedBusy)).Len()
		if timedOut < maxAsked || busy == 0 || timedOut+busy != 200 {
			t.Errorf("%d timed out, %d were too many", timedOut, busy)
		}
	})
}

func TestAControlPlaneIsDownAfterFiveFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p, lines := open(t, nil)
		q := ada
		fail := func(code string) {
			t.Helper()
			q.Name += "x" // no answer is kept for it
			wantFailure(t, s, q, code)
		}
		p.lost.Store(true)
		for range downAfter {
			fail(FailedConnection)
		}
		if since, down := s.Down(); !down || !since.Equal(time.Now()) {
			t.Errorf("down %v since %v", down, since)
		}
		fail(FailedDown)
		if p.count() != downAfter {
			t.Errorf("asked %d times", p.count())
		}
		time.Sleep(probeEvery)
		fail(FailedConnection)
		fail(FailedDown)
		p.lost.Store(false)
		time.Sleep(probeEvery)
		wantAnswer(t, s, ada, Allow)
		if _, down := s.Down(); down {
			t.Error("it is down after an answer")
		}
		for _, message := range []string{"the source of workstations does not answer; it is tried every two seconds", "the source of workstations answers again"} {
			if n := lines.FilterMessage(message).Len(); n != 1 {
				t.Errorf("%d lines %q", n, message)
			}
		}
	})
}

// Failures that say nothing about the control plane as a whole keep nobody from other workstations.
func TestNonsenseForOneWorkstationDoesNotCountAsDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p, _ := open(t, nil)
		p.say(`{"decision":"maybe"}`)
		for range 2 * downAfter {
			wantFailure(t, s, ada, FailedInvalid)
			time.Sleep(time.Second)
		}
		if _, down := s.Down(); down {
			t.Error("down")
		}
		if p.count() != downAfter {
			t.Errorf("asked %d times in ten seconds", p.count())
		}
	})
}

func TestTheLastAnswerServesWhileTheControlPlaneIsDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p, _ := open(t, nil)
		begun := time.Now()
		wantAnswer(t, s, ada, Allow)
		p.lost.Store(true)
		time.Sleep(10*time.Minute - time.Millisecond)
		wantFailure(t, s, ada, FailedConnection)
		if a, ok := s.Last(ada, time.Time{}); !ok || a.Generation != "vm-7f3a/4" {
			t.Error("there is no last answer")
		}
		if _, ok := s.Last(ada, begun.Add(time.Second)); ok {
			t.Error("an answer from before the workstation was released")
		}
		time.Sleep(time.Millisecond)
		if _, ok := s.Last(ada, time.Time{}); ok {
			t.Error("an answer that is too old")
		}
	})
}

func TestADenialEndsTheLastAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p, _ := open(t, nil)
		wantAnswer(t, s, ada, Allow)
		time.Sleep(time.Minute)
		p.say(`{"decision":"deny","reason":"Your booking is over."}`)
		if a := wantAnswer(t, s, ada, Deny); a.Reason != "Your booking is over." {
			t.Errorf("%q", a.Reason)
		}
		p.lost.Store(true)
		time.Sleep(time.Minute)
		wantFailure(t, s, ada, FailedConnection)
		if _, ok := s.Last(ada, time.Time{}); ok {
			t.Error("it is allowed again")
		}
	})
}

func TestADroppedAnswerIsAskedForAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p, _ := open(t, nil)
		p.takes.Store(int64(time.Second))
		over := make(chan struct{})
		go func() {
			defer close(over)
			wantAnswer(t, s, ada, Allow)
		}()
		synctest.Wait()
		s.Drop("lab", "desk1") // while the question is under way
		<-over
		wantAnswer(t, s, ada, Allow)
		if p.count() != 2 {
			t.Errorf("asked %d times", p.count())
		}
		time.Sleep(time.Second)
		if _, err := s.Resolve(ada, time.Now()); err != nil || p.count() != 3 { // another gateway has dropped it
			t.Errorf("%v, asked %d times", err, p.count())
		}
		s.Expire(ada)
		wantAnswer(t, s, ada, Allow)
		if _, ok := s.Last(ada, time.Time{}); !ok || p.count() != 4 {
			t.Errorf("expired: asked %d times, last answer %v", p.count(), ok)
		}
		if err := s.Reject(ada, errors.New("outside")); err == nil {
			t.Error("no failure")
		}
		if _, ok := s.Last(ada, time.Time{}); ok {
			t.Error("a rejected answer is there")
		}
	})
}

func TestAReloadKeepsAnswersAndHealthOfTheSameControlPlane(t *testing.T) {
	s, p, _ := open(t, nil)
	wantAnswer(t, s, ada, Allow)
	same, _, _ := open(t, func(c *Config) { c.Transport, c.Cache = p, time.Minute })
	same.Inherit(s)
	wantAnswer(t, same, ada, Allow)
	if p.count() != 1 {
		t.Error("asked again after a reload")
	}
	other, fresh, _ := open(t, func(c *Config) { c.URL += "/v2" })
	other.Inherit(s)
	wantAnswer(t, other, ada, Allow)
	if fresh.count() != 1 {
		t.Error("another control plane's answer was taken")
	}
}

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
		if a := wantAnswer(t, s, ada, Deny); a.Reason != want {
			t.Errorf("%q became %q", in, a.Reason)
		}
	}
}

func TestSecretsAreNeverPrinted(t *testing.T) {
	s, p, lines := open(t, nil)
	a := wantAnswer(t, s, ada, Allow)
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
			if bytes.Contains(body, []byte(`"cursor":"2"`)) {
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
		wantAnswer(t, s, ada, Allow)
	})
}

func TestASourceMayHaveNoList(t *testing.T) {
	s, p, _ := open(t, nil)
	p.say(`{"decision":"unknown"}`)
	for range 2 {
		if items, err := s.List("lab"); !errors.Is(err, ErrNoList) || items != nil {
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

func TestTheNumberOfAnswersIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p, _ := open(t, nil)
		p.say(`{"decision":"unknown"}`)
		q := ada
		for i := range maxAnswers + 500 {
			q.Name = fmt.Sprint("desk", i)
			wantAnswer(t, s, q, Unknown)
			if len(s.answers) > maxAnswers {
				t.Fatalf("%d answers are kept", len(s.answers))
			}
		}
		time.Sleep(time.Hour)
		q.Name = "last"
		if wantAnswer(t, s, q, Unknown); len(s.answers) != 1 {
			t.Errorf("%d answers are kept after an hour", len(s.answers))
		}
	})
}

func TestImpossibleSourcesAreRefused(t *testing.T) {
	for want, change := range map[string]func(*Config){
		"webhook: want a URL":             func(c *Config) { c.URL = "control.example.com" },
		"webhook: http is possible":       func(c *Config) { c.URL = "http://control.example.com/" },
		"webhook: http is possible to":    func(c *Config) { c.URL = "http://10.0.0.1/" },
		"webhook: a URL with a user":      func(c *Config) { c.URL = "https://me:secret@control.example.com/" },
		"secret: give one":                func(c *Config) { c.Secrets = nil },
		"secret: give one, or":            func(c *Config) { c.Secrets = []string{secret, secret, secret} },
		"secret: want whsec_":             func(c *Config) { c.Secrets = []string{"hunter2"} },
		"secret: want whsec_ and":         func(c *Config) { c.Secrets = []string{"whsec_c2hvcnQ="} },
		"timeout 11s: want at most 10s":   func(c *Config) { c.Timeout = 11 * time.Second },
		"cache 6m0s: want at most 5m0s":   func(c *Config) { c.Cache = 6 * time.Minute },
		"stale -1s: want at most 24h0m0s": func(c *Config) { c.Stale = -time.Second },
	} {
		c := Config{Name: "lab", URL: planeURL, Secrets: []string{secret}, Now: time.Now}
		change(&c)
		if _, err := New(c); err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%v, want %s", err, want)
		}
	}
	for _, possible := range []string{"http://127.0.0.1:8080/", "http://[::1]/x", "http://localhost:1/", "https://10.0.0.1"} {
		if _, err := New(Config{URL: possible, Secrets: []string{secret}, Now: time.Now}); err != nil {
			t.Errorf("%s: %v", possible, err)
		}
	}
}
