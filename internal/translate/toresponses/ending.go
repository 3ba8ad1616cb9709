package toresponses

import (
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// ending is the end of an answer that the provider completed or cut off.
type ending struct {
	finish   string
	tier     []byte // service_tier, nil for none
	usage    openai.Usage
	hasUsage bool // the provider reported usage
}

func (e *ending) setUsage(sum openai.Summary) { e.usage, e.hasUsage = sum.Usage, sum.HasUsage }

// append appends the members of a chat completion that come with its end.
func (e *ending) append(dst []byte) []byte {
	if e.tier != nil {
		dst = translate.AppendMember(dst, "service_tier", e.tier)
	}
	if e.hasUsage {
		dst = appendUsage(translate.AppendKey(dst, "usage"), e.usage)
	}
	return dst
}

// appendUsage appends the usage of a chat completion; SDKs expect both details with their number.
// The tokens written to a cache and the cost are added only if the provider reports them.
func appendUsage(dst []byte, u openai.Usage) []byte {
	dst = translate.AppendIntMember(append(dst, '{'), "prompt_tokens", u.Prompt)
	dst = translate.AppendIntMember(dst, "completion_tokens", u.Completion)
	dst = translate.AppendIntMember(dst, "total_tokens", u.Total)
	dst = append(dst, `,"prompt_tokens_details":{`...)
	dst = translate.AppendIntMember(dst, "cached_tokens", u.Cached)
	if u.CacheWrite > 0 {
		dst = translate.AppendIntMember(dst, "cache_write_tokens", u.CacheWrite)
	}
	dst = append(dst, `},"completion_tokens_details":{`...)
	dst = append(translate.AppendIntMember(dst, "reasoning_tokens", u.Reasoning), '}')
	if u.Cost != "" {
		dst = translate.AppendMember(dst, "cost", []byte(u.Cost))
	}
	return append(dst, '}')
}

// end takes the response that ends the answer, and the type of the event that brought it, nil for a
// whole one. Its output is the answer if no event announced an item before.
func (r *reader) end(response []byte, members []jsonscan.Member, event []byte) (e ending, bad *apierror.Error) {
	var status, reason, output []byte
	for _, m := range members {
		value := m.Value(response)
		switch string(m.DecodedKey(response)) {
		case "status":
			status = value
		case "incomplete_details":
			inside := jsonscan.Members(value, nil)
			if i, ok := jsonscan.Find(value, inside, "reason"); ok {
				reason = inside[i].Value(value)
			}
		case "output":
			output = value
		case "service_tier":
			if m.Kind == '"' && len(value) <= translate.MaxTier {
				e.tier = value
			}
		}
	}
	if s := string(status); event == nil && (s == `"in_progress"` || s == `"queued"`) {
		return e, translate.ProviderFailure(r.call, "answered with an unfinished response")
	}
	if r.items.empty() {
		for i, span := range jsonscan.Elements(output, nil) {
			if bad := r.itemDone(int64(i), span.Value(output)); bad != nil {
				return e, bad
			}
		}
	}
	r.begin(true)
	for it := range r.items.all() {
		r.flush(it)
	}
	switch incomplete := string(status) == `"incomplete"` || string(event) == "response.incomplete"; {
	case incomplete && string(reason) == `"content_filter"`:
		e.finish = "content_filter"
	case incomplete:
		e.finish = "length"
	case r.calls > 0:
		e.finish = "tool_calls"
	default:
		e.finish = "stop"
	}
	return e, nil
}
