// Package tochat serves a caller of the Responses API by a provider that only has chat completions.
//
//	chat, original, err := tochat.Request(body, stream, options)          // what the provider gets
//	response, sum, err := tochat.Result(nil, answer, original, call, ids) // a whole answer
//	events := tochat.NewStream(original, call, ids)                       // the same, event by event
package tochat

import (
	"bytes"
	"strconv"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// Options is what a translation depends on besides the request.
type Options struct {
	// UpstreamModel is the model as the provider calls it.
	UpstreamModel string

	// MaxOutput is the limit of the output in tokens that the provider is told, instead of the
	// request's max_output_tokens. 0 tells it the request's own, if there is one.
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
}

// translation is one request on its way.
type translation struct {
	opt      Options
	body     translate.Object
	out      []byte // the chat request so far
	original Original

	tools  []byte // chat tools, as an array; nil for none
	choice []byte // tool_choice as a chat request has it, nil for the default
}

// Request translates a Responses request, which openai/request.ParseResponses accepted, to the chat request
// for a provider; stream is what the request says of streaming. It reads b as it was parsed, without
// the edits that b has collected. The error is a [*apierror.Error] with status 400 that names the
// field which a chat request cannot carry, or whose value is invalid. Neither result refers to b.
func Request(b *jsonscan.Body, stream bool, opt Options) (chat []byte, original *Original, err error) {
	t := translation{opt: opt, body: translate.Body(b)}
	if err := t.judge(); err != nil {
		return nil, nil, err
	}
	if err := t.readTools(); err != nil {
		return nil, nil, err
	}
	t.out = make([]byte, 0, len(b.Data())+len(b.Data())/8+512)
	t.out = append(t.out, `{"model":`...)
	t.out = jsonscan.AppendString(t.out, opt.UpstreamModel)
	if err := t.messages(); err != nil {
		return nil, nil, err
	}
	for i, m := range b.Members() {
		if key := string(m.Key(b.Data())); fields[key] == translate.Kept && m.Kind != 'n' {
			t.put(key, b.Value(i))
		}
	}
	limit, err := t.limit()
	if err != nil {
		return nil, nil, err
	}
	for _, step := range []func() error{t.reasoning, t.textFormat, t.logprobs} {
		if err := step(); err != nil {
			return nil, nil, err
		}
	}
	if err := t.putTools(); err != nil {
		return nil, nil, err
	}
	if stream {
		t.out = append(t.out, `,"stream":true,"stream_options":{"include_usage":true}`...)
	}
	t.out = append(t.out, '}')
	t.original.build(t.body, limit)
	return t.out, &t.original, nil
}

// put appends a member.
func (t *translation) put(key string, value []byte) {
	t.out = append(t.out, ',')
	t.out = translate.AppendMember(t.out, key, value)
}

// judge refuses what has no counterpart.
func (t *translation) judge() error {
	for _, m := range t.body.Members() {
		if m.Kind == 'n' {
			continue
		}
		key := string(m.Key(t.body.Data()))
		if f, known := fields[key]; f == translate.Refused || !known {
			return translate.Unsupported(key)
		}
	}
	// Nothing is stored either way; true is what OpenAI's clients expect of
	// the default.
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
	if value := t.body.Get("stream_options"); value != nil {
		options, err := translate.Open(value, "stream_options")
		if err != nil {
			return err
		}
		// Padding is between a client and the server it talks to.
		return options.Only("include_obfuscation", "include_usage")
	}
	return nil
}

// limit maps max_output_tokens, or the limit of the options that replaces it, and returns it, nil
// for none.
func (t *translation) limit() (limit []byte, err error) {
	if t.opt.MaxOutput > 0 {
		limit = strconv.AppendInt(nil, t.opt.MaxOutput, 10)
	} else if limit = t.body.Get("max_output_tokens"); limit == nil {
		return nil, nil
	} else if n, ok := jsonscan.Int(limit); !ok || n < 1 {
		return nil, translate.Invalid("max_output_tokens", "a positive integer")
	}
	field := t.opt.MaxTokensField
	if field == "" {
		field = "max_completion_tokens"
	}
	t.put(field, limit)
	return limit, nil
}

// reasoning maps the effort. A summary needs no asking for: reasoning that the
// provider shows is shown as one.
func (t *translation) reasoning() error {
	value := t.body.Get("reasoning")
	if value == nil {
		return nil
	}
	o, err := translate.Open(value, "reasoning")
	if err != nil {
		return err
	}
	if err := o.Only("effort", "summary", "generate_summary"); err != nil {
		return err
	}
	effort, err := o.Text("effort")
	if err == nil && effort != nil {
		t.put("reasoning_effort", effort)
	}
	return err
}

// logprobs maps include and top_logprobs. What else a request may ask to be
// included comes from hosted tools and stored reasoning, of which there is
// none.
func (t *translation) logprobs() error {
	if value := t.body.Get("include"); value != nil {
		spans, err := translate.Elements(value, "include", jsonscan.MaxMembers)
		if err != nil {
			return err
		}
		for i, span := range spans {
			if span.Kind != '"' {
				return translate.Invalid(translate.At("include", i), "a string")
			}
			if bytes.Equal(span.Value(value), []byte(`"message.output_text.logprobs"`)) {
				t.original.logprobs = true
			}
		}
	}
	top := t.body.Get("top_logprobs")
	if top != nil {
		n, ok := jsonscan.Int(top)
		if !ok || n < 0 {
			return translate.Invalid("top_logprobs", "an integer of at least 0")
		}
		if n > 0 {
			t.original.logprobs = true
			t.put("top_logprobs", top)
		}
	}
	if t.original.logprobs {
		t.put("logprobs", []byte("true"))
	}
	return nil
}
