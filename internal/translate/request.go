package translate

import (
	"bytes"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai/request"
)

// Options is what a translation depends on besides the request.
type Options struct {
	// UpstreamModel is the model as the provider calls it.
	UpstreamModel string

	// DeveloperRole says that the provider knows the role developer. By
	// default instructions and developer messages become system messages.
	DeveloperRole bool

	// MaxTokensField is the provider's name for max_output_tokens:
	// max_completion_tokens, which is the default, or max_tokens.
	MaxTokensField string

	// ReasoningContent says that the provider wants its reasoning back, as
	// reasoning_content of the assistant message that followed it. By default
	// reasoning items of the input are left out.
	ReasoningContent bool
}

// translation is one request on its way.
type translation struct {
	opt  Options
	body object
	out  []byte // the chat request so far
	echo Echo

	tools  []byte // chat tools, as an array; nil for none
	choice []byte // tool_choice as a chat request has it, nil for the default
}

// Request turns the body of a Responses request, which jsonscan.Strict
// accepted with these members and request.ParseResponses read as req, into the
// chat request for a provider. The echo is what an answer repeats of it. The
// error is a [*apierror.Error] with status 400 that names the field which a chat
// request cannot carry, or which is not as it must be. Neither result refers
// to body.
func Request(body []byte, members []jsonscan.Member, req request.Request, opt Options) (chat []byte, echo *Echo, err error) {
	t := translation{opt: opt, body: object{data: body, members: members}}
	if err := t.judge(); err != nil {
		return nil, nil, err
	}
	if err := t.readTools(); err != nil {
		return nil, nil, err
	}
	t.out = make([]byte, 0, len(body)+len(body)/8+512)
	t.out = append(t.out, `{"model":`...)
	t.out = jsonscan.AppendString(t.out, opt.UpstreamModel)
	if err := t.messages(); err != nil {
		return nil, nil, err
	}
	for _, m := range members {
		if key := string(m.Key(body)); fields[key] == kept && m.Kind != 'n' {
			t.put(key, m.Value(body))
		}
	}
	for _, step := range []func() error{t.limit, t.reasoning, t.textFormat, t.logprobs} {
		if err := step(); err != nil {
			return nil, nil, err
		}
	}
	if err := t.putTools(); err != nil {
		return nil, nil, err
	}
	if req.Stream {
		t.out = append(t.out, `,"stream":true,"stream_options":{"include_usage":true}`...)
	}
	t.out = append(t.out, '}')
	t.echo.build(t.body)
	return t.out, &t.echo, nil
}

// put appends a member.
func (t *translation) put(key string, value []byte) {
	t.out = append(t.out, ',', '"')
	t.out = append(t.out, key...)
	t.out = append(t.out, '"', ':')
	t.out = append(t.out, value...)
}

// judge refuses what has no counterpart.
func (t *translation) judge() error {
	for _, m := range t.body.members {
		if m.Kind == 'n' {
			continue
		}
		key := string(m.Key(t.body.data))
		if f, known := fields[key]; f == refused || !known {
			return unsupported(key)
		}
	}
	// Nothing is stored either way; true is what OpenAI's clients expect of
	// the default.
	if _, err := t.body.flag("store"); err != nil {
		return err
	}
	switch background, err := t.body.flag("background"); {
	case err != nil:
		return err
	case background:
		return unsupportedValue("background", "true")
	}
	switch truncation, err := t.body.word("truncation"); {
	case err != nil:
		return err
	case truncation != "" && truncation != "disabled":
		return unsupportedValue("truncation", truncation)
	}
	if value := t.body.get("stream_options"); value != nil {
		options, err := open(value, "stream_options")
		if err != nil {
			return err
		}
		// Padding is between a client and the server it talks to.
		return options.only("include_obfuscation", "include_usage")
	}
	return nil
}

// limit maps max_output_tokens.
func (t *translation) limit() error {
	value := t.body.get("max_output_tokens")
	if value == nil {
		return nil
	}
	if n, ok := jsonscan.Int(value); !ok || n < 1 {
		return wrong("max_output_tokens", "a positive integer")
	}
	field := t.opt.MaxTokensField
	if field == "" {
		field = "max_completion_tokens"
	}
	t.put(field, value)
	return nil
}

// reasoning maps the effort. A summary needs no asking for: reasoning that the
// provider shows is shown as one.
func (t *translation) reasoning() error {
	value := t.body.get("reasoning")
	if value == nil {
		return nil
	}
	o, err := open(value, "reasoning")
	if err != nil {
		return err
	}
	if err := o.only("effort", "summary", "generate_summary"); err != nil {
		return err
	}
	effort, err := o.text("effort")
	if err == nil && effort != nil {
		t.put("reasoning_effort", effort)
	}
	return err
}

// logprobs maps include and top_logprobs. What else a request may ask to be
// included comes from hosted tools and stored reasoning, of which there is
// none.
func (t *translation) logprobs() error {
	if value := t.body.get("include"); value != nil {
		spans, err := elements(value, "include", jsonscan.MaxMembers)
		if err != nil {
			return err
		}
		for i, span := range spans {
			if span.Kind != '"' {
				return wrong(at("include", i), "a string")
			}
			if bytes.Equal(span.Value(value), []byte(`"message.output_text.logprobs"`)) {
				t.echo.logprobs = true
			}
		}
	}
	top := t.body.get("top_logprobs")
	if top != nil {
		n, ok := jsonscan.Int(top)
		if !ok || n < 0 {
			return wrong("top_logprobs", "an integer of at least 0")
		}
		if n > 0 {
			t.echo.logprobs = true
			t.put("top_logprobs", top)
		}
	}
	if t.echo.logprobs {
		t.put("logprobs", []byte("true"))
	}
	return nil
}
