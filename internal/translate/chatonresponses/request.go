// Package chatonresponses serves a caller of chat completions by a provider that only has the
// Responses API. The families of endpoints answer chat calls in different forms. The translation
// makes the chat completion that a provider would send, and the family's own result or stream makes
// its answer from that.
//
//	responses, original, err := chatonresponses.Request(body, stream, options) // for the provider
//	chat, sum, err := chatonresponses.Result(answer, original, call)           // for the family
//	chunks := chatonresponses.NewStream(original, call, family)                // the same, streamed
package chatonresponses

import (
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/conversation"
)

// Options is what a translation depends on besides the request.
type Options struct {
	// UpstreamModel is the model as the provider calls it.
	UpstreamModel string

	// MaxOutput is the limit of the output in tokens that the provider gets, instead of the
	// request's max_completion_tokens and max_tokens. 0 leaves the request's own, if it has one.
	MaxOutput int64
}

// Original is what the answer needs of the caller's request. [Request] makes it; it does not change
// afterwards.
type Original struct {
	stored        bool // the provider keeps the response
	logprobs      bool
	hideReasoning bool
	functions     translate.Functions
	names         translate.Names
	leftOut       []string
	stops         []string
}

// LeftOut returns the names of the fields that the request is sent without.
func (o *Original) LeftOut() []string { return o.leftOut }

// translation is one request on its way.
type translation struct {
	body         translate.Reader
	out          translate.Writer // the Responses request so far
	conversation *conversation.Conversation
	original     *Original
}

// Request translates a request to the Responses request for the provider, streamed if the caller
// asked for it. The error is a [*apierror.Error] with status 400 that names the field which a
// Responses request cannot carry, or whose value is invalid. Neither result refers to r.
func Request(r *conversation.Request, stream bool, opt Options) (responses []byte, original *Original, err error) {
	t := translation{body: r.Settings, original: &Original{functions: r.Functions}}
	t.original.leftOut = fields.Check(t.body, translate.ChatNeutral.Has)
	t.conversation = r.Read(&demands)
	t.original.leftOut = append(t.original.leftOut, t.conversation.LeftOut...)
	if t.out = translate.WriteTo(r.Room()); r.Err() == nil {
		t.write(stream, opt)
	}
	if err := r.Err(); err != nil {
		return nil, nil, err
	}
	return t.out.Bytes(), t.original, nil
}

// write writes the members of the request.
func (t *translation) write(stream bool, opt Options) {
	t.out.Object()
	t.out.StringMember("model", opt.UpstreamModel)
	putMessages(&t.out, t.conversation.Turns)
	fields.PutKept(&t.out, t.body)
	t.limit(opt.MaxOutput)
	t.reasoning()
	t.putText()
	t.logprobs()
	t.stop()
	t.body.Bool("parallel_tool_calls")
	putTools(&t.out, t.conversation, t.body.Get("parallel_tool_calls"))
	t.store()
	if stream {
		t.out.BoolMember("stream", true)
	}
	t.out.End()
	t.original.names = t.conversation.Names()
}

// limit maps max_completion_tokens and its older name max_tokens, unless maxOutput replaces both.
func (t *translation) limit(maxOutput int64) {
	if maxOutput > 0 {
		t.out.IntMember("max_output_tokens", maxOutput)
		return
	}
	if value, _ := translate.OutputLimit(t.body); value != nil {
		t.out.Member("max_output_tokens", value)
	}
}

// reasoning maps reasoning_effort, include_reasoning and OpenRouter's object reasoning. Its effort
// and summary have the same names in Responses; that reasoning is not shown is up to the answer.
func (t *translation) reasoning() {
	effort := t.body.Text("reasoning_effort")
	o, _ := t.body.Object("reasoning", "effort", "enabled", "exclude", "summary")
	t.original.hideReasoning = o.Bool("exclude")
	summary := o.Text("summary")
	if effort == nil {
		effort = effortOf(o)
	}
	if include := t.body.Bool("include_reasoning"); t.body.Get("include_reasoning") != nil && !include {
		t.original.hideReasoning = true
	}
	t.out.Object("reasoning")
	t.out.Member("effort", effort)
	t.out.Member("summary", summary)
	t.out.EndOptional()
}

// effortOf returns the effort of a reasoning object: its own, or the one that stands for enabled.
func effortOf(o translate.Reader) []byte {
	effort := o.Text("effort")
	if effort != nil || o.Get("enabled") == nil {
		return effort
	}
	if o.Bool("enabled") {
		return []byte(`"medium"`)
	}
	return []byte(`"none"`)
}

// logprobs maps logprobs and top_logprobs.
func (t *translation) logprobs() {
	if t.original.logprobs = t.body.Bool("logprobs"); t.original.logprobs {
		t.out.Member("include", []byte(`["message.output_text.logprobs"]`))
	}
	switch top, n := t.body.Int("top_logprobs", 0); {
	case n == 0:
	case !t.original.logprobs:
		t.body.Fail(apierror.New(apierror.InvalidValue, `"top_logprobs" needs "logprobs": true`).WithParam("top_logprobs"))
	default:
		t.out.Member("top_logprobs", top)
	}
}

// store is sent in any case: the default of chat completions is false, and that of Responses true.
func (t *translation) store() {
	t.original.stored = t.body.Bool("store")
	t.out.BoolMember("store", t.original.stored)
}
