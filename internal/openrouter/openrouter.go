// Package openrouter holds the wire shapes of the second SDK family: chat completions, model list,
// activity, generation and key, as OpenRouter's own SDKs validate them.
//
// Those SDKs are strict where the first family's are lax: one unexpected null ends a stream with a
// validation error. So chat answers pass through the repair of package openai with this family's
// [openai.Shape], and all other answers are encoded here from small structs.
//
//	openrouter.EncodeChatFields(body, req, isOpenRouter)
//	out, sum, err := openrouter.ChatResult(nil, answer, call)
//	stream := openrouter.NewChatStream(call)
//
// Responses calls of this family have the first family's shape, with the members of
// [ResponseDefaults]: see [openai.ResponsesResult] and [openai.NewResponsesStream].
package openrouter

import (
	"strconv"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
)

// Call is what is known of a call before its provider answers.
type Call struct {
	// Call.ID is the generation's id ("gen-…"). It replaces the provider's, so that GET
	// /generation?id= finds the call. Call.Provider is shown as `provider`. IncludeUsage has no
	// effect: usage is always shown.
	openai.Call

	// Cost returns the cost of the usage in USD, as a decimal number. It returns nil for an unknown
	// cost: then no cost is shown, not 0.
	Cost func(openai.Usage) []byte
}

var (
	resultNotNull = [...][]string{
		openai.AtMessage:  {"tool_calls", "audio", "images", "name", "model", "reasoning_details"},
		openai.AtTop:      {"openrouter_metadata"},
		openai.AtFunction: nil,
	}
	resultPresent = []string{"system_fingerprint"}
	chunkNotNull  = [...][]string{
		openai.AtTop:      {"system_fingerprint", "openrouter_metadata"},
		openai.AtMessage:  {"tool_calls", "audio", "images", "name", "reasoning_details"},
		openai.AtCall:     {"id", "type", "function"},
		openai.AtFunction: {"name", "arguments"},
	}
)

// ResponseDefaults are the members that this family's SDKs require of a Response. OpenAI sends some of
// them in some answers only.
var ResponseDefaults = []openai.Default{
	{Key: "completed_at", Value: "null"}, {Key: "error", Value: "null"}, {Key: "incomplete_details", Value: "null"},
	{Key: "instructions", Value: "null"}, {Key: "metadata", Value: "null"}, {Key: "output", Value: "[]"},
	{Key: "tools", Value: "[]"}, {Key: "tool_choice", Value: `"auto"`}, {Key: "parallel_tool_calls", Value: "true"},
	{Key: "temperature", Value: "null"}, {Key: "top_p", Value: "null"},
	{Key: "frequency_penalty", Value: "null"}, {Key: "presence_penalty", Value: "null"},
}

// ChatResult appends a provider's whole chat completion as this family's clients need it. Errors
// are as in [openai.ChatResult].
func ChatResult(dst, body []byte, call Call) ([]byte, openai.Summary, error) {
	shape := call.shape(resultNotNull)
	shape.Present = resultPresent
	return openai.ShapedResult(dst, body, call.Call, shape)
}

// NewChatStream returns the stream of one client. If the provider reported usage, the stream ends
// with one chunk of usage and no choices: every SDK accepts that.
func NewChatStream(call Call) *openai.ChatStream {
	shape := call.shape(chunkNotNull)
	shape.Failure = call.appendFailure
	return openai.NewShapedStream(call.Call, shape)
}

func (c Call) shape(notNull [openai.AtFunction + 1][]string) openai.Shape {
	return openai.Shape{
		NotNull:   notNull,
		Native:    true,
		Reasoning: true,
		FixedID:   c.ID,
		Provider:  c.Provider,
		Usage:     c.appendUsage,
		Metadata:  c.Metadata,
	}
}

// AppendError appends the body of a refusal: {"error": {code, message, metadata}}. The code is the
// HTTP status, an integer: the Go SDK does not show the status otherwise.
func AppendError(dst []byte, e *apierror.Error) []byte {
	dst = append(dst, `{"error":`...)
	dst = appendErrorObject(dst, e)
	return append(dst, '}')
}

// appendFailure appends the members of the chunk that ends a failed stream. It is a full chunk,
// because the SDKs reject one with an error alone.
func (c Call) appendFailure(dst []byte, e *apierror.Error) []byte {
	dst = append(dst, `,"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}],"error":`...)
	dst = appendErrorObject(dst, e)
	if c.Metadata != nil {
		dst = append(append(dst, `,"`+openai.MetadataKey+`":`...), c.Metadata()...)
	}
	return dst
}

func appendErrorObject(dst []byte, e *apierror.Error) []byte {
	dst = append(dst, `{"code":`...)
	dst = strconv.AppendInt(dst, int64(e.HTTPStatus()), 10)
	dst = append(dst, `,"message":`...)
	dst = jsonscan.AppendString(dst, e.Message)
	dst = append(dst, `,"metadata":{"error_type":`...)
	dst = jsonscan.AppendString(dst, e.OpenRouterType())
	for _, f := range [...]struct{ key, value string }{
		{`,"param":`, e.Param},
		{`,"provider_name":`, e.Provider},
		{`,"provider_code":`, openai.ProviderCode(e)},
		{`,"limit_source":`, e.LimitSource},
	} {
		if f.value != "" {
			dst = append(dst, f.key...)
			dst = jsonscan.AppendString(dst, f.value)
		}
	}
	for i, reason := range e.Reasons {
		dst = append(dst, [...]string{`,"reasons":[`, `,`}[min(i, 1)]...)
		dst = jsonscan.AppendString(dst, reason)
	}
	if len(e.Reasons) > 0 {
		dst = append(dst, ']')
	}
	return append(dst, `}}`...)
}
