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
)

const (
	// maxAsked is how many questions to a control plane are under way at once.
	maxAsked = 64
	// maxAnswer bounds an answer in bytes, maxListAnswer a page of a list.
	maxAnswer     = 16 << 10
	maxListAnswer = 256 << 10
)

// webhook asks questions. It is safe for concurrent use.
type webhook struct {
	url       string
	secrets   [][]byte // the first one is the newest
	timeout   time.Duration
	transport http.RoundTripper
	now       func() time.Time
	asked     chan struct{} // a semaphore for questions under way
}

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
func (w *webhook) ask(question any, most int64) ([]byte, *Failure) {
	ctx, cancel := context.WithTimeout(context.Background(), w.timeout)
	defer cancel()
	select {
	case w.asked <- struct{}{}:
		defer func() { <-w.asked }()
	case <-ctx.Done():
	}
	if ctx.Err() != nil { // also where it got its turn at that moment
		return nil, failed(FailedBusy, "%d questions were under way for %s", maxAsked, w.timeout)
	}
	body, err := w.post(ctx, question, most)
	var failure *Failure
	switch {
	case err == nil:
		return body, nil
	case errors.As(err, &failure):
	case ctx.Err() != nil:
		failure = failed(FailedTimeout, "no answer within %s", w.timeout)
	default:
		failure = &Failure{FailedConnection, err}
	}
	return nil, failure
}

func (w *webhook) post(ctx context.Context, question any, most int64) ([]byte, error) {
	body, err := json.Marshal(question)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	// A question may be asked twice. The empty list sends no header and lets net/http repeat the
	// request where the server closed a kept connection just as it was used again.
	req.Header["Idempotency-Key"] = nil
	w.sign(req.Header, "msg_"+rand.Text(), w.now(), body)
	resp, err := w.transport.RoundTrip(req) // a transport does not follow redirects
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
