package authserver

import (
	"errors"
	"net/http"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/handlers"
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/authserver"
	programs "github.com/gatehouse-proxy/gatehouse/internal/features/authserver"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/report"
)

// serveManaged answers with the managed settings of the caller's role. They are for Claude Code:
// anybody can register as another client.
func serveManaged(x *handlers.Request) error {
	s, err := handlers.Part[*programs.SignIns](x)
	if err != nil {
		return err
	}
	m := s.Managed(x.Req.Caller.Limits)
	if m == nil || !showsCode(x) {
		return apierror.New(apierror.NotFound, "there are no managed settings for this caller")
	}
	x.Writer.Header().Set("ETag", m.Tag)
	if x.HTTP.Header.Get("If-None-Match") == m.Tag {
		x.Req.Outcome.Succeed(http.StatusNotModified)
		x.Writer.WriteHeader(http.StatusNotModified)
		return nil
	}
	return x.Succeed(m.Answer, nil)
}

// showsCode reports whether a caller is a program whose code a person has typed (RFC 8628).
func showsCode(x *handlers.Request) bool {
	c := &x.Req.Caller
	return c.Issued && c.Limits != nil && c.Limits.Holder != nil && !c.Limits.Holder.Client
}

// serveUsage answers with what the caller has spent of budgets of its own.
func serveUsage(x *handlers.Request) error {
	caller, deps, ctx := &x.Req.Caller, x.Gateway.Requests(), x.HTTP.Context()
	if !caller.Issued {
		return apierror.New(apierror.NotFound, "this is for programs to which people have signed in; GET /api/v1/key has the budgets of a key")
	}
	if !showsCode(x) {
		if err := x.Req.Require(keys.LimitsRead); err != nil {
			return err
		}
	}
	balances, err := deps.Ledger.Status(ctx, deps.Now(), caller.Limits.Own(caller.Name))
	if err != nil {
		return report.LedgerFailure(ctx, err)
	}
	x.Writer.Header().Set("Cache-Control", "no-store")
	return x.Succeed(authserver.Usage(balances))
}

// serveTelemetry takes what Claude Code sends of itself (OTLP over HTTP): a collector gets it, or
// nobody.
func serveTelemetry(x *handlers.Request) error {
	s, err := handlers.Part[*programs.SignIns](x)
	if err != nil {
		return err
	}
	if !showsCode(x) {
		return apierror.New(apierror.NotFound, "telemetry is taken of Claude Code, and of other programs whose code a person has typed")
	}
	switch err := s.Forward(x.HTTP); {
	case errors.Is(err, programs.ErrTooLarge):
		return apierror.New(apierror.RequestTooLarge, "telemetry of more than %d bytes is not taken", programs.MaxTelemetry)
	case err != nil:
		return apierror.New(apierror.ClientGone, "the client left").WithCause(err)
	}
	kind, _, _ := strings.Cut(x.HTTP.Header.Get("Content-Type"), ";")
	if kind == "application/json" {
		return x.Succeed([]byte("{}"), nil)
	}
	x.Req.Outcome.Succeed(http.StatusOK)
	x.Writer.Header().Set("Content-Type", "application/x-protobuf") // an empty message (OTLP 1, "Full success")
	x.Writer.WriteHeader(http.StatusOK)
	return nil
}
