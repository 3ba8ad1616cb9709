package chatonresponses

import (
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/completion"
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
	w := completion.NewMessage(original.functions)
	until := original.until(w)
	r := reader{call: &call, original: original, to: until}
	members := jsonscan.Members(repaired, nil)
	end, bad := r.end(openai.WalkedObject(repaired, members), nil)
	if bad != nil {
		return fail(bad)
	}
	until.end(&end)
	end.Usage, end.HasUsage = sum.Usage, sum.HasUsage
	sum.Finish, sum.StopSequence = end.Finish, end.Stop

	var head [2][]byte
	for n, key := range [...]string{"id", "created_at"} {
		if i, ok := jsonscan.Find(repaired, members, key); ok {
			head[n] = members[i].Value(repaired)
		}
	}
	return w.Append(make([]byte, 0, len(repaired)+256), head[0], head[1], end), sum, nil
}

// call is the call for what reads the provider's answer. The ids of a response that is not stored
// are of no use to anybody, so no owner is recorded for them.
func (o *Original) call(call openai.Call) openai.Call {
	if !o.stored {
		call.OnID = nil
	}
	return call
}
