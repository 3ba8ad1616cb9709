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
	body     translate.Object
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
	t := translation{opt: opt, body: translate.Body(b), tools: tools{drop: opt.DropUnknownTools}}
	if err := t.check(); err != nil {
		return nil, nil, err
	}
	if err := t.tools.read(t.body); err != nil { // first: calls in the input name them
		return nil, nil, err
	}
	t.out = make([]byte, 0, len(b.Data())+len(b.Data())/8+512)
	t.out = append(t.out, `{"model":`...)
	t.out = jsonscan.AppendString(t.out, opt.UpstreamModel)
	if t.out, err = appendMessages(t.out, t.body, &t.tools, opt); err != nil {
		return nil, nil, err
	}
	t.out = fields.AppendKept(t.out, t.body)
	for _, step := range []func() error{t.putLimit, t.putReasoning, t.putText, t.putLogprobs} {
		if err := step(); err != nil {
			return nil, nil, err
		}
	}
	if t.out, err = t.tools.append(t.out, t.body); err != nil {
		return nil, nil, err
	}
	if stream {
		t.out = append(t.out, `,"stream":true,"stream_options":{"include_usage":true}`...)
	}
	t.out = append(t.out, '}')
	return t.out, t.original(), nil
}

// check refuses what has no counterpart.
func (t *translation) check() error {
	if _, err := fields.Check(t.body, nil); err != nil {
		return err
	}
	// Nothing is stored in any case. OpenAI's default is true, so clients may send it.
	if _, err := t.body.Bool("store"); err != nil {
		return err
	}
	switch background, err := t.body.Bool("background"); {
	case err != nil:
		return err
	case background:
		return translate.UnsupportedValue("background", "true")
	}
	switch truncation, err := t.body.DecodedText("truncation"); {
	case err != nil:
		return err
	case truncation != "" && truncation != "disabled":
		return translate.UnsupportedValue("truncation", truncation)
	}
	return nil
}

func (t *translation) put(key string, value []byte) {
	t.out = translate.AppendMember(t.out, key, value)
}

// putLimit maps max_output_tokens, unless the options replace it.
func (t *translation) putLimit() (err error) {
	if t.opt.MaxOutput > 0 {
		t.limit = strconv.AppendInt(nil, t.opt.MaxOutput, 10)
	} else if t.limit, _, err = t.body.Int("max_output_tokens", 1); err != nil || t.limit == nil {
		return err
	}
	field := t.opt.MaxTokensField
	if field == "" {
		field = "max_completion_tokens"
	}
	t.put(field, t.limit)
	return nil
}

// putReasoning maps the effort. A summary needs no counterpart: the reasoning that the provider
// shows becomes the summary.
func (t *translation) putReasoning() error {
	o, ok, err := t.body.Object("reasoning")
	if !ok || err != nil {
		return err
	}
	// What earlier reasoning the model sees is its provider's choice.
	if err := o.Only("effort", "summary", "generate_summary", "context", "mode"); err != nil {
		return err
	}
	switch mode, err := o.DecodedText("mode"); {
	case err != nil:
		return err
	case mode != "" && mode != "standard":
		return translate.UnsupportedValue(o.Param("mode"), mode)
	}
	effort, err := o.Text("effort")
	if effort != nil {
		t.put("reasoning_effort", effort)
	}
	return err
}

// putLogprobs maps include and top_logprobs. The other values of include ask for what only hosted
// tools and stored reasoning have.
func (t *translation) putLogprobs() error {
	t.signed = t.opt.SignedReasoning && string(t.body.Get("store")) == "false" // only the caller keeps it
	if value := t.body.Get("include"); value != nil {
		spans, err := translate.Elements(value, "include", jsonscan.MaxMembers)
		if err != nil {
			return err
		}
		for i, span := range spans {
			if span.Kind != '"' {
				return translate.Invalid(translate.At("include", i), "a string")
			}
			switch string(span.Value(value)) {
			case `"message.output_text.logprobs"`:
				t.logprobs = true
			case `"reasoning.encrypted_content"`:
				t.signed = t.opt.SignedReasoning
			}
		}
	}
	top, n, err := t.body.Int("top_logprobs", 0)
	if err != nil {
		return err
	}
	if n > 0 {
		t.logprobs = true
		t.put("top_logprobs", top)
	}
	if t.logprobs {
		t.out = append(t.out, `,"logprobs":true`...)
	}
	return nil
}

// putText maps text.format and text.verbosity.
func (t *translation) putText() error {
	text, ok, err := t.body.Object("text")
	if !ok || err != nil {
		return err
	}
	if err := text.Only("format", "verbosity"); err != nil {
		return err
	}
	verbosity, err := text.Text("verbosity")
	if err != nil {
		return err
	}
	if verbosity != nil && string(verbosity) != `"medium"` { // the default
		t.put("verbosity", verbosity)
	}
	t.out, err = appendFormat(t.out, text)
	return err
}
