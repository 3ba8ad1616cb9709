package openai

import (
	"bytes"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// EmbeddingsResult appends the body of a provider's embeddings as the client must get it: the model as
// asked, all else as it came. A body that has none, or is an error, is a [*apierror.Error], also in the
// summary, and dst is returned as it was.
func EmbeddingsResult(dst, body []byte, call Call) ([]byte, Summary, error) {
	var sum Summary
	var storage [16]jsonscan.Member
	members, err := jsonscan.Lenient(body, storage[:0])
	if err != nil {
		sum.Err = call.Broken("answered what is not JSON").WithCause(err)
		return dst, sum, sum.Err
	}
	if i, ok := jsonscan.Find(body, members, "data"); !ok || members[i].Kind != '[' {
		if i, ok := jsonscan.Find(body, members, "error"); ok && truthy(members[i].Value(body)) {
			pe := ParseProviderError(body)
			sum.Err = Fault(pe.streamStatus(), 0, pe, call.Redact, call.Provider)
		} else {
			sum.Err = call.Broken("answered with what is no list of embeddings")
		}
		return dst, sum, sum.Err
	}
	p, model, object := jsonscan.NewPatch(body, members), -1, false
	name := jsonscan.AppendString(nil, call.Model)
	for i, m := range members {
		value := m.Value(body)
		switch string(m.DecodedKey(body)) {
		case "object":
			object = true
		case "model":
			if one(p, &model, i); !bytes.Equal(value, name) {
				p.Set(i, name)
			}
		case "id":
			if len(value) <= maxID {
				sum.UpstreamID, _ = jsonscan.String(value)
			}
		case "usage":
			sum.Usage, sum.HasUsage = embeddingsUsage(value)
		}
	}
	if model < 0 {
		p.Add("model", name)
	}
	if !object {
		p.Add("object", []byte(`"list"`))
	}
	return p.Append(dst), sum, nil
}

// embeddingsUsage reads the usage of embeddings: all of it is prompt. Voyage counts only total_tokens.
func embeddingsUsage(value []byte) (Usage, bool) {
	u, ok := ParseUsage(value)
	if !ok && len(value) > 0 && value[0] == '{' {
		members := jsonscan.Members(value, nil)
		if i, found := jsonscan.Find(value, members, "total_tokens"); found {
			u.Prompt, ok = jsonscan.Int(members[i].Value(value))
		}
		ok = ok && 0 <= u.Prompt && u.Prompt <= MaxTokens
	}
	if !ok {
		return Usage{}, false
	}
	u.Prompt += u.Completion
	u.Completion, u.Reasoning, u.Total = 0, 0, u.Prompt
	return u, true
}
