package anthropic

import (
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
)

// Result appends the body of a provider's whole message as the client must get it: the model as
// asked, all else as it came. A body that is no message, or is an error, is a [*apierror.Error], also
// in the summary, and dst is returned as it was.
func Result(dst, body []byte, call openai.Call) ([]byte, openai.Summary, error) {
	m := newMessage(call)
	fail := func(e *apierror.Error) ([]byte, openai.Summary, error) {
		m.sum.Err = e
		return dst, m.sum, e
	}
	members, err := jsonscan.Lenient(body, nil)
	if err != nil {
		return fail(call.Broken("answered what is not JSON").WithCause(err))
	}
	content, ok := jsonscan.Find(body, members, "content")
	if !ok || members[content].Kind != '[' {
		if _, failed := jsonscan.Find(body, members, "error"); failed {
			return fail(m.fault(body))
		}
		return fail(call.Broken("answered with what is no message"))
	}
	p := jsonscan.NewPatch(body, members)
	m.edit(p, body, members)
	return p.Append(dst), m.sum, nil
}
