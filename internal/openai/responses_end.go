package openai

import (
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// AppendResponsesError appends the event that ends a failed Responses stream, after its
// response.failed. The event has its fields twice: SDKs yield the flat form of the API's
// specification and raise the nested form that OpenAI sends.
func AppendResponsesError(dst []byte, sequence int64, e *apierror.Error) []byte {
	body := append([]byte(nil), `{"type":"error","sequence_number":`...)
	body = appendInt(body, sequence)
	body = append(body, `,"code":`...)
	body = jsonscan.AppendString(body, string(e.Code))
	body = append(body, `,"message":`...)
	body = jsonscan.AppendString(body, e.Message)
	body = append(body, `,"param":`...)
	body = appendStringOrNull(body, e.Param)
	body = append(body, `,"error":`...)
	body = appendErrorObject(body, e)
	return appendEvent(dst, []byte("error"), append(body, '}'))
}

// AppendResponseFailure appends the `error` object of a failed Response, whose code is of the closed
// set that the SDKs know.
func AppendResponseFailure(dst []byte, e *apierror.Error) []byte {
	dst = append(dst, `{"code":`...)
	dst = jsonscan.AppendString(dst, responseErrorCode(e))
	dst = append(dst, `,"message":`...)
	dst = jsonscan.AppendString(dst, e.Message)
	return append(dst, '}')
}
