package anthropic

import (
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
)

// How Anthropic's API refuses a prompt that is longer than the model's window. Claude Code compacts its
// conversation when it reads the first, and only then; after the second it asks for a shorter output.
const (
	promptTooLong = "prompt is too long"
	outputTooLong = "exceed context limit"
)

// AppendError appends the body of a refusal: {"type": "error", "error": {type, message, details},
// "request_id"}. Details is where Anthropic has codes too: error_code is ours, and param the field
// at fault. A provider's refusal of the request keeps the provider's own words, because clients
// match them.
func AppendError(dst []byte, e *apierror.Error, requestID string) []byte {
	typ, message := e.AnthropicType(), e.Message
	if own := e.Own; own != nil && own.Message != "" {
		message = own.Message
		if own.Type != "" {
			typ = own.Type
		}
	}
	if e.Code == apierror.ContextLengthExceeded {
		typ = e.AnthropicType()
		if lower := strings.ToLower(message); !strings.HasPrefix(lower, promptTooLong) && (e.Own == nil || !strings.Contains(lower, outputTooLong)) {
			message = promptTooLong + ": " + message
		}
	}
	dst = openai.AppendText(append(dst, `{"type":"error","error":{`...), "type", typ)
	dst = openai.AppendText(dst, "message", message)
	dst = openai.AppendText(append(dst, `,"details":{`...), "error_code", string(e.Code))
	if e.Param != "" {
		dst = openai.AppendText(dst, "param", e.Param)
	}
	return append(openai.AppendText(append(dst, "}}"...), "request_id", requestID), '}')
}

// AppendStreamError appends the event that ends a failed stream. No message_stop may follow: it would
// make an incomplete answer look whole.
func AppendStreamError(dst []byte, e *apierror.Error, requestID string) []byte {
	dst = append(dst, "event: error\ndata: "...)
	dst = AppendError(dst, e, requestID)
	return append(dst, "\n\n"...)
}
