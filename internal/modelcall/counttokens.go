package modelcall

import (
	"context"
	"net/http"
	"slices"
	"strconv"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/openai/request"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
)

// countTokens is the part of the Messages API that counts the tokens of a request and does not run
// it.
type countTokens struct{}

func (countTokens) kind() provider.Operation { return provider.CountTokens }
func (countTokens) messages() string         { return "messages" }

func (countTokens) parse(b *jsonscan.Body, h http.Header) (request.Request, error) {
	if err := checkVersion(h); err != nil {
		return request.Request{}, err
	}
	return request.ParseCountTokens(b)
}

// requestedLimits implements [Operation]: nothing is generated.
func (countTokens) requestedLimits(*jsonscan.Body) (request.RequestedLimits, error) {
	return request.RequestedLimits{}, nil
}

func (countTokens) references(b *jsonscan.Body) (request.Refs, error) {
	return request.MessagesReferences(b)
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
// Messages API is asked; for the model of another one the gateway estimates: the prompt of
// [charge.estimateLikely]. It counts against request rates and concurrency as a call does, against no
// token rate and no budget. An error was not written.
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
	if len(c.targets) == 0 {
		return estimateCount(c)
	}
	if err := c.judge(ctx); err != nil { // 400 413 422 429 503: the provider reads the text
		return err
	}
	if err := c.checkState(ctx); err != nil { // 400 403 503
		return err
	}
	return c.dispatch(ctx)
}

// estimateCount answers with an estimate; nobody is asked.
func estimateCount(c *call) error {
	tools := c.state.tools(&c.body)
	c.state.forget()
	n := likelyPrompt(int64(len(c.body.Data())), request.ContentOf(&c.body), int64(tools.BuiltIn))
	c.Succeed(http.StatusOK)
	c.Finish()
	c.writeJSON(append(strconv.AppendInt([]byte(`{"input_tokens":`), n, 10), '}'))
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
