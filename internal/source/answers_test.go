package source

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/caddymodule/guest"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/manual"
)

func TestAQuestionSaysWhoWantsWhat(t *testing.T) {
	s, p, _ := open(t, nil)
	a := wantAnswer(t, s, ada, guest.Allow)
	if a.Address != "10.20.0.9:5901" || a.Generation != "vm-7f3a/4" || a.Login.Password != "hunter2" {
		t.Errorf("%q, %q", a.Address, a.Generation)
	}
	const want = `{"type":"workstation.resolve","version":1,"tenant":"lab","gateway":"gw-1","reason":"issue","workstation_id":"desk1",` +
		`"caller":{"key":"ada","user":"alice@example.com","address":"203.0.113.7"},"session":{"view_only":true}}`
	if p.asked[0] != want || p.header.Get("Content-Type") != "application/json" {
		t.Errorf("asked %s", p.asked[0])
	}
	if err := manual.Compare("../..", "docs/sources.md", "workstation.resolve", p.asked[0]); err != nil {
		t.Error(err)
	}
}

func TestAnswersCountForTheirTime(t *testing.T) {
	for _, tc := range []struct {
		answer string
		want   guest.Decision
		life   time.Duration
	}{
		{allowed, guest.Allow, 30 * time.Second},
		{`{"decision":"allow","address":"10.20.0.9:5901","cache_seconds":5}`, guest.Allow, 5 * time.Second},
		{`{"decision":"allow","address":"10.20.0.9:5901","cache_seconds":3600}`, guest.Allow, 30 * time.Second},
		{`{"decision":"allow","address":"10.20.0.9:5901","cache_seconds":0}`, guest.Allow, 0},
		{`{"decision":"deny","reason":"no"}`, guest.Deny, 2 * time.Second},
		{`{"decision":"unknown"}`, guest.Unknown, 2 * time.Second},
		{`{"decision":"wait","retry_after":20}`, guest.Wait, 20 * time.Second},
		{`{"decision":"wait","retry_after":86400}`, guest.Wait, 10 * time.Minute},
		{`{"decision":"wait"}`, guest.Wait, 10 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			s, p, _ := open(t, nil)
			p.say(tc.answer)
			first := wantAnswer(t, s, ada, tc.want)
			if tc.want == guest.Wait && first.RetryAfter != tc.life {
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
	questions := []guest.Question{ada, ada, ada, ada, ada, ada}
	questions[5].ViewOnly = !ada.ViewOnly
	questions[1].Tenant, questions[2].Name, questions[3].Caller.Key, questions[4].Caller.User = "other", "desk2", "bob", "bob@example.com"
	for range 2 {
		for _, q := range questions {
			wantAnswer(t, s, q, guest.Allow)
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
			wg.Go(func() { wantAnswer(t, s, ada, guest.Allow) })
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
		wantAnswer(t, s, ada, guest.Allow)
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
		wantAnswer(t, s, ada, guest.Allow)
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
		wantAnswer(t, s, ada, guest.Allow)
		time.Sleep(time.Minute)
		p.say(`{"decision":"deny","reason":"Your booking is over."}`)
		if a := wantAnswer(t, s, ada, guest.Deny); a.Reason != "Your booking is over." {
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
			wantAnswer(t, s, ada, guest.Allow)
		}()
		synctest.Wait()
		s.Drop("lab", "desk1") // while the question is under way
		<-over
		wantAnswer(t, s, ada, guest.Allow)
		if p.count() != 2 {
			t.Errorf("asked %d times", p.count())
		}
		time.Sleep(time.Second)
		if _, err := s.Resolve(ada, time.Now()); err != nil || p.count() != 3 { // another gateway has dropped it
			t.Errorf("%v, asked %d times", err, p.count())
		}
		s.Expire(ada)
		wantAnswer(t, s, ada, guest.Allow)
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
	wantAnswer(t, s, ada, guest.Allow)
	same, _, _ := open(t, func(c *config) { c.Transport, c.Cache = p, time.Minute })
	same.Inherit(s)
	wantAnswer(t, same, ada, guest.Allow)
	if p.count() != 1 {
		t.Error("asked again after a reload")
	}
	other, fresh, _ := open(t, func(c *config) { c.URL += "/v2" })
	other.Inherit(s)
	wantAnswer(t, other, ada, guest.Allow)
	if fresh.count() != 1 {
		t.Error("another control plane's answer was taken")
	}
}

func TestTheNumberOfAnswersIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p, _ := open(t, nil)
		p.say(`{"decision":"unknown"}`)
		q := ada
		for i := range maxAnswers + 500 {
			q.Name = fmt.Sprint("desk", i)
			wantAnswer(t, s, q, guest.Unknown)
			if len(s.memory.answers) > maxAnswers {
				t.Fatalf("%d answers are kept", len(s.memory.answers))
			}
		}
		time.Sleep(time.Hour)
		q.Name = "last"
		if wantAnswer(t, s, q, guest.Unknown); len(s.memory.answers) != 1 {
			t.Errorf("%d answers are kept after an hour", len(s.memory.answers))
		}
	})
}
