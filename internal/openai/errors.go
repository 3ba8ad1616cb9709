package openai

import "github.com/gatehouse-proxy/gatehouse/internal/apierror"

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
	dst = AppendText(append(dst, '{'), "message", e.Message)
	dst = AppendText(dst, "type", e.Type())
	dst = appendTextOrNull(dst, "param", e.Param)
	dst = AppendText(dst, "code", string(e.Code))
	if len(e.Details) > 0 {
		dst = AppendValue(dst, "details", e.Details)
	}
	return append(dst, '}')
}

// appendTextOrNull appends a member that is a text, or null for "".
func appendTextOrNull(dst []byte, key, text string) []byte {
	if text == "" {
		return AppendValue(dst, key, jsonNull)
	}
	return AppendText(dst, key, text)
}
