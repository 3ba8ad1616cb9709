// Package chatonmessages serves a caller of chat completions by a provider that only has Anthropic's
// Messages API. The translation makes the chat completion that a provider would send, and the
// family's own result or stream makes its answer from that.
//
//	messages, original, err := chatonmessages.Request(body, stream, options) // for the provider
//	chat, sum, err := chatonmessages.Result(answer, original, call)          // for the family
//	chunks := chatonmessages.NewStream(original, call, family)               // the same, streamed
//
// The same request always becomes the same bytes, and a longer conversation begins with those of
// the shorter one: caches of prompts depend on it.
package chatonmessages

import (
	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// Version is the version of the Messages API that the requests are written for. It is the one in
// which models may have sampling parameters.
const Version = "2023-06-01"

// Options is what a translation depends on besides the request.
type Options struct {
	// UpstreamModel is the model as the provider calls it.
	UpstreamModel string

	// Origin names the provider and its model. Thoughts return only to where they are from.
	Origin string

	// Rules are what the model takes. MaxOutput of them is the limit of a request without one.
	Rules catalog.Capabilities

	// MaxOutput is the limit of the output in tokens that the provider gets, instead of the
	// request's max_completion_tokens and max_tokens. 0 leaves the request's own, if it has one.
	MaxOutput int64
}

// defaultOutput is the limit of the output, in tokens, where nobody states one: the API requires
// it.
const defaultOutput = 16_384

// Original is what the answer needs of the caller's request. [Request] makes it; it does not change
// afterwards.
type Original struct {
	origin        string            // of its reasoning, as tag returns it
	names         map[string][]byte // the caller's names of tools, quoted, by those that the provider got
	hideReasoning bool
	cites         bool // the provider may cite sources
	functions     translate.Functions
	leftOut       []string
}

// LeftOut returns the names of the fields that the request is sent without.
func (o *Original) LeftOut() []string { return o.leftOut }

// translation is one request on its way.
type translation struct {
	opt          Options
	body         translate.Reader
	out          []byte // the Messages request so far
	conversation conversation
	tools        tools
	thinking     thinking
	limit        int64  // of the output
	schema       []byte // of the answer, nil for none
	original     *Original
}

// Request translates a chat completion request that request.ParseChat accepted. The result is the
// Messages request for the provider, streamed if the caller asked for it. It reads b as it was
// parsed, without the edits that b has collected. The error is a [*apierror.Error] with status 400
// that names the field which a Messages request cannot carry, or which this model does not take, or
// whose value is invalid. Neither result refers to b.
func Request(b *jsonscan.Body, stream bool, opt Options) (messages []byte, original *Original, err error) {
	t := translation{opt: opt, original: &Original{}}
	t.body, t.original.functions = translate.AsTools(translate.Read(b, &err))
	if t.write(b, stream); err != nil {
		return nil, nil, t.original.functions.Refusal(err)
	}
	return t.out, t.original, nil
}

func (t *translation) write(b *jsonscan.Body, stream bool) {
	t.out = make([]byte, 0, len(b.Data())+len(b.Data())/8+512)
	t.conversation.leftOut = fields.Check(t.body, translate.ChatNeutral.Has)
	t.out = append(t.out, `{"model":`...)
	t.out = jsonscan.AppendString(t.out, t.opt.UpstreamModel)
	t.original.origin = tag(t.opt.Origin)
	t.conversation.origin = t.original.origin
	t.readFormat()
	t.putLimit()
	t.putMessages()
	t.readThinking()
	t.putThinking()
	t.putSampling()
	t.putStop()
	t.putUser()
	t.putTier()
	t.out = t.tools.append(t.out)
	t.original.cites = t.tools.cites
	t.out = fields.AppendKept(t.out, t.body)
	if stream {
		t.out = append(t.out, `,"stream":true`...)
	}
	t.original.names = t.conversation.names.changed
	t.original.leftOut = t.conversation.leftOut
	t.out = append(t.out, '}')
}

func (t *translation) put(key string, value []byte) {
	t.out = translate.AppendMember(t.out, key, value)
}

// putMessages maps messages. It reads the tools before: both have their names.
func (t *translation) putMessages() {
	t.tools.read(t.body, &t.conversation.names, t.opt.Rules.ForcedTools)
	t.out = t.conversation.append(t.out, t.body, t.opt.Rules.Prefill)
}

// putLimit maps max_completion_tokens and its older name max_tokens, unless the options replace
// both. The API requires a limit: that of the model is as good as none.
func (t *translation) putLimit() {
	_, n := translate.OutputLimit(t.body)
	switch {
	case t.opt.MaxOutput > 0:
		n = t.opt.MaxOutput
	case n > 0:
	case t.opt.Rules.MaxOutput > 0:
		n = t.opt.Rules.MaxOutput
	default:
		n = defaultOutput
	}
	t.limit = n
	t.out = translate.AppendIntMember(t.out, "max_tokens", n)
}

// putStop maps stop: a text, or several.
func (t *translation) putStop() {
	const want = "a text that is not blank"
	value := t.body.Get("stop")
	if value != nil && value[0] == '"' {
		if isBlank(value) {
			t.body.Fail(translate.Invalid("stop", want))
		}
		t.out = append(append(append(t.out, `,"stop_sequences":[`...), value...), ']')
	} else if value != nil {
		spans, err := translate.Elements(value, "stop", maxStops)
		t.body.Fail(err)
		for i, span := range spans {
			if span.Kind != '"' || isBlank(span.Value(value)) {
				t.body.Fail(translate.Invalid(translate.At("stop", i), want))
			}
		}
		if len(spans) > 0 {
			t.put("stop_sequences", value)
		}
	}
}

// maxStops bounds the stop sequences, far above what providers take.
const maxStops = 256

// putUser maps safety_identifier, or user, whose successor it is.
func (t *translation) putUser() {
	id, newer := t.body.Text("user"), t.body.Text("safety_identifier")
	if newer != nil {
		id = newer
	}
	if id != nil {
		t.out = append(t.out, `,"metadata":{`...)
		t.out = append(translate.AppendMember(t.out, "user_id", id), '}')
	}
}

// putTier maps service_tier. Other tiers of OpenAI have no counterpart.
func (t *translation) putTier() {
	switch tier := t.body.DecodedText("service_tier"); tier {
	case "":
	case "auto":
		t.put("service_tier", []byte(`"auto"`))
	case "default":
		t.put("service_tier", []byte(`"standard_only"`))
	default:
		t.body.Fail(translate.UnsupportedValue("service_tier", tier))
	}
}

// CountRequest returns the request of count_tokens for one of the Messages API, whose other fields it
// refuses.
func CountRequest(body []byte) []byte {
	return append(translate.AppendPicked([]byte{'{'}, body, "model", "system", "messages", "tools", "tool_choice", "thinking", "output_config"), '}')
}
