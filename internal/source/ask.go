package source

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"time"

	"go.uber.org/zap"
)

const (
	// maxAsked is how many questions to a control plane are under way at once.
	maxAsked = 64
	// maxAnswer bounds an answer in bytes, maxListAnswer a page of a list.
	maxAnswer     = 16 << 10
	maxListAnswer = 256 << 10
)

// Failure is why there is no answer that counts. Its code is for the log.
type Failure struct {
	Code string
	Err  error
}

// The codes.
const (
	FailedDown        = "down"         // it was not asked: the last questions have failed
	FailedBusy        = "busy"         // 64 questions were under way for all of the timeout
	FailedTimeout     = "timeout"      //
	FailedConnection  = "connection"   //
	FailedStatus      = "status"       // another one than 200
	FailedRedirect    = "redirect"     // which is not followed
	FailedContentType = "content_type" // not application/json
	FailedTooLarge    = "too_large"
	FailedInvalid     = "invalid_answer" // not of the documented form
	FailedTarget      = "invalid_target" // an "allow" that leads nowhere: see Reject
)

func (e *Failure) Error() string { return fmt.Sprintf("%s: %v", e.Code, e.Err) }

func (e *Failure) Unwrap() error { return e.Err }

// counts reports whether the failure says something about the control plane as a whole. An answer that
// makes no sense for one workstation must not keep people from all others.
func (e *Failure) counts() bool { return e.Code != FailedBusy && e.Code != FailedInvalid }

func failed(code, format string, args ...any) *Failure {
	return &Failure{code, fmt.Errorf(format, args...)}
}

// ask asks one question, and returns the body of its answer.
func (s *Source) ask(question any, most int64) ([]byte, *Failure) {
	ctx, cancel := context.WithTimeout(context.Background(), s.config.Timeout)
	defer cancel()
	select {
	case s.asked <- struct{}{}:
		defer func() { <-s.asked }()
	case <-ctx.Done():
	}
	if ctx.Err() != nil { // also where it got its turn at that moment
		return nil, failed(FailedBusy, "%d questions were under way for %s", maxAsked, s.config.Timeout)
	}
	body, err := s.post(ctx, question, most)
	var failure *Failure
	switch {
	case err == nil:
		return body, nil
	case errors.As(err, &failure):
	case ctx.Err() != nil:
		failure = failed(FailedTimeout, "no answer within %s", s.config.Timeout)
	default:
		failure = &Failure{FailedConnection, err}
	}
	return nil, failure
}

func (s *Source) post(ctx context.Context, question any, most int64) ([]byte, error) {
	body, err := json.Marshal(question)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.config.URL, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	// A question may be asked twice. The empty list sends no header and lets net/http repeat the
	// request where the server closed a kept connection just as it was used again.
	req.Header["Idempotency-Key"] = nil
	s.sign(req.Header, "msg_"+rand.Text(), s.now(), body)
	resp, err := s.config.Transport.RoundTrip(req) // a transport does not follow redirects
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	return readAnswer(resp, most)
}

func readAnswer(resp *http.Response, most int64) ([]byte, error) {
	if resp.StatusCode >= 300 && resp.StatusCode < 400 {
		return nil, failed(FailedRedirect, "it answered with a redirect (%d), which is not followed", resp.StatusCode)
	}
	if resp.StatusCode != http.StatusOK {
		return nil, failed(FailedStatus, "it answered with status %d, want 200", resp.StatusCode)
	}
	if kind, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return nil, failed(FailedContentType, "the content type is not application/json")
	}
	answer, err := io.ReadAll(io.LimitReader(resp.Body, most+1))
	if err == nil && int64(len(answer)) > most {
		err = failed(FailedTooLarge, "the answer has more than %d bytes", most)
	}
	return answer, err
}

// log logs a failure.
func (s *Source) log(failure *Failure, k key) {
	s.config.Logger.Warn("the source of workstations gave no answer that counts", zap.String("source", s.config.Name),
		zap.String("code", failure.Code), zap.String("tenant", k.tenant), zap.String("workstation", k.name), zap.Error(failure.Err))
}

// head begins a question.
func (s *Source) head(kind, tenant string) head {
	return head{Type: kind, Version: version, Tenant: tenant, Gateway: s.config.Gateway()}
}

// Resolve asks for a workstation, unless an answer counts for which was asked at since or later. The
// error is a [*Failure].
func (s *Source) Resolve(q Question, since time.Time) (Answer, error) {
	r := s.answer(keyOf(&q), since, func() result { return s.resolve(&q) })
	if r.failure != nil {
		return Answer{}, r.failure
	}
	a := r.answer
	if a.Decision == Wait {
		a.RetryAfter = max(r.until.Sub(s.now()), leastWait)
	}
	return a, nil
}

func (s *Source) resolve(q *Question) (r result) {
	question := resolveQuestion{head: s.head(typeResolve, q.Tenant), Reason: q.Reason, Name: q.Name, Caller: q.Caller}
	question.Session.ViewOnly = q.ViewOnly
	asked := s.now()
	body, failure := s.ask(question, maxAnswer)
	life := negative
	if failure == nil {
		var err error
		if r.answer, life, err = parseAnswer(body); err != nil {
			failure, life = &Failure{FailedInvalid, err}, negative
		}
	}
	r.failure, r.answer.Asked = failure, asked
	s.noteHealth(failure)
	if failure == nil || !failure.counts() {
		r.until = s.now().Add(min(life, s.longest(r.answer.Decision)))
	}
	return r
}

// longest is how long an answer counts at most.
func (s *Source) longest(d Decision) time.Duration {
	if d == Allow {
		return s.config.Cache
	}
	return mostWait
}
