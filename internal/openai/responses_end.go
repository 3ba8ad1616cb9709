package openai

import "github.com/gatehouse-proxy/gatehouse/internal/apierror"

// AppendResponsesError appends the event that ends a failed Responses stream, after its
// response.failed. The event has its fields twice: SDKs yield the flat form of the API's
// specification and raise the nested form that OpenAI sends.
func AppendResponsesError(dst []byte, sequence int64, e *apierror.Error) []byte {
	body := AppendInt([]byte(`{"type":"error"`), "sequence_number", sequence)
	body = AppendText(body, "code", string(e.Code))
	body = AppendText(body, "message", e.Message)
	body = appendTextOrNull(body, "param", e.Param)
	body = appendErrorObject(AppendKey(body, "error"), e)
	return appendEvent(dst, []byte("error"), append(body, '}'))
}

// AppendResponseFailure appends the `error` object of a failed Response, whose code is of the closed
// set that the SDKs know.
func AppendResponseFailure(dst []byte, e *apierror.Error) []byte {
	return appendFailure(dst, responseErrorCode(e), e.Message)
}

func appendFailure(dst []byte, code, message string) []byte {
	dst = AppendText(append(dst, '{'), "code", code)
	return append(AppendText(dst, "message", message), '}')
}
