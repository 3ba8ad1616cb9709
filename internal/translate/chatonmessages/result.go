package chatonmessages

import (
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/completion"
)

// Result translates a provider's whole message to a chat completion, from which the family makes
// its result. A body that is not a message, reports an error, or has content that a chat completion
// cannot have, is a [*apierror.Error], also in the summary.
func Result(message []byte, original *Original, call openai.Call) ([]byte, openai.Summary, error) {
	var sum openai.Summary
	w := completion.NewMessage(original.functions)
	r := reader{call: &call, original: original, to: w, thoughts: completion.NewThoughts(w, jsonscan.AppendString(nil, original.origin), true)}
	fail := func(e *apierror.Error) ([]byte, openai.Summary, error) {
		sum.Err, sum.Finish = e, "error"
		return nil, sum, e
	}
	members, err := jsonscan.Lenient(message, nil)
	if err != nil {
		return fail(translate.ProviderFailure(&call, "answered what is not JSON").WithCause(err))
	}
	o := openai.WalkedObject(message, members)
	r.usage.Read(o.Get("usage"))
	sum.Usage, sum.HasUsage = r.usage.OpenAI()
	if string(o.Get("type")) == `"error"` {
		return fail(call.Fault(openai.ParseProviderError(message)))
	}
	content := o.Get("content")
	if len(content) == 0 || content[0] != '[' {
		return fail(translate.ProviderFailure(&call, "answered with what is no message"))
	}
	id := o.Get("id")
	if text, ok := jsonscan.String(id); ok && text != "" && len(id) <= maxID {
		sum.UpstreamID = text
	} else {
		id = nil
	}
	i := int64(0)
	for span := range jsonscan.AllElements(content) {
		if bad := r.start(i, openai.OpenObject(span.Value(content), nil)); bad != nil {
			return fail(bad)
		}
		r.stop(&r.blocks[len(r.blocks)-1], false)
		i++
	}
	r.takeStop(o)
	finish, bad := r.end()
	if bad != nil {
		return fail(bad)
	}
	sum.Finish, sum.NativeFinish, sum.Text = finish, r.native(finish), w.Speaks()

	end := completion.Ending{Finish: finish, Usage: sum.Usage, HasUsage: sum.HasUsage}
	return w.Append(make([]byte, 0, len(message)+256), id, nil, end), sum, nil
}

// maxID bounds the id of a message that is held; known ones have 30 bytes.
const maxID = 256
