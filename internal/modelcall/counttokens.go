package modelcall

import (
	"context"
	"net/http"
	"slices"
	"strconv"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall/wire"
	"github.com/gatehouse-proxy/gatehouse/internal/openai/params"
	"github.com/gatehouse-proxy/gatehouse/internal/request"
)

// CountTokens answers how many tokens the prompt of a request has. A provider that has the API is asked.
// For the model of another one, or if that provider does not count, the gateway
// estimates: the prompt of [charge.estimateLikely]. It counts against request rates and concurrency as
// a call does, against no token rate and no budget. An error was not written.
func CountTokens(d *Deps, q *request.Request, op *wire.Operation, api wire.API) error {
	return CountPath(d, q, op, api, wire.Path{})
}

// CountPath is CountTokens for a request whose path says what others have in their bodies.
func CountPath(d *Deps, q *request.Request, op *wire.Operation, api wire.API, path wire.Path) error {
	c := newCall(d, q, op, api)
	c.asked = path.Request()
	c.charge.free = true
	err := count(q.HTTP.Context(), c)
	if err != nil {
		c.refused()
	}
	return err
}

// count takes the steps of [call.run] that a count of tokens has.
func count(ctx context.Context, c *call) error {
	if err := c.enter(); err != nil { // 429
		return err
	}
	if err := c.read(); err != nil { // 400 413 415 429
		return err
	}
	if err := c.parse(); err != nil { // 400
		return err
	}
	if err := c.route(ctx); err != nil { // 404 413 503
		return err
	}
	if err := c.permits.EnterNamed(ctx, subjectsOf(c.to.limits)...); err != nil { // 429
		return err
	}
	c.to.targets = slices.DeleteFunc(c.to.targets, func(t *target) bool { return t.route == nil })
	estimate := estimatePrompt(c) // while the body is there
	if len(c.to.targets) == 0 {
		return answerCount(c, estimate)
	}
	if err := c.judge(ctx); err != nil { // 400 413 422 429 503: the provider reads the text
		return err
	}
	if err := c.checkState(ctx); err != nil { // 400 403 503
		return err
	}
	err := c.dispatch(ctx)
	if err != nil && lacksCounting(c, err) {
		return answerCount(c, estimate)
	}
	return err
}

// lacksCounting reports whether a failure means that the provider has the API without this part, as many
// have that are not the API's own. In words of Messages it is about the model.
func lacksCounting(c *call, err error) bool {
	if e := apierror.From(err); c.op.Estimate == "" || c.attempt == nil || e.Own != nil || e.Code == apierror.ModelNotFound {
		return false
	}
	status := c.attempt.upstream.status
	return status == http.StatusNotFound || status == http.StatusMethodNotAllowed
}

// estimatePrompt returns how many tokens the prompt likely has.
func estimatePrompt(c *call) int64 {
	tools := c.state.tools(&c.body)
	return params.ContentOf(&c.body).LikelyTokens(int64(len(c.body.Data())), int64(tools.BuiltIn))
}

// answerCount answers with an estimate.
func answerCount(c *call, n int64) error {
	c.req.Outcome.Succeed(http.StatusOK)
	_ = writeJSON(c.req, ratesOf(c), append(strconv.AppendInt([]byte(c.op.Estimate), n, 10), '}'))
	return nil
}
