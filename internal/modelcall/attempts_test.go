package modelcall

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/modelcall/wire"
	"github.com/gatehouse-proxy/gatehouse/internal/policy"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"

	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
	"github.com/gatehouse-proxy/gatehouse/internal/failover"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
)

// inTurn makes the rig's models an alias "fast" of providers that are asked in turn: first/m, second/m.
func inTurn(t *testing.T, providers ...func(*provider.Config)) func(*rig) {
	return func(r *rig) {
		var groups [][]Candidate
		for i, change := range providers {
			name := targetNames[i]
			p := newProvider(t, nil, func(c *provider.Config) { c.Name = name; change(c) })
			groups = append(groups, []Candidate{{Provider: p, Model: &catalog.Model{ID: name + "/m", Provider: name, Name: "m", Known: true}}})
		}
		r.Models = aliasModels{groups: groups}
		r.Health = failover.NewHealth(r.Now, func() float64 { return 0 }, func(failover.Change) {})
	}
}

func by(transport roundTrip) func(*provider.Config) {
	return func(c *provider.Config) { c.Transport = transport }
}

// modelRate is a rate of the models of a target.
func modelRate(n int, rate limits.Rate) policy.ModelLimits {
	return policy.ModelLimits{Pattern: targetNames[n] + "/*", Subject: limits.Subject{Name: "model:" + targetNames[n], Rates: []limits.Rate{rate}}}
}

var oneRequest = limits.Rate{Unit: limits.Requests, Limit: 1, Window: time.Hour}

// A provider that reports an error in its stream may leave the connection open. Its last target is
// asked once more all the same.
func TestAnErrorInAStreamThatStaysOpenIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		r := newRig(t, roundTrip(nil), inTurn(t, by(func(req *http.Request) (*http.Response, error) {
			if calls++; calls > 1 {
				return eventsOf(firstWord + lastWord + usageWord + doneWord)(req)
			}
			answer, events := io.Pipe()
			go func() {
				_, _ = io.WriteString(events, `data: {"error":{"message":"no","type":"server_error"}}`+"\n\n")
				<-req.Context().Done()
				_ = events.CloseWithError(req.Context().Err())
			}()
			return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: answer}, nil
		})))
		w, refusal := r.serve(t, wire.Chat, chatWith("fast", `"stream":true,`))
		if refusal != nil || calls != 2 || !strings.Contains(w.Body.String(), doneWord) {
			t.Errorf("%v after %d requests: %s", refusal, calls, w.Body)
		}
	})
}

// What is not sent counts against no limit.
func TestATargetThatCannotBeSentTheRequestIsNotCounted(t *testing.T) {
	second := modelRate(1, oneRequest)
	r := newRig(t, roundTrip(nil), inTurn(t, by(answering(503, "{}")), func(c *provider.Config) { c.Transport, c.ResponsesOnly = roundTrip(nil), true }),
		func(r *rig) { r.Limits.Models = []policy.ModelLimits{second} })
	if _, refusal := r.serve(t, wire.Chat, chatWith("fast", `"n":2,`)); refusal == nil || refusal.Provider != "first" {
		t.Fatal(refusal)
	}
	if _, refused, _ := r.Rates.Request(t.Context(), []limits.Subject{second.Subject}); refused != nil {
		t.Error("it was counted")
	}
}

// An answer shows the rates of the targets that were asked, not of one that was passed over.
func TestTheRateOfATargetThatWasPassedOverIsNotShown(t *testing.T) {
	first := modelRate(0, oneRequest)
	key := &policy.KeyLimits{Subjects: []limits.Subject{{Name: "key:dev", Rates: []limits.Rate{{Unit: limits.Requests, Limit: 100, Window: time.Hour}}}}}
	r := newRig(t, roundTrip(nil), inTurn(t, by(roundTrip(nil)), by(answering(200, chatAnswerBody))), limited(key),
		func(r *rig) { r.Limits.Models = []policy.ModelLimits{first} })
	_, _, _ = r.Rates.Request(t.Context(), []limits.Subject{first.Subject})
	w, refusal := r.serve(t, wire.Chat, chatWith("fast", ""))
	if got := w.Header().Get("X-Test-Remaining"); refusal != nil || got != "99" {
		t.Errorf("%v, %s requests are shown as left, want 99", refusal, got)
	}
}

