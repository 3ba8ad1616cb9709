package gemini

import (
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
)

// Member is an API whose answer is in one member.
type Member struct {
	Key  string
	Kind byte // of its value, as in [jsonscan.Member]
	What string
}

// The APIs.
var (
	Count      = Member{"totalTokens", '0', "count of tokens"}
	Embedding  = Member{"embedding", '{', "embedding"}
	Embeddings = Member{"embeddings", '[', "list of embeddings"}
)

// Result appends the body of a provider's answer as it came. A body without the member, or with an error,
// is a [*apierror.Error], also in the summary, and dst is returned as it was. All tokens are of the prompt.
func (a *Member) Result(dst, body []byte, call openai.Call) ([]byte, openai.Summary, error) {
	r := newResponse(call)
	members, err := jsonscan.Lenient(body, nil)
	if err != nil {
		return r.fail(dst, call.Broken("answered what is not JSON").WithCause(err))
	}
	if failed := r.fault(body, members); failed != nil {
		return r.fail(dst, failed)
	}
	if i, ok := jsonscan.Find(body, members, a.Key); !ok || members[i].Kind != a.Kind {
		return r.fail(dst, call.Broken("answered with what is no "+a.What))
	}
	if u, ok := EventUsage(body); ok {
		u.Completion, u.Reasoning, u.Total = 0, 0, u.Prompt
		r.sum.Usage, r.sum.HasUsage = u, true
	}
	return append(dst, body...), r.sum, nil
}
