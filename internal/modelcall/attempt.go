package modelcall

import (
	"slices"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/failover"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/redact"
	"github.com/gatehouse-proxy/gatehouse/internal/request"
)

// attempt is one request of a call to a target, with what its delivery changes.
type attempt struct {
	upstream upstream
	trial    failover.Trial
	alone    bool           // no other target was or will be asked
	body     *jsonscan.Body // of the call
	tried    *tried
}

// commit notes that the attempt answers: no other follows, and nothing of the request need be kept for
// as long as the answer may last.
func (a *attempt) commit() {
	a.trial.FirstContent()
	a.upstream.commit()
	a.body.Release()
}

// succeed notes that the attempt gave an answer.
func (a *attempt) succeed() { a.end(failover.Result{Class: failover.Success}, nil) }

// end notes how the attempt ended, and counts it if it was sent. It is in the record of a call that may
// need several, or that met a time limit.
func (a *attempt) end(result failover.Result, failure *apierror.Error) {
	a.trial.End(result)
	a.tried.end()
	u := &a.upstream
	if u.meter.sent.IsZero() {
		return
	}
	done, limit := activity.Attempt{Target: u.target.id, Status: u.status, Latency: u.deps.Now().Sub(u.meter.sent)}, ""
	if failure != nil {
		done.Code, limit = string(failure.Code), failure.Limit
	}
	if limit != "" {
		done.Code = "timeout_" + limit
	}
	u.trace.endAttempt(done.Status, done.Code)
	u.deps.Metrics.Attempted(metricOf(&done, u.target, failure))
	if record := u.request.Outcome.Record; !a.alone || limit != "" {
		record.Attempted = append(record.Attempted, done)
	}
}

// target is the one that is asked.
func (a *attempt) target() *target { return a.upstream.target }

// provider is the name of the one that is asked.
func (a *attempt) provider() string { return a.upstream.target.provider.Name }

// summarize notes what the answer said of itself, also if it ended badly.
func (a *attempt) summarize(s openai.Summary) {
	r := a.upstream.request.Outcome.Record
	r.UpstreamID, r.FinishReason, r.NativeFinishReason = s.UpstreamID, s.Finish, s.NativeFinish
	a.upstream.meter.summarize(s)
}

// close ends the attempt, nil if the call made none. It returns what was measured, and reports whether
// the provider may have worked on the request.
func (a *attempt) close() (m *meter, served bool) {
	if a == nil {
		return &meter{}, false
	}
	a.upstream.close()
	a.upstream.commit()
	return &a.upstream.meter, a.upstream.mayHaveBeenServed()
}

// shown returns a provider's text as the caller may see it, who has guessed some of its secrets.
func shown(q *request.Request, t *target, guessed ...string) func(string) string {
	return func(text string) string {
		secrets := slices.DeleteFunc(t.endpoint.Secrets(), func(secret string) bool { return slices.Contains(guessed, secret) })
		return redact.Text(text, append(secrets, q.Caller.Secret)...)
	}
}

func (a *attempt) shown() func(string) string { return a.upstream.shown() }
