// Package toresponses serves a caller of chat completions by a provider that only has the Responses
// API. Chat answers differ between the families of endpoints: the translation makes the chat
// completion that a provider would send, and the family's own result or stream makes the answer of
// it.
//
//	responses, original, err := toresponses.Request(body, stream, options) // what the provider gets
//	chat, sum, err := toresponses.Result(answer, original, call)           // for the family's result
//	chunks := toresponses.NewStream(original, call, family)                // around the family's stream
package toresponses

import (
	"strconv"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// Options is what a translation depends on besides the request.
type Options struct {
	// UpstreamModel is the model as the provider calls it.
	UpstreamModel string

	// MaxOutput is the limit of the output in tokens that the provider is told, instead of the
	// request's max_completion_tokens and max_tokens. 0 tells it the request's own, if there is one.
	MaxOutput int64
}

// Original is what the answer needs of the caller's request. [Request] makes it; it does not change
// afterwards.
type Original struct {
	stored   bool // the provider keeps the response
	logprobs bool
	mute     bool // reasoning is not to be shown
}

// translation is one request on its way.
type translation struct {
	opt      Options
	body     translate.Object
	out      []byte // the Responses request so far
	original Original
}

// Request translates a chat completion request, which openai/request.ParseChat accepted, to the Responses
// request for a provider; stream is what the request says of streaming. It reads b as it was parsed,
// without the edits that b has collected. The error is a [*apierror.Error] with status 400 that names
// the field which a Responses request cannot carry, or whose value is invalid. Neither result refers
// to b.
func Request(b *jsonscan.Body, stream bool, opt Options) (responses []byte, original *Original, err error) {
	t := translation{opt: opt, body: translate.Body(b)}
	if err := t.judge(); err != nil {
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
	for _, step := range []func() error{t.limit, t.reasoning, t.text, t.tokens, t.tools, t.store} {
		if err := step(); err != nil {
			return nil, nil, err
		}
	}
	if stream {
		t.put("stream", []byte("true"))
	}
	return append(t.out, '}'), &t.original, nil
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
		f, known := fields[key]
		if !known || f == translate.Refused && !isNeutral(key, m.Value(t.body.Data())) {
			return translate.Unsupported(key)
		}
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

// store says that nothing is to be kept unless the caller wants it: the
// defaults of the two APIs differ.
func (t *translation) store() (err error) {
	t.original.stored, err = t.body.Bool("store")
	if t.original.stored {
		t.put("store", []byte("true"))
	} else {
		t.put("store", []byte("false"))
	}
	return err
}

// limit maps max_completion_tokens, and max_tokens, which is its older name, or the limit of the
// options that replaces both.
func (t *translation) limit() error {
	if t.opt.MaxOutput > 0 {
		t.put("max_output_tokens", strconv.AppendInt(nil, t.opt.MaxOutput, 10))
		return nil
	}
	limit, name := int64(0), ""
	for _, key := range []string{"max_completion_tokens", "max_tokens"} {
		value := t.body.Get(key)
		if value == nil {
			continue
		}
		n, ok := jsonscan.Int(value)
		if !ok || n < 1 {
			return translate.Invalid(key, "a positive integer")
		}
		if name != "" && n != limit {
			return apierror.New(apierror.InvalidValue, "%q and %q say different things", name, key).WithParam(key)
		}
		if name == "" {
			limit, name = n, key
			t.put("max_output_tokens", value)
		}
	}
	return nil
}

// tokens maps logprobs and top_logprobs.
func (t *translation) tokens() (err error) {
	if t.original.logprobs, err = t.body.Bool("logprobs"); err != nil {
		return err
	}
	if t.original.logprobs {
		t.put("include", []byte(`["message.output_text.logprobs"]`))
	}
	top := t.body.Get("top_logprobs")
	if top == nil {
		return nil
	}
	switch n, ok := jsonscan.Int(top); {
	case !ok || n < 0:
		return translate.Invalid("top_logprobs", "an integer of at least 0")
	case n == 0:
	case !t.original.logprobs:
		return apierror.New(apierror.InvalidValue, `"top_logprobs" needs "logprobs": true`).WithParam("top_logprobs")
	default:
		t.put("top_logprobs", top)
	}
	return nil
}

// reasoning maps reasoning_effort and OpenRouter's object of that name, whose
// effort and summary are called so in Responses too. By it a caller can ask
// that reasoning is not shown, which is heeded here.
func (t *translation) reasoning() error {
	effort, err := t.body.Text("reasoning_effort")
	if err != nil {
		return err
	}
	var summary []byte
	if value := t.body.Get("reasoning"); value != nil {
		o, err := translate.Open(value, "reasoning")
		if err != nil {
			return err
		}
		if err := o.Only("effort", "enabled", "exclude", "summary"); err != nil {
			return err
		}
		if t.original.mute, err = o.Bool("exclude"); err != nil {
			return err
		}
		if summary, err = o.Text("summary"); err != nil {
			return err
		}
		if effort, err = chosenEffort(effort, o); err != nil {
			return err
		}
	}
	if value := t.body.Get("include_reasoning"); value != nil {
		shown, err := t.body.Bool("include_reasoning")
		if err != nil {
			return err
		}
		t.original.mute = t.original.mute || !shown
	}
	if effort == nil && summary == nil {
		return nil
	}
	t.out = append(t.out, `,"reasoning":`...)
	t.out = appendObject(t.out, "effort", effort, "summary", summary)
	return nil
}

// chosenEffort is reasoning_effort, or what a reasoning object says: an effort,
// or only whether there is to be any.
func chosenEffort(effort []byte, o translate.Object) ([]byte, error) {
	if effort != nil {
		return effort, nil
	}
	effort, err := o.Text("effort")
	if err != nil || effort != nil || o.Get("enabled") == nil {
		return effort, err
	}
	enabled, err := o.Bool("enabled")
	if enabled {
		return []byte(`"medium"`), err
	}
	return []byte(`"none"`), err
}

// appendObject appends an object of two members; nil is left out.
func appendObject(dst []byte, key1 string, value1 []byte, key2 string, value2 []byte) []byte {
	dst = append(dst, '{')
	if value1 != nil {
		dst = translate.AppendMember(dst, key1, value1)
	}
	if value1 != nil && value2 != nil {
		dst = append(dst, ',')
	}
	if value2 != nil {
		dst = translate.AppendMember(dst, key2, value2)
	}
	return append(dst, '}')
}
