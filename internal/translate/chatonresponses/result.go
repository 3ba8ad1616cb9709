package chatonresponses

import (
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// Result translates a provider's whole response to a chat completion, from which the family makes
// its result. A body that is not a response, is unfinished, failed, or has content that a chat
// completion cannot have, is a [*apierror.Error], also in the summary.
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
	w := &messageWriter{functions: original.functions}
	until := original.until(w)
	r := reader{call: &call, original: original, to: until}
	members := jsonscan.Members(repaired, nil)
	end, bad := r.end(repaired, members, nil)
	if bad != nil {
		return fail(bad)
	}
	until.end(&end)
	end.setUsage(sum)
	sum.Finish, sum.StopSequence = end.finish, end.stop

	out := append(make([]byte, 0, len(repaired)+256), '{')
	for _, m := range [...]struct{ key, as string }{{"id", "id"}, {"created_at", "created"}} {
		if i, ok := jsonscan.Find(repaired, members, m.key); ok {
			out = translate.AppendMember(out, m.as, members[i].Value(repaired))
		}
	}
	out = append(translate.AppendComma(out), `"object":"chat.completion","choices":[`...)
	out = append(w.appendChoice(out, end.finish), ']')
	return append(end.append(out), '}'), sum, nil
}

// call is the call for what reads the provider's answer. The ids of a response that is not stored
// are of no use to anybody, so no owner is recorded for them.
func (o *Original) call(call openai.Call) openai.Call {
	if !o.stored {
		call.OnID = nil
	}
	return call
}
