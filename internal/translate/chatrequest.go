package translate

import (
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai/request"
)

// Asked is what the answer to a translated chat request depends on of it. It is
// made by [ChatRequest] and not changed afterwards.
type Asked struct {
	stored   bool // the provider keeps the response
	logprobs bool
	mute     bool // reasoning is not to be shown
}

// chatTranslation is one chat request on its way.
type chatTranslation struct {
	body  object
	out   []byte // the Responses request so far
	asked Asked
}

// ChatRequest turns the body of a chat completion request, which
// jsonscan.Strict accepted with these members and request.ParseChat read as req,
// into the Responses request for a provider that calls the model upstreamModel.
// The error is a [*apierror.Error] with status 400 that names the field which a
// Responses request cannot carry, or which is not as it must be. Neither result
// refers to body.
func ChatRequest(body []byte, members []jsonscan.Member, req request.Request, upstreamModel string) (responses []byte, asked *Asked, err error) {
	t := chatTranslation{body: object{data: body, members: members}}
	if err := t.judge(); err != nil {
		return nil, nil, err
	}
	t.out = make([]byte, 0, len(body)+len(body)/8+512)
	t.out = append(t.out, `{"model":`...)
	t.out = jsonscan.AppendString(t.out, upstreamModel)
	if err := t.messages(); err != nil {
		return nil, nil, err
	}
	for _, m := range members {
		if key := string(m.Key(body)); chatFields[key] == kept && m.Kind != 'n' {
			t.put(key, m.Value(body))
		}
	}
	for _, step := range []func() error{t.limit, t.reasoning, t.text, t.tokens, t.tools, t.store} {
		if err := step(); err != nil {
			return nil, nil, err
		}
	}
	if req.Stream {
		t.put("stream", []byte("true"))
	}
	return append(t.out, '}'), &t.asked, nil
}

// put appends a member.
func (t *chatTranslation) put(key string, value []byte) {
	t.out = append(t.out, ',')
	t.out = appendMember(t.out, key, value)
}

func appendMember(dst []byte, key string, value []byte) []byte {
	dst = append(dst, '"')
	dst = append(dst, key...)
	dst = append(dst, '"', ':')
	return append(dst, value...)
}

// judge refuses what has no counterpart.
func (t *chatTranslation) judge() error {
	for _, m := range t.body.members {
		if m.Kind == 'n' {
			continue
		}
		key := string(m.Key(t.body.data))
		f, known := chatFields[key]
		if !known || f == refused && !isNeutral(key, m.Value(t.body.data)) {
			return unsupported(key)
		}
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

// store says that nothing is to be kept unless the caller wants it: the
// defaults of the two APIs differ.
func (t *chatTranslation) store() (err error) {
	t.asked.stored, err = t.body.flag("store")
	if t.asked.stored {
		t.put("store", []byte("true"))
	} else {
		t.put("store", []byte("false"))
	}
	return err
}

// limit maps max_completion_tokens, and max_tokens, which is its older name.
func (t *chatTranslation) limit() error {
	limit, name := int64(0), ""
	for _, key := range []string{"max_completion_tokens", "max_tokens"} {
		value := t.body.get(key)
		if value == nil {
			continue
		}
		n, ok := jsonscan.Int(value)
		if !ok || n < 1 {
			return wrong(key, "a positive integer")
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
func (t *chatTranslation) tokens() (err error) {
	if t.asked.logprobs, err = t.body.flag("logprobs"); err != nil {
		return err
	}
	if t.asked.logprobs {
		t.put("include", []byte(`["message.output_text.logprobs"]`))
	}
	top := t.body.get("top_logprobs")
	if top == nil {
		return nil
	}
	switch n, ok := jsonscan.Int(top); {
	case !ok || n < 0:
		return wrong("top_logprobs", "an integer of at least 0")
	case n == 0:
	case !t.asked.logprobs:
		return apierror.New(apierror.InvalidValue, `"top_logprobs" needs "logprobs": true`).WithParam("top_logprobs")
	default:
		t.put("top_logprobs", top)
	}
	return nil
}

// reasoning maps reasoning_effort and OpenRouter's object of that name, whose
// effort and summary are called so in Responses too. By it a caller can ask
// that reasoning is not shown, which is heeded here.
func (t *chatTranslation) reasoning() error {
	effort, err := t.body.text("reasoning_effort")
	if err != nil {
		return err
	}
	var summary []byte
	if value := t.body.get("reasoning"); value != nil {
		o, err := open(value, "reasoning")
		if err != nil {
			return err
		}
		if err := o.only("effort", "enabled", "exclude", "summary"); err != nil {
			return err
		}
		if t.asked.mute, err = o.flag("exclude"); err != nil {
			return err
		}
		if summary, err = o.text("summary"); err != nil {
			return err
		}
		if effort, err = chosenEffort(effort, o); err != nil {
			return err
		}
	}
	if value := t.body.get("include_reasoning"); value != nil {
		shown, err := t.body.flag("include_reasoning")
		if err != nil {
			return err
		}
		t.asked.mute = t.asked.mute || !shown
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
func chosenEffort(effort []byte, o object) ([]byte, error) {
	if effort != nil {
		return effort, nil
	}
	effort, err := o.text("effort")
	if err != nil || effort != nil || o.get("enabled") == nil {
		return effort, err
	}
	enabled, err := o.flag("enabled")
	if enabled {
		return []byte(`"medium"`), err
	}
	return []byte(`"none"`), err
}

// appendObject appends an object of two members; nil is left out.
func appendObject(dst []byte, key1 string, value1 []byte, key2 string, value2 []byte) []byte {
	dst = append(dst, '{')
	if value1 != nil {
		dst = appendMember(dst, key1, value1)
	}
	if value1 != nil && value2 != nil {
		dst = append(dst, ',')
	}
	if value2 != nil {
		dst = appendMember(dst, key2, value2)
	}
	return append(dst, '}')
}
