package responsesocket

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
)

// An error event has its status as a member: without it Codex waits until its idle timeout, six
// times. Its headers are there twice, because the SDKs read them inside the error, and Codex beside
// it.

// shownHeaders are those of a refusal that its event has.
var shownHeaders = []string{"Retry-After", "Retry-After-Ms", "X-Request-Id", "X-Should-Retry"}

// eventStatus is the status in an error event. Codex sends a turn twelve times that was refused
// with another 4xx than 400, which no repetition can change.
func eventStatus(status int) int {
	if status >= 400 && status < 500 && status != http.StatusTooManyRequests {
		return http.StatusBadRequest
	}
	return status
}

// appendEvent appends an error event. Object is the error, a JSON object.
func appendEvent(dst []byte, status int, object []byte, h http.Header) []byte {
	headers := []byte{'{'}
	for _, name := range shownHeaders {
		if value := h.Get(name); value != "" {
			headers = openai.AppendText(headers, strings.ToLower(name), value)
		}
	}
	headers = append(headers, '}')
	dst = append(dst, `{"type":"error","status":`...)
	dst = strconv.AppendInt(dst, int64(eventStatus(status)), 10)
	dst = openai.AppendValue(dst, "error", object)
	dst = openai.AppendValue(dst[:len(dst)-1], "headers", headers)
	dst = openai.AppendValue(append(dst, '}'), "headers", headers)
	return append(dst, '}')
}

// errorEvent is the event of a refusal of this package.
func errorEvent(e *apierror.Error) []byte {
	h := http.Header{}
	if wait := e.Retry(); wait > 0 {
		h.Set("Retry-After", strconv.FormatInt(int64((wait.Seconds())+0.999), 10))
	}
	return appendEvent(nil, e.HTTPStatus(), member(openai.AppendError(nil, e), "error"), h)
}

// refusalEvent is the event of a refusal that was written as an answer of HTTP.
func refusalEvent(status int, body []byte, h http.Header) []byte {
	object := member(body, "error")
	if object == nil {
		object = member(openai.AppendError(nil, apierror.New(apierror.Internal, "the gateway failed to handle this request")), "error")
	}
	return appendEvent(nil, status, object, h)
}

// streamError is the event of an error event of a stream.
func streamError(data []byte, h http.Header) []byte {
	object := member(data, "error")
	code, _ := jsonscan.String(member(object, "code"))
	e := apierror.Error{Code: apierror.Code(code)}
	if object == nil {
		return refusalEvent(e.HTTPStatus(), nil, h)
	}
	return appendEvent(nil, e.HTTPStatus(), object, h)
}
