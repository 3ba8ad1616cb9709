// Package responsesonchat serves a caller of the Responses API by a provider that only has chat completions.
//
//	chat, original, err := responsesonchat.Request(body, stream, options)          // for the provider
//	response, sum, err := responsesonchat.Result(nil, answer, original, call, ids) // for the caller
//	events := responsesonchat.NewStream(original, call, ids)                       // the same, streamed
package responsesonchat

import (
	"strconv"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
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

	// DeveloperRole says that the provider knows the role developer. By default instructions and
	// developer messages become system messages.
	DeveloperRole bool

	// ReasoningContent says that the provider wants its reasoning back, as reasoning_content of the
	// assistant message that followed it. By default reasoning items of the input are left out.
	ReasoningContent bool

	// DropUnknownTools leaves out tools that no chat provider can have, and the traces of their
	// calls. By default they are refused. A choice of such a tool is refused in any case.
	DropUnknownTools bool

	// ToolParts says that tool messages can have images and files, as another translation can take
	// them. By default these stand in a user message behind the tool messages.
	ToolParts bool

	// FileURLs says that files may have an https URL instead of their data.
	FileURLs bool

	// SignedReasoning says that reasoning comes with signatures in reasoning_details, and that the
	// provider wants it back in this form. Callers who ask for reasoning.encrypted_content, or who say
	// that nothing is stored, keep it there. By default that is left out.
	SignedReasoning bool
}

// translation is one request on its way.
type translation struct {
	opt      Options
	body     translate.Reader
	tools    tools
	out      []byte // the chat request so far
	limit    []byte // the limit of the output that the provider gets, nil for none
	logprobs bool   // the caller asked for them
	signed   bool   // the caller asked for reasoning with signatures, and can get it
}

// Request translates a Responses request that request.ParseResponses accepted. The result is the
// chat request for the provider, streamed if the caller asked for it. It reads b as it was parsed,
// without the edits that b has collected. The error is a [*apierror.Error] with status 400 that
// names the field which a chat request cannot carry, or whose value is invalid. Neither result
// refers to b.
func Request(b *jsonscan.Body, stream bool, opt Options) (chat []byte, original *Original, err error) {
	t := translation{opt: opt, body: translate.Read(b, &err), tools: tools{drop: opt.DropUnknownTools}}
	fields.Check(t.body, nil)
	t.check()
	t.tools.read(t.body) // first: calls in the input name them
	t.out = make([]byte, 0, len(b.Data())+len(b.Data())/8+512)
	t.out = append(t.out, `{"model":`...)
	t.out = jsonscan.AppendString(t.out, opt.UpstreamModel)
	t.out = appendMessages(t.out, t.body, &t.tools, opt)
	t.out = fields.AppendKept(t.out, t.body)
	t.putLimit()
	t.putReasoning()
	t.putText()
	t.putLogprobs()
	t.out = t.tools.append(t.out, t.body)
	if stream {
		t.out = append(t.out, `,"stream":true,"stream_options":{"include_usage":true}`...)
	}
	if err != nil {
		return nil, nil, err
	}
	return append(t.out, '}'), t.original(), nil
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

func (t *translation) put(key string, value []byte) {
	t.out = translate.AppendMember(t.out, key, value)
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
	t.put(field, t.limit)
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
		t.put("reasoning_effort", effort)
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
		t.put("top_logprobs", top)
	}
	if t.logprobs {
		t.out = append(t.out, `,"logprobs":true`...)
	}
}

// putText maps text.format and text.verbosity.
func (t *translation) putText() {
	text, ok := t.body.Object("text", "format", "verbosity")
	if !ok {
		return
	}
	if verbosity := text.Text("verbosity"); verbosity != nil && string(verbosity) != `"medium"` { // the default
		t.put("verbosity", verbosity)
	}
	t.out = appendFormat(t.out, text)
}