// The record's provider and what it answered belong together.
func TestTheRecordHasNothingOfAnEarlierAttempt(t *testing.T) {
	failed := strings.Replace(responsesAnswerBody, `"completed","output"`, `"failed","error":{"code":"server_error","message":"no"},"output"`, 1)
	r := newRig(t, roundTrip(nil), inTurn(t, by(answering(200, failed)), by(func(*http.Request) (*http.Response, error) { return nil, errors.New("refused") })))
	if _, refusal := r.serve(t, wire.Responses, strings.Replace(responsesBody, "acme/m", "fast", 1)); refusal == nil {
		t.Error("no failure")
	}
	if row := r.rows(t)[0]; row.Provider != "second" || row.UpstreamID+row.FinishReason+row.NativeFinishReason != "" {
		t.Errorf("record %+v", row)
	}
}

// A count of tokens counts against no token rate, that of a target included.
func TestACountOfTokensNeedsNoTokenRate(t *testing.T) {
	tokens := modelRate(0, limits.Rate{Unit: limits.Tokens, Limit: 100, Window: time.Hour})
	r := newRig(t, roundTrip(nil), inTurn(t, func(c *provider.Config) {
		c.Transport, c.Dialect = answering(200, `{"input_tokens":7}`), provider.Anthropic
	}),
		func(r *rig) { r.Limits.Models = []policy.ModelLimits{tokens} })
	_, grant, _, _ := r.Rates.Tokens(t.Context(), 100, []limits.Subject{tokens.Subject})
	grant.Adjust(150)
	q, w := r.ask(t, strings.Replace(say, "acme/m", "fast", 1), "Anthropic-Version", "2023-06-01")
	defer q.Finish()
	if err := CountTokens(&r.Deps, q, wire.CountTokens, openaiAPI{}); err != nil || w.Body.String() != `{"input_tokens":7}` {
		t.Errorf("%v: %s", err, w.Body)
	}
}

// The record has the failure that the client has read, also if it would be told of another one.
func TestTheRecordHasTheFailureThatAStreamEndsWith(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		late := func(r *http.Request) (*http.Response, error) {
			time.Sleep(25 * time.Second) // heartbeats have begun the answer
			return answering(503, "{}")(r)
		}
		auth := eventsOf(`data: {"error":{"message":"no","type":"authentication_error","code":"invalid_api_key"}}` + "\n\n")
		r := newRig(t, roundTrip(nil), inTurn(t, by(late), by(auth)))
		w, refusal := r.serve(t, wire.Chat, chatWith("fast", `"stream":true,`))
		if code := r.rows(t)[0].Code; refusal != nil || code == "" || !jsontest.Has(t, w.Body.String(), `{"code":"`+code+`"}`) {
			t.Errorf("%v, recorded %s: %s", refusal, code, w.Body)
		}
	})
}

// Heartbeats begin an answer on a goroutine of their own, while the next target is prepared.
func TestAnAnswerThatAHeartbeatBeginsRacesWithNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hang := func(r *http.Request) (*http.Response, error) { <-r.Context().Done(); return nil, r.Context().Err() }
		r := newRig(t, roundTrip(nil), inTurn(t, by(hang), by(eventsOf(firstWord+lastWord+usageWord+doneWord))), func(r *rig) {
			rate := limits.Rate{Unit: limits.Requests, Limit: 10, Window: time.Hour}
			r.Limits.Models = []policy.ModelLimits{modelRate(0, rate), modelRate(1, rate)}
		})
		w, refusal := r.serve(t, wire.Chat, chatWith("fast", `"stream":true,`))
		if refusal != nil || !strings.Contains(w.Body.String(), doneWord) {
			t.Errorf("%v: %s", refusal, w.Body)
		}
	})
}
