package openai

import (
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// AppendError appends the body of a refusal: {"error": {message, type, param, code}}, always with
// all four keys, as OpenAI's specification requires, and details where there are any.
func AppendError(dst []byte, e *apierror.Error) []byte {
	dst = append(dst, `{"error":`...)
	dst = appendErrorObject(dst, e)
	return append(dst, '}')
}

// AppendStreamError appends the event that ends a failed chat stream. No [DONE] may follow: it would
// make an incomplete answer look whole.
func AppendStreamError(dst []byte, e *apierror.Error) []byte {
	dst = append(dst, "data: "...)
	dst = AppendError(dst, e)
	return append(dst, "\n\n"...)
}

func appendErrorObject(dst []byte, e *apierror.Error) []byte {
	dst = append(dst, `{"message":`...)
	dst = jsonscan.AppendString(dst, e.Message)
	dst = append(dst, `,"type":`...)
	dst = jsonscan.AppendString(dst, e.Type())
	dst = append(dst, `,"param":`...)
	dst = appendStringOrNull(dst, e.Param)
	dst = append(dst, `,"code":`...)
	dst = jsonscan.AppendString(dst, string(e.Code))
	if len(e.Details) > 0 {
		dst = append(append(dst, `,"details":`...), e.Details...)
	}
	return append(dst, '}')
}

func appendStringOrNull(dst []byte, s string) []byte {
	if s == "" {
		return append(dst, "null"...)
	}
	return jsonscan.AppendString(dst, s)
}
