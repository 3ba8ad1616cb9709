package failover_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/failover"
)

// answer is what a provider does with a request: nil is a success.
type answer struct {
	code   apierror.Code
	status int
	after  time.Duration
}

// call runs a call over targets in groups of one, as package modelcall does it, and returns who was
// asked and the refusal.
func (b *bench) call(ask func(id string) *answer, listed bool, ids ...string) (asked []string, refusal apierror.Code) {
	var groups [][]failover.Candidate
	for _, id := range ids {
		groups = append(groups, group(id))
	}
	picks := b.Order(nil, groups, "")
	for i := 0; i < len(picks); i++ {
		id := ids[picks[i].Group]
		for retried := false; ; retried = true {
			if len(asked) == failover.MaxAttempts {
				return asked, refusal
			}
			asked = append(asked, id)
			trial := b.Begin(id, len(ids) == 1)
			failed := ask(id)
			if failed == nil {
				trial.End(success)
				return asked, ""
			}
			refusal = failed.code
			d := failover.Decide(&apierror.Error{Code: failed.code, RetryAfter: failed.after}, failed.status)
			trial.End(d.Result())
			if d.RetrySame && !retried && (!d.RetryLast || i == len(picks)-1) {
				b.wait(d.Wait)
				continue
			}
			if !d.Next && (!listed || !d.NextListed) {
				return asked, refusal
			}
			break
		}
	}
	return asked, refusal
}

var (
	tooFast   = &answer{apierror.UpstreamRateLimited, 429, 2 * time.Second}
	noHeader  = &answer{apierror.UpstreamRateLimited, 429, 0}
	broken    = &answer{apierror.UpstreamError, 500, 0}
	busy      = &answer{apierror.UpstreamError, 503, 0}
	reset     = &answer{apierror.UpstreamError, 0, 0}
	silent    = &answer{apierror.UpstreamTimeout, 0, 0}
	tooLong   = &answer{apierror.ContextLengthExceeded, 400, 0}
	forbidden = &answer{apierror.ProviderContentPolicy, 400, 0}
)

// The scenarios of Failover Bench v0.1 that concern the choice of targets: what the primary answers to
// each request, and the last answer from then on. The fallback always answers.
func TestScenarios(t *testing.T) {
	for name, c := range map[string]struct {
		primary []*answer
		listed  bool     // by the caller
		alone   bool     // without the fallback
		asked   []string // by the first call
		refusal apierror.Code
	}{
		"S01 first 429, Retry-After 2":  {primary: []*answer{tooFast, nil}, asked: []string{"p", "f"}},
		"S01 alone":                     {primary: []*answer{tooFast, nil}, alone: true, asked: []string{"p", "p"}},
		"S02 always 429":                {primary: []*answer{noHeader}, asked: []string{"p", "f"}},
		"S02 alone":                     {primary: []*answer{noHeader}, alone: true, asked: []string{"p"}, refusal: apierror.UpstreamRateLimited},
		"S03 500 once":                  {primary: []*answer{broken, nil}, asked: []string{"p", "p"}},
		"S03 always 500":                {primary: []*answer{broken}, asked: []string{"p", "p", "f"}},
		"S04 always 503":                {primary: []*answer{busy}, asked: []string{"p", "f"}},
		"S04 alone":                     {primary: []*answer{busy}, alone: true, asked: []string{"p"}, refusal: apierror.UpstreamError},
		"S05 reset before the header":   {primary: []*answer{reset, nil}, asked: []string{"p", "p"}},
		"S06 never answers":             {primary: []*answer{silent}, asked: []string{"p", "f"}},
		"S12 context length":            {primary: []*answer{tooLong}, asked: []string{"p"}, refusal: apierror.ContextLengthExceeded},
		"S12 with models of the caller": {primary: []*answer{tooLong}, listed: true, asked: []string{"p", "f"}},
		"S13 content policy":            {primary: []*answer{forbidden}, asked: []string{"p"}, refusal: apierror.ProviderContentPolicy},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			left := c.primary
			ask := func(id string) *answer {
				if id == "f" {
					return nil
				}
				now := left[0]
				if len(left) > 1 {
					left = left[1:]
				}
				return now
			}
			ids := []string{"p", "f"}
			if c.alone {
				ids = ids[:1]
			}
			asked, refusal := b.call(ask, c.listed, ids...)
			if !slices.Equal(asked, c.asked) || refusal != c.refusal {
				t.Errorf("asked %v, refusal %q, want %v, %q", asked, refusal, c.asked, c.refusal)
			}
		})
	}
}

// S12, S13: callers cannot take a target away from others.
func TestRefusalsOfTheRequestCoolNothing(t *testing.T) {
	for _, a := range []*answer{tooLong, forbidden, {apierror.UpstreamRejected, 422, 0}, {apierror.ClientGone, 0, 0}} {
		b := newBench(t)
		for range 50 {
			b.call(func(string) *answer { return a }, false, "p", "f")
		}
		b.want("p", healthy, 0)
	}
}

