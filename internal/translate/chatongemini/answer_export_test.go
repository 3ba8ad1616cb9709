package chatongemini

// Asked is what of a request its answer depends on.
type Asked struct {
	Functions, HideReasoning, Searches bool
	Body                               []byte
	Dummies                            func() []byte
}

// Original returns that of the request.
func (a Asked) Original() *Original {
	o := &Original{hideReasoning: a.HideReasoning, searches: a.Searches, body: a.Body, dummies: a.Dummies}
	if a.Functions {
		o.functions = true
	}
	return o
}
