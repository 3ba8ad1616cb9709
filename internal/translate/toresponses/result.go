package toresponses

import (
	"strconv"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// Result returns the chat completion that a provider's whole response is,
// for the family's own result to show. A body that is no response, did not
// come to its end, failed, or holds what no chat completion can show, is a
// [*apierror.Error], also in the summary.
func Result(response []byte, original *Original, call openai.Call) ([]byte, openai.Summary, error) {
	call = original.call(call)
	repaired, sum, err := openai.ResponsesResult(nil, response, call)
	if err != nil {
		return nil, sum, err
	}
	fail := func(e *apierror.Error) ([]byte, openai.Summary, error) {
		sum.Err, sum.Finish = e, "error"
		return nil, sum, e
	}
	if sum.Err != nil {
		return fail(sum.Err)
	}
	g := new(gathered)
	r := responseReader{call: &call, original: original, to: g}
	members := jsonscan.Members(repaired, nil)
	end, bad := r.end(repaired, members, nil)
	if bad != nil {
		return fail(bad)
	}
	end.usage(sum)
	sum.Finish = end.finish

	out := make([]byte, 0, len(repaired)+256)
	out = append(out, '{')
	for _, m := range [...]struct{ key, as string }{{"id", "id"}, {"created_at", "created"}} {
		if i, ok := jsonscan.Find(repaired, members, m.key); ok {
			out = translate.AppendMember(out, m.as, members[i].Value(repaired))
			out = append(out, ',')
		}
	}
	out = append(out, `"object":"chat.completion","choices":[`...)
	out = g.append(out, end.finish)
	out = append(out, ']')
	out = end.appendRest(out)
	return append(out, '}'), sum, nil
}

// call is the call for what reads the provider's answer. Ids of a response that
// nobody keeps are of no use to anybody, and no owner is noted for them.
func (a *Original) call(call openai.Call) openai.Call {
	if !a.stored {
		call.OnID = nil
	}
	return call
}

// chatEnd is the end of an answer that is whole, or ended before its model was
// done.
type chatEnd struct {
	finish string
	tier   []byte // service_tier, nil for none
	used   openai.Usage
	counts bool // the provider reported usage
}

func (e *chatEnd) usage(sum openai.Summary) { e.used, e.counts = sum.Usage, sum.HasUsage }

// appendRest appends the members that come with the end.
func (e *chatEnd) appendRest(dst []byte) []byte {
	if e.tier != nil {
		dst = append(dst, `,"service_tier":`...)
		dst = append(dst, e.tier...)
	}
	if e.counts {
		dst = append(dst, `,"usage":`...)
		dst = appendChatUsage(dst, e.used)
	}
	return dst
}

// appendChatUsage appends a chat completion's usage; SDKs look for the number
// in both details. What was written to a cache, and a cost, are shown where a
// provider tells them.
func appendChatUsage(dst []byte, u openai.Usage) []byte {
	number := func(key string, n int64) {
		dst = append(dst, key...)
		dst = strconv.AppendInt(dst, n, 10)
	}
	number(`{"prompt_tokens":`, u.Prompt)
	number(`,"completion_tokens":`, u.Completion)
	number(`,"total_tokens":`, u.Total)
	number(`,"prompt_tokens_details":{"cached_tokens":`, u.Cached)
	if u.CacheWrite > 0 {
		number(`,"cache_write_tokens":`, u.CacheWrite)
	}
	number(`},"completion_tokens_details":{"reasoning_tokens":`, u.Reasoning)
	dst = append(dst, '}')
	if u.Cost != "" {
		dst = append(dst, `,"cost":`...)
		dst = append(dst, u.Cost...)
	}
	return append(dst, '}')
}
