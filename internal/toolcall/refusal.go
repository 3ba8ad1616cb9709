package toolcall

import (
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/mcp"
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
		setRetry(c.req.Writer.Header(), failure)
		own = errorOf(failure)
	} else {
		c.req.Outcome.Fail(recordOf(own))
	}
	c.req.Finish()
	status := own.HTTPStatus()
	if !c.isRequest() && status == http.StatusOK { // nothing waits for an answer: only the status tells
		status = http.StatusBadRequest
	}
	c.writeJSON(status, mcp.Call{Message: c.message}.Refuse(own))
	return nil
}

// errorOf is a refusal as the error of JSON-RPC that answers a request.
func errorOf(e *apierror.Error) *mcp.Error {
	out := &mcp.Error{Code: mcp.CodeRefused, Message: e.Message}
	switch e.Code {
	case apierror.Internal, apierror.UpstreamError, apierror.UpstreamTimeout, apierror.UpstreamAuth, apierror.UpstreamOverloaded, apierror.UpstreamRateLimited:
		out.Code = mcp.CodeInternal
	case apierror.UpstreamRejected: // clients find out by its status which version a server has
		out.Code, out.Status = mcp.CodeInternal, e.HTTPStatus()
	case apierror.ToolNotFound: // the same as of a tool that the server does not have
		out.Code = mcp.CodeInvalidParams
		return out
	case apierror.NotFound: // clients begin a new session after it
		out.Status = http.StatusNotFound
	}
	out.Data = append(append(out.Data, `{"code":"`...), e.Code...)
	out.Data = strconv.AppendInt(append(out.Data, `","status":`...), int64(e.HTTPStatus()), 10)
	if wait := e.Retry(); wait > 0 {
		out.Data = strconv.AppendInt(append(out.Data, `,"retry_after":`...), seconds(wait), 10)
	}
	out.Data = append(out.Data, '}')
	return out
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
		h.Set("Retry-After", strconv.FormatInt(seconds(wait), 10))
	}
}

// seconds rounds a wait up.
func seconds(wait time.Duration) int64 { return int64((wait + time.Second - 1) / time.Second) }
