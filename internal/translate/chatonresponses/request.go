// Package chatonresponses serves a caller of chat completions by a provider that only has the Responses
// API. The families of endpoints answer chat calls in different forms. The translation makes the
// chat completion that a provider would send, and the family's own result or stream makes its
// answer from that.
//
//	responses, original, err := chatonresponses.Request(body, stream, options) // for the provider
//	chat, sum, err := chatonresponses.Result(answer, original, call)           // for the family
//	chunks := chatonresponses.NewStream(original, call, family)                // the same, streamed
package chatonresponses

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
	leftOut       []string
	stops         []string
}

// LeftOut returns the names of the fields that the request is sent without.
func (o *Original) LeftOut() []string { return o.leftOut }

// translation is one request on its way.
type translation struct {
	body     translate.Object
	out      []byte // the Responses request so far
	original Original
}

// Request translates a chat completion request that request.ParseChat accepted. The result is the
// Responses request for the provider, streamed if the caller asked for it. It reads b as it was
// parsed, without the edits that b has collected. The error is a [*apierror.Error] with status 400
// that names the field which a Responses request cannot carry, or whose value is invalid. Neither
// result refers to b.
func Request(b *jsonscan.Body, stream bool, opt Options) (responses []byte, original *Original, err error) {
	var t translation
	if t.body, t.original.functions, err = translate.AsTools(translate.Body(b)); err != nil {
		return nil, nil, err
	}
	if err := t.write(b, stream, opt); err != nil {
		return nil, nil, t.original.functions.Refusal(err)
	}
	return t.out, &t.original, nil
}

func (t *translation) write(b *jsonscan.Body, stream bool, opt Options) (err error) {
	if t.original.leftOut, err = fields.Check(t.body, translate.ChatNeutral.Has); err != nil {
		return err
	}
	t.out = make([]byte, 0, len(b.Data())+len(b.Data())/8+512)
	t.out = append(t.out, `{"model":`...)
	t.out = jsonscan.AppendString(t.out, opt.UpstreamModel)
	if t.out, err = appendMessages(t.out, t.body, &t.original.leftOut); err != nil {
		return err
	}
	t.out = fields.AppendKept(t.out, t.body)
	if err := t.limit(opt.MaxOutput); err != nil {
		return err
	}
	if err := t.reasoning(); err != nil {
		return err
	}
	if t.out, err = appendText(t.out, t.body); err != nil {
		return err
	}
	if err := t.logprobs(); err != nil {
		return err
	}
	if err := t.stop(); err != nil {
		return err
	}
	if t.out, err = appendTools(t.out, t.body); err != nil {
		return err
	}
	if err := t.store(); err != nil {
		return err
	}
	if stream {
		t.out = append(t.out, `,"stream":true`...)
	}
	t.out = append(t.out, '}')
	return nil
}

// limit maps max_completion_tokens and its older name max_tokens, unless maxOutput replaces both.
func (t *translation) limit(maxOutput int64) error {
	if maxOutput > 0 {
		t.out = translate.AppendIntMember(t.out, "max_output_tokens", maxOutput)
		return nil
	}
	value, _, err := translate.OutputLimit(t.body)
	if value != nil {
		t.out = translate.AppendMember(t.out, "max_output_tokens", value)
	}
	return err
}

// reasoning maps reasoning_effort, include_reasoning and OpenRouter's object reasoning. Its effort
// and summary have the same names in Responses; that reasoning is not shown is up to the answer.
func (t *translation) reasoning() error {
	effort, err := t.body.Text("reasoning_effort")
	if err != nil {
		return err
	}
	o, ok, err := t.body.Object("reasoning")
	if err != nil {
		return err
	}
	var summary []byte
	if ok {
		if err := o.Only("effort", "enabled", "exclude", "summary"); err != nil {
			return err
		}
		if t.original.hideReasoning, err = o.Bool("exclude"); err != nil {
			return err
		}
		if summary, err = o.Text("summary"); err != nil {
			return err
		}
		if effort == nil {
			if effort, err = effortOf(o); err != nil {
				return err
			}
		}
	}
	include, err := t.body.Bool("include_reasoning")
	if err != nil {
		return err
	}
	if t.body.Get("include_reasoning") != nil && !include {
		t.original.hideReasoning = true
	}
	t.out = appendObject(t.out, "reasoning", "effort", effort, "summary", summary)
	return nil
}

// effortOf returns the effort of a reasoning object: its own, or the one that stands for enabled.
func effortOf(o translate.Object) ([]byte, error) {
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

// logprobs maps logprobs and top_logprobs.
func (t *translation) logprobs() (err error) {
	if t.original.logprobs, err = t.body.Bool("logprobs"); err != nil {
		return err
	}
	if t.original.logprobs {
		t.out = append(t.out, `,"include":["message.output_text.logprobs"]`...)
	}
	top, n, err := t.body.Int("top_logprobs", 0)
	switch {
	case err != nil:
		return err
	case n == 0:
	case !t.original.logprobs:
		return apierror.New(apierror.InvalidValue, `"top_logprobs" needs "logprobs": true`).WithParam("top_logprobs")
	default:
		t.out = translate.AppendMember(t.out, "top_logprobs", top)
	}
	return nil
}

// store is sent in any case: the default of chat completions is false, and that of Responses true.
func (t *translation) store() (err error) {
	t.original.stored, err = t.body.Bool("store")
	t.out = strconv.AppendBool(translate.AppendKey(t.out, "store"), t.original.stored)
	return err
}

// appendObject appends a member that is an object of two members; what is nil is left out.
func appendObject(dst []byte, key, key1 string, value1 []byte, key2 string, value2 []byte) []byte {
	if value1 == nil && value2 == nil {
		return dst
	}
	dst = append(translate.AppendKey(dst, key), '{')
	if value1 != nil {
		dst = translate.AppendMember(dst, key1, value1)
	}
	if value2 != nil {
		dst = translate.AppendMember(dst, key2, value2)
	}
	return append(dst, '}')
}
