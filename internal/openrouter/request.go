package openrouter

import (
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
)

// rule is what becomes of a request field that only OpenRouter knows.
type rule int

const (
	// onlyOpenRouter fields reach OpenRouter and are dropped for any other
	// provider, which would refuse a field it does not know.
	onlyOpenRouter rule = iota + 1
	// consumed fields end here, whoever the provider is.
	consumed
	// refused fields change the answer, and cannot be honoured.
	refused
)

// fields is the table of OpenRouter's own request fields (OpenRouter's
// OpenAPI, ChatRequest, and what clients of older versions send). Sampling
// fields that many other servers know too (top_k, min_p, repetition_penalty)
// are not in it: they reach every provider, and one that does not know them
// says so itself. A chat request's reasoning is dropped as well for the others,
// and its effort becomes reasoning_effort, which they know.
var fields = map[string]rule{
	// Fallback models: the key's list and the price were judged for `model`.
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

// UpstreamFields prepares a chat request's OpenRouter-only fields for its
// provider by the table of fields. It is to be called beside
// [openai.UpstreamChat], on the same patch. The error is a [*apierror.Error].
func UpstreamFields(p *jsonscan.Patch, body []byte, members []jsonscan.Member, req openai.ChatRequest, openRouter bool) error {
	// The SDKs of this family send it without a stream too; OpenAI refuses that.
	if i, ok := jsonscan.Find(body, members, "stream_options"); ok && !req.Stream {
		p.Drop(i)
	}
	if i, ok := jsonscan.Find(body, members, "reasoning"); ok && !openRouter {
		p.Drop(i)
		addEffort(p, body, members, members[i].Value(body))
	}
	return UpstreamResponsesFields(p, body, members, openRouter)
}

// UpstreamResponsesFields is [UpstreamFields] for a Responses request, in which
// reasoning is everybody's.
func UpstreamResponsesFields(p *jsonscan.Patch, body []byte, members []jsonscan.Member, openRouter bool) error {
	for i, m := range members {
		key := string(m.Key(body))
		switch fields[key] {
		case refused:
			if m.Kind != 'n' {
				return apierror.New(apierror.UnsupportedParameter, "%q is not supported by this gateway", key).WithParam(key)
			}
			p.Drop(i)
		case consumed:
			p.Drop(i)
		case onlyOpenRouter:
			if !openRouter {
				p.Drop(i)
			}
		}
	}
	return nil
}

func addEffort(p *jsonscan.Patch, body []byte, members []jsonscan.Member, reasoning []byte) {
	if _, ok := jsonscan.Find(body, members, "reasoning_effort"); ok {
		return
	}
	inner := jsonscan.Members(reasoning, nil)
	if i, ok := jsonscan.Find(reasoning, inner, "effort"); ok && inner[i].Kind == '"' {
		p.Add("reasoning_effort", inner[i].Value(reasoning))
	}
}
