package openai

// ChatResult appends the body of a provider's whole chat completion as the
// client must get it: the model as asked, the keys the family requires in
// place, all else as it came. A body that is no completion, or says that it is
// an error, is a [*apierror.Error], also in the summary, and dst is returned as
// it was.
func ChatResult(dst, body []byte, call Call) ([]byte, Summary, error) {
	return ShapedResult(dst, body, call, Shape{})
}

// ShapedResult is [ChatResult] for a family with a [Shape] of its own.
func ShapedResult(dst, body []byte, call Call, shape Shape) ([]byte, Summary, error) {
	c := results.Get().(*chat)
	c.reset(call, shape, false)
	c.borrow()
	out, found, bad := c.repair(dst, body)
	c.giveBack()
	if bad == nil && !found {
		bad = call.broken("answered with what is no chat completion")
	}
	c.sum.Err = bad
	sum := c.sum
	c.finish()
	if bad != nil {
		return dst, sum, error(bad)
	}
	return out, sum, nil
}
