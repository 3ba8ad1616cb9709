package toolcall

import (
	"errors"
	"net/http"
	"strconv"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/mcp"
	"github.com/gatehouse-proxy/gatehouse/internal/toolserver"
)

// refuse answers a request that failed, of which nothing was written yet. It returns the error if the
// message is not known, or is none that has an answer: then a status of HTTP says it.
func (c *call) refuse(err error) error {
	var own *mcp.Error
	if !errors.As(err, &own) {
		failure := apierror.From(err)
		if !c.isRequest() || failure.Code == apierror.ClientGone {
			return failure
		}
		c.req.Outcome.Fail(failure)
		own = errorOf(c, failure)
		setRetry(c.req.Writer.Header(), failure)
	} else {
		if own.Code == mcp.CodeUnsupportedVersion {
			own = mcp.Unsupported(c.req.HTTP.Header.Get(mcp.HeaderVersion), toolserver.VersionsOf(c.req.HTTP.Context(), c.server))
		}
		c.req.Outcome.Fail(recordOf(own))
	}
	status := own.HTTPStatus()
	if !c.isRequest() && status == http.StatusOK { // nothing waits for an answer: only the status tells
		status = http.StatusBadRequest
	}
	c.writeJSON(status, mcp.Call{Message: c.message}.Refuse(own))
	return nil
}

// errorOf is a refusal as the error of JSON-RPC that answers the request. It says when to ask again only
// if the tool cannot have worked.
func errorOf(c *call, e *apierror.Error) *mcp.Error {
	if hasEffect(c) && c.upstream.acted() {
		e.RetryAfter = apierror.NoRetryAfter
	}
	return mcp.ErrorOf(e)
}

// recordOf is an error of the protocol as the record has it.
func recordOf(e *mcp.Error) *apierror.Error {
	code := apierror.InvalidValue
	switch e.Code {
	case mcp.CodeParse:
		code = apierror.InvalidJSON
	case mcp.CodeMethodNotFound:
		code = apierror.NotFound
	}
	return apierror.New(code, "%s", e.Message)
}

func setRetry(h http.Header, e *apierror.Error) {
	if wait := e.Retry(); wait > 0 {
		h.Set("Retry-After", strconv.FormatInt(mcp.Seconds(wait), 10))
	}
}
