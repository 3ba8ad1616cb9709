package mcp

import (
	"net/http"
	"strconv"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
)

// ErrorOf returns a refusal of the gateway as an error of JSON-RPC. Its data is for programs: code and
// status are those of the other APIs.
func ErrorOf(e *apierror.Error) *Error {
	out := &Error{Code: CodeRefused, Message: e.Message}
	switch e.Code {
	case apierror.Internal, apierror.UpstreamError, apierror.UpstreamTimeout, apierror.UpstreamAuth, apierror.UpstreamOverloaded, apierror.UpstreamRateLimited:
		out.Code = CodeInternal
	case apierror.UpstreamRejected: // clients find out by its status which version a server has
		out.Code, out.Status = CodeInternal, e.HTTPStatus()
	case apierror.ToolNotFound: // the same as of a tool that the server does not have
		out.Code = CodeInvalidParams
		return out
	case apierror.NotFound: // clients begin a new session after it
		out.Status = http.StatusNotFound
	}
	out.Data = append(append(out.Data, `{"code":"`...), e.Code...)
	out.Data = strconv.AppendInt(append(out.Data, `","status":`...), int64(e.HTTPStatus()), 10)
	if wait := e.Retry(); wait > 0 {
		out.Data = strconv.AppendInt(append(out.Data, `,"retry_after":`...), Seconds(wait), 10)
	}
	out.Data = append(out.Data, '}')
	return out
}

// Seconds rounds a wait up.
func Seconds(wait time.Duration) int64 { return int64((wait + time.Second - 1) / time.Second) }