// S15: 503 for a minute, a call every 4 seconds.
func TestAnOutageOfAMinute(t *testing.T) {
	b := newBench(t)
	began := b.now()
	primary, back := 0, time.Duration(0)
	for back == 0 {
		since := b.now().Sub(began)
		if since > 3*time.Minute {
			t.Fatal("the primary is never used again")
		}
		asked, refusal := b.call(func(id string) *answer {
			if id == "p" && since < time.Minute {
				primary++
				return busy
			}
			return nil
		}, false, "p", "f")
		if refusal != "" {
			t.Fatalf("after %v: %v, %s", since, asked, refusal)
		}
		if since >= time.Minute && asked[0] == "p" {
			back = since - time.Minute
		}
		b.wait(4 * time.Second)
	}
	if primary > 6 || back > 30*time.Second {
		t.Errorf("the primary was asked %d times in the outage, and again %v after it", primary, back)
	}
}

func TestAllTargetsFailing(t *testing.T) {
	b := newBench(t)
	for range 5 {
		asked, refusal := b.call(func(string) *answer { return broken }, false, "a", "b", "c", "d")
		if len(asked) != failover.MaxAttempts || refusal != apierror.UpstreamError {
			t.Fatalf("asked %v, refusal %q", asked, refusal)
		}
	}
}

func TestDecide(t *testing.T) {
	for _, c := range []struct {
		e      apierror.Error
		status int
		want   string
	}{
		{apierror.Error{Code: apierror.UpstreamError}, 0, "failure same next"},
		{apierror.Error{Code: apierror.UpstreamError}, 200, "failure same next"},
		{apierror.Error{Code: apierror.UpstreamError}, 500, "failure same next"},
		{apierror.Error{Code: apierror.UpstreamError}, 302, "failure next"},
		{apierror.Error{Code: apierror.UpstreamError}, 408, "failure next"},
		{apierror.Error{Code: apierror.UpstreamError}, 502, "failure next"},
		{apierror.Error{Code: apierror.UpstreamError}, 503, "failure next"},
		{apierror.Error{Code: apierror.UpstreamError}, 504, "failure next"},
		{apierror.Error{Code: apierror.UpstreamError}, 529, "failure next"},
		{apierror.Error{Code: apierror.UpstreamError, RetryAfter: time.Minute}, 529, "failure next pause 1m0s"},
		{apierror.Error{Code: apierror.UpstreamError}, 431, "neutral next"},
		{apierror.Error{Code: apierror.UpstreamOverloaded}, 529, "failure next"},
		{apierror.Error{Code: apierror.UpstreamOverloaded, RetryAfter: time.Minute}, 200, "failure next pause 1m0s"},
		{apierror.Error{Code: apierror.UpstreamTimeout}, 0, "failure next"},
		{apierror.Error{Code: apierror.UpstreamTimeout}, 200, "failure next"},
		{apierror.Error{Code: apierror.UpstreamRateLimited}, 429, "rate_limited next"},
		{apierror.Error{Code: apierror.UpstreamRateLimited, RetryAfter: 2 * time.Second}, 429, "rate_limited last 2s next pause 2s"},
		{apierror.Error{Code: apierror.UpstreamAuth}, 401, "lasting next"},
		{apierror.Error{Code: apierror.UpstreamQuota}, 429, "lasting next"},
		{apierror.Error{Code: apierror.ModelNotFound, Status: 404}, 404, "lasting next"},
		{apierror.Error{Code: apierror.ModelNotCallable}, 405, "neutral next"},
		{apierror.Error{Code: apierror.UpstreamRejected, Status: 404}, 404, "neutral next"},
		{apierror.Error{Code: apierror.UpstreamRejected, Status: 400}, 400, "neutral"},
		{apierror.Error{Code: apierror.UpstreamRejected, Status: 413}, 413, "neutral"},
		{apierror.Error{Code: apierror.UnsupportedParameter, Status: 400}, 400, "neutral"},
		{apierror.Error{Code: apierror.PreviousNotFound, Status: 404}, 404, "neutral"},
		{apierror.Error{Code: apierror.ContextLengthExceeded, Status: 400}, 400, "neutral listed"},
		{apierror.Error{Code: apierror.ProviderContentPolicy}, 200, "neutral listed"},
		{apierror.Error{Code: apierror.ClientGone}, 0, "neutral"},
		{apierror.Error{Code: apierror.ShuttingDown}, 0, "neutral"},
		{apierror.Error{Code: apierror.Internal}, 0, "neutral"},
		{apierror.Error{Code: apierror.GuardrailBlocked}, 200, "neutral"},
	} {
		d := failover.Decide(&c.e, c.status)
		got := d.Class.String()
		switch {
		case d.RetrySame && d.RetryLast:
			got += fmt.Sprint(" last ", d.Wait)
		case d.RetrySame:
			got += " same"
		}
		if d.Next {
			got += " next"
		}
		if d.NextListed {
			got += " listed"
		}
		if r := d.Result(); r.RetryAfter > 0 {
			got += fmt.Sprint(" pause ", r.RetryAfter)
		}
		if got != c.want {
			t.Errorf("%s with status %d: %s, want %s", c.e.Code, c.status, got, c.want)
		}
	}
}
