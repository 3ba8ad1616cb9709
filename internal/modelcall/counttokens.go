package modelcall

import (
	"context"
	"net/http"
	"slices"
	"strconv"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/openai/params"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
)

// countTokens is the part of the Messages API that counts the tokens of a request and does not run
// it.
type countTokens struct{}

func (countTokens) kind() provider.Operation { return provider.CountTokens }
func (countTokens) messages() string         { return "messages" }

func (countTokens) parse(b *jsonscan.Body, h http.Header) (params.Request, error) {
	if err := checkVersion(h); err != nil {
		return params.Request{}, err
	}
	return params.ParseCountTokens(b)
}

// requestedLimits implements [Operation]: nothing is generated.
func (countTokens) requestedLimits(*jsonscan.Body) (params.RequestedLimits, error) {
	return params.RequestedLimits{}, nil
}

func (countTokens) references(b *jsonscan.Body) (params.Refs, error) {
	return params.MessagesReferences(b)
}

func (countTokens) heartbeat(http.Header) heartbeat { return heartbeat{} }

func (countTokens) encode(e encoding) (*sending, error) {
	s, err := encodeNativeMessages(e, provider.CountTokens)
	if err != nil {
		return nil, err
	}
	s.answer = countAnswer{e.answer}
	return s, nil
}

// CountTokens answers how many tokens the prompt of a Messages request has. A provider that has the
// Messages API is asked. For the model of another one, or if that provider does not count, the gateway
// estimates: the prompt of [charge.estimateLikely]. It counts against request rates and concurrency as
// a call does, against no token rate and no budget. An error was not written.
func (q *Request) CountTokens(api API) error {
	c := q.newCall(countTokens{}, api)
	c.charge.free = true
	return count(q.r.Context(), c)
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
	if err := c.admission.enterModel(ctx, c.limits); err != nil { // 429
		return err
	}
	c.targets = slices.DeleteFunc(c.targets, func(t *target) bool { return t.operation == "" })
	estimate := estimatePrompt(c) // while the body is there
	if len(c.targets) == 0 {
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

// lacksCounting reports whether a failure means that the provider has the Messages API without this part,
// as many have that are not Anthropic. In words of that API it is about the model.
func lacksCounting(c *call, err error) bool {
	if e := apierror.From(err); c.upstream == nil || e.Own != nil || e.Code == apierror.ModelNotFound {
		return false
	}
	return c.upstream.status == http.StatusNotFound || c.upstream.status == http.StatusMethodNotAllowed
}

// estimatePrompt returns how many tokens the prompt likely has.
func estimatePrompt(c *call) int64 {
	tools := c.state.tools(&c.body)
	return likelyPrompt(int64(len(c.body.Data())), params.ContentOf(&c.body), int64(tools.BuiltIn))
}

// answerCount answers with an estimate.
func answerCount(c *call, n int64) error {
	c.Succeed(http.StatusOK)
	c.Finish()
	_ = c.writeJSON(append(strconv.AppendInt([]byte(`{"input_tokens":`), n, 10), '}'))
	return nil
}

// countAnswer is a provider's count.
type countAnswer struct{ call openai.Call }

func (a countAnswer) whole(dst, body []byte) ([]byte, openai.Summary, error) {
	members, err := jsonscan.Lenient(body, nil)
	if i, ok := jsonscan.Find(body, members, "input_tokens"); err != nil || !ok || members[i].Kind != '0' {
		bad := a.call.Broken("answered with what is no count of tokens").WithCause(err)
		return dst, openai.Summary{Err: bad}, bad
	}
	return append(dst, body...), openai.Summary{}, nil
}

func (a countAnswer) stream() openai.Stream { return nil } // none is asked for
