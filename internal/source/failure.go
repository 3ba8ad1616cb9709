package source

import (
	"context"
	"errors"
	"fmt"

	"github.com/gatehouse-proxy/gatehouse/caddymodule/guest"
)

// maxAsked is how many questions to a control plane are under way at once.
const maxAsked = 64

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

// invalid makes an error a failure of the answer.
func invalid(err error) error {
	if err == nil || errors.Is(err, guest.ErrNoList) {
		return err
	}
	return &Failure{FailedInvalid, err}
}

// ask has a control plane asked one question, within the timeout.
func (s *Source) ask(question func(context.Context) error) *Failure {
	ctx, cancel := context.WithTimeout(context.Background(), s.config.Timeout)
	defer cancel()
	select {
	case s.asked <- struct{}{}:
		defer func() { <-s.asked }()
	case <-ctx.Done():
	}
	if ctx.Err() != nil { // also where it got its turn at that moment
		return failed(FailedBusy, "%d questions were under way for %s", maxAsked, s.config.Timeout)
	}
	err := question(ctx)
	var failure *Failure
	switch {
	case err == nil:
		return nil
	case errors.As(err, &failure):
		return failure
	case ctx.Err() != nil:
		return failed(FailedTimeout, "no answer within %s", s.config.Timeout)
	}
	return &Failure{FailedConnection, err}
}
