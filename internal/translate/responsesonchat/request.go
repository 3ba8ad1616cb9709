// Package responsesonchat serves a caller of the Responses API by a provider that only has chat
// completions.
//
//	chat, original, err := responsesonchat.Request(body, stream, options)          // for the provider
//	response, sum, err := responsesonchat.Result(nil, answer, original, call, ids) // for the caller
//	events := responsesonchat.NewStream(original, call, ids)                       // the same, streamed
package responsesonchat

import (
	"strconv"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/chat"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/conversation"
)

// Options is what a translation depends on besides the request.
type Options struct {
	// UpstreamModel is the model as the provider calls it.
	UpstreamModel string

	// MaxOutput is the limit of the output in tokens that the provider gets, instead of the
	// request's max_output_tokens. 0 leaves the request's own, if it has one.
	MaxOutput int64

	// MaxTokensField is the provider's name for max_output_tokens: max_completion_tokens, which is
	// the default, or max_tokens.
	MaxTokensField string

	// Chat is what the provider takes of chat completions.
	Chat chat.Options

	// DropUnknownTools leaves out tools that no chat provider can have, and the traces of their
	// calls. By default they are refused. A choice of such a tool is refused in any case.
	DropUnknownTools bool

	// SignedReasoning says that reasoning comes with signatures in reasoning_details, and that the
	// provider wants it back in this form. Callers who ask for reasoning.encrypted_content, or who
	// say that nothing is stored, keep it there. By default that is left out.
	SignedReasoning bool
}

// translation is one request on its way.
type translation struct {
	opt      Options
	body     translate.Reader
	tools    tools
	out      translate.Writer // the chat request so far
	limit    []byte           // the limit of the output that the provider gets, nil for none
	logprobs bool             // the caller asked for them
	signed   bool             // the caller asked for reasoning with signatures, and can get it
}

// Request translates a Responses request that request.ParseResponses accepted. The result is the
// chat request for the provider, streamed if the caller asked for it. It reads b as it was parsed,
// without the edits that b has collected. The error is a [*apierror.Error] with status 400 that
// names the field which a chat request cannot carry, or whose value is invalid. Neither result
// refers to b.
func Request(b *jsonscan.Body, stream bool, opt Options) (request []byte, original *Original, err error) {
	t := begin(translate.Read(b, &err), opt)
	c := t.read(opt.Chat.Demands())
	t.out = translate.WriteTo(make([]byte, 0, len(b.Data())+len(b.Data())/8+512))
	opt.Chat.PutRequest(&t.out, t.body, opt.UpstreamModel, c, stream, t.putSettings, t.putParallel)
	if err != nil {
		return nil, nil, err
	}
	original = t.original()
	original.names = c.Names()
	return t.out.Bytes(), original, nil
}

// Read returns a Responses request for a provider of another API than chat completions. What its
// answer needs is known when its conversation was read.
func Read(b *jsonscan.Body, opt Options) (*conversation.Request, *Original) {
	t := begin(translate.Read(b, new(error)), opt)
	original := &Original{}
	t.out.Object()
	t.out.StringMember("model", opt.UpstreamModel)
	t.putSettings()
	t.putParallel()
	t.out.End()
	return &conversation.Request{
		Settings: translate.OpenInside(t.body, t.out.Bytes(), ""), Size: len(b.Data()),
		Read: func(rules *conversation.Rules) *conversation.Conversation {
			c := t.read(rules)
			*original = *t.original()
			return c
		},
	}, original
}

func begin(body translate.Reader, opt Options) *translation {
	t := &translation{opt: opt, body: body, tools: tools{drop: opt.DropUnknownTools}}
	fields.Check(t.body, nil)
	t.check()
	return t
}

// read reads the conversation. Tools come first: calls in the input name them.
func (t *translation) read(rules *conversation.Rules) *conversation.Conversation {
	to := conversation.Build(t.body, rules)
	t.tools.to = to
	t.tools.read(t.body)
	in := input{to: to, dropUnknown: t.opt.DropUnknownTools, tools: &t.tools}
	in.read(t.body)
	t.tools.end(t.body)
	return to.Finish()
}

// putSettings writes the fields beside the conversation.
func (t *translation) putSettings() {
	fields.PutKept(&t.out, t.body)
	t.putLimit()
	t.putReasoning()
	t.putText()
	t.putLogprobs()
}

func (t *translation) putParallel() {
	t.body.Bool("parallel_tool_calls")
	t.out.Member("parallel_tool_calls", t.body.Get("parallel_tool_calls"))
}

// check refuses values that have no counterpart.
func (t *translation) check() {
	t.body.Bool("store") // nothing is stored in any case; OpenAI's default is true, so clients may send it
	if t.body.Bool("background") {
		t.body.Fail(translate.UnsupportedValue("background", "true"))
	}
	if truncation := t.body.DecodedText("truncation"); truncation != "" && truncation != "disabled" {
		t.body.Fail(translate.UnsupportedValue("truncation", truncation))
	}
}

// putLimit maps max_output_tokens, unless the options replace it.
func (t *translation) putLimit() {
	if t.opt.MaxOutput > 0 {
		t.limit = strconv.AppendInt(nil, t.opt.MaxOutput, 10)
	} else if t.limit, _ = t.body.Int("max_output_tokens", 1); t.limit == nil {
		return
	}
	field := t.opt.MaxTokensField
	if field == "" {
		field = "max_completion_tokens"
	}
	t.out.Member(field, t.limit)
}

// putReasoning maps the effort. A summary needs no counterpart: the reasoning that the provider
// shows becomes the summary.
func (t *translation) putReasoning() {
	// What earlier reasoning the model sees is its provider's choice.
	o, ok := t.body.Object("reasoning", "effort", "summary", "generate_summary", "context", "mode")
	if !ok {
		return
	}
	if mode := o.DecodedText("mode"); mode != "" && mode != "standard" {
		o.Fail(translate.UnsupportedValue(o.Param("mode"), mode))
	}
	if effort := o.Text("effort"); effort != nil {
		t.out.Member("reasoning_effort", effort)
	}
}

// putLogprobs maps include and top_logprobs. The other values of include ask for what only hosted
// tools and stored reasoning have.
func (t *translation) putLogprobs() {
	t.signed = t.opt.SignedReasoning && string(t.body.Get("store")) == "false" // only the caller keeps it
	if value := t.body.Get("include"); value != nil {
		spans, err := translate.Elements(value, "include", jsonscan.MaxMembers)
		t.body.Fail(err)
		for i, span := range spans {
			switch string(span.Value(value)) {
			case `"message.output_text.logprobs"`:
				t.logprobs = true
			case `"reasoning.encrypted_content"`:
				t.signed = t.opt.SignedReasoning
			default:
				if span.Kind != '"' {
					t.body.Fail(translate.Invalid(translate.At("include", i), "a string"))
				}
			}
		}
	}
	if top, n := t.body.Int("top_logprobs", 0); n > 0 {
		t.logprobs = true
		t.out.Member("top_logprobs", top)
	}
	if t.logprobs {
		t.out.BoolMember("logprobs", true)
	}
}

// putText maps text.format and text.verbosity.
func (t *translation) putText() {
	text, ok := t.body.Object("text", "format", "verbosity")
	if !ok {
		return
	}
	if verbosity := text.Text("verbosity"); verbosity != nil && string(verbosity) != `"medium"` { // the default
		t.out.Member("verbosity", verbosity)
	}
	putFormat(&t.out, text)
}
