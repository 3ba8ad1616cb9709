package gemini

import (
	"strconv"
	"strings"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// The types of details.
const (
	errorInfo  = "type.googleapis.com/google.rpc.ErrorInfo"
	retryInfo  = "type.googleapis.com/google.rpc.RetryInfo"
	badRequest = "type.googleapis.com/google.rpc.BadRequest"
)

// promptTooLong is how Google's API refuses a prompt that is longer than the model's window: it has no code
// for that, and agents look for the words.
const promptTooLong = "exceeds the maximum number of tokens allowed"

// AppendError appends the body of a refusal: {"error": {code, message, status, details}}. The reason in
// its ErrorInfo is our code. A provider's refusal of the request keeps the provider's own words.
func AppendError(dst []byte, e *apierror.Error, requestID string) []byte {
	message := e.Message
	if e.Own != nil && e.Own.Message != "" {
		message = e.Own.Message
	}
	if e.Code == apierror.ContextLengthExceeded && !strings.Contains(message, promptTooLong) {
		message = "The input token count " + promptTooLong + ": " + message
	}
	dst = append(dst, `{"error":{"code":`...)
	dst = strconv.AppendInt(dst, int64(e.HTTPStatus()), 10)
	dst = append(dst, `,"message":`...)
	dst = jsonscan.AppendString(dst, message)
	dst = append(dst, `,"status":"`+e.GoogleStatus()+`","details":[{"@type":"`+errorInfo+`","reason":`...)
	dst = jsonscan.AppendString(dst, string(e.Code))
	dst = append(dst, `,"domain":"gatehouse","metadata":{"request_id":`...)
	dst = append(jsonscan.AppendString(dst, requestID), "}}"...)
	if e.Param != "" {
		dst = append(dst, `,{"@type":"`+badRequest+`","fieldViolations":[{"field":`...)
		dst = append(jsonscan.AppendString(dst, e.Param), "}]}"...)
	}
	if wait := e.Retry(); wait > 0 {
		dst = append(dst, `,{"@type":"`+retryInfo+`","retryDelay":"`...)
		dst = strconv.AppendInt(dst, int64((wait+time.Second-1)/time.Second), 10)
		dst = append(dst, `s"}`...)
	}
	return append(dst, "]}}"...)
}
