package chatongemini

import "encoding/json"

// Asked is what of a request its answer depends on.
type Asked struct {
	Functions, HideReasoning, Searches bool
	Body                               []byte
	Dummies                            func() []byte
}

// Original returns that of the request.
func (a Asked) Original() *Original {
	o := &Original{hideReasoning: a.HideReasoning, searches: a.Searches, body: a.Body, dummies: a.Dummies}
	var request struct {
		GenerationConfig struct{ MaxOutputTokens int64 }
	}
	if err := json.Unmarshal(a.Body, &request); err == nil {
		o.hops = int(Requests(request.GenerationConfig.MaxOutputTokens)) - 1
	}
	if a.Functions {
		o.functions = true
	}
	return o
}
