package openrouter

import (
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai/params"
)

// rule says how a request field is handled that only OpenRouter knows.
type rule int

const (
	// onlyOpenRouter fields are sent to OpenRouter. For any other provider, which would refuse a
	// field that it does not know, they are dropped.
	onlyOpenRouter rule = iota + 1
	// consumed fields are sent to no provider.
	consumed
	// refused fields change the answer, and cannot be honoured.
	refused
)

// fields is the table of OpenRouter's own request fields (OpenRouter's OpenAPI, ChatRequest, and
// the fields of older clients). Sampling fields that many other servers know too (top_k, min_p,
// repetition_penalty) are not in it: they are sent to every provider, and one that does not know
// them refuses them itself. A chat request's reasoning is also sent to OpenRouter alone; for the
// others its effort becomes reasoning_effort, which they know.
var fields = map[string]rule{
	// The gateway asks the models itself (ParseRouting).
	"models": consumed,
	"route":  consumed,

	// A preset of the provider's account can replace prompt and model.
	"preset": refused,

	"provider":               onlyOpenRouter, // routing preferences among its upstreams
	"plugins":                onlyOpenRouter,
	"transforms":             onlyOpenRouter,
	"top_a":                  onlyOpenRouter,
	"session_id":             onlyOpenRouter,
	"trace":                  onlyOpenRouter,
	"usage":                  onlyOpenRouter, // usage is always reported
	"cache_control":          onlyOpenRouter,
	"image_config":           onlyOpenRouter,
	"debug":                  onlyOpenRouter,
	"include_reasoning":      onlyOpenRouter,
	"stop_server_tools_when": onlyOpenRouter,
}

// EncodeChatFields prepares a chat request's OpenRouter fields for its provider, by the table of
// fields. Call it beside [params.EncodeChat]. The error is a [*apierror.Error].
func EncodeChatFields(b *jsonscan.Body, req params.Request, openRouter bool) error {
	// The SDKs of this family send it without a stream too; OpenAI refuses that.
	if i, ok := b.Find("stream_options"); ok && !req.Stream {
		b.Drop(i)
	}
	if i, ok := b.Find("reasoning"); ok && !openRouter {
		b.Drop(i)
		addEffort(b, b.Value(i))
	}
	return EncodeResponsesFields(b, openRouter)
}

// EncodeResponsesFields is [EncodeChatFields] for a Responses request, in which every provider
// knows reasoning.
func EncodeResponsesFields(b *jsonscan.Body, openRouter bool) error {
	for i, m := range b.Members() {
		switch fields[string(m.Key(b.Data()))] { // without allocating the key
		case refused:
			if m.Kind != 'n' {
				key := string(m.Key(b.Data()))
				return apierror.New(apierror.UnsupportedParameter, "%q is not supported by this gateway", key).WithParam(key)
			}
			b.Drop(i)
		case consumed:
			b.Drop(i)
		case onlyOpenRouter:
			if !openRouter {
				b.Drop(i)
			}
		}
	}
	return nil
}

func addEffort(b *jsonscan.Body, reasoning []byte) {
	if _, ok := b.Find("reasoning_effort"); ok {
		return
	}
	inner := jsonscan.Members(reasoning, nil)
	if i, ok := jsonscan.Find(reasoning, inner, "effort"); ok && inner[i].Kind == '"' {
		b.Add("reasoning_effort", inner[i].Value(reasoning))
	}
}
