//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// A probe makes calls whose answers a gateway can only give with a duty on. Probes run after the
// cases of a round, with the same key.
type probe struct {
	duty duties
	what string // that the duty is on, if run returns nil
	run  func(context.Context, *prober) error
}

var probes = []probe{
	{limitDuties, "requests and tokens are counted", probeRates},
	{limitDuties, "messages and tools are capped", probeCaps},
	{limitDuties, "the answer of a client that left is read on", probeDrain},
	{budgetDuties, "a call under way is reserved, on disk", probeReservation},
	{guardDuties, "a credential in a request is refused", probeDenyRequest},
	{guardDuties, "a credential in an answer is refused", probeDenyAnswer},
	{guardDuties, "an address and a card number are taken out of both", probeRedact},
	// The last, because the streams that it leaves are drained and keep their slots.
	{limitDuties, "a call too many waits and is refused", probeConcurrency},
}

// prober is a gateway with duties on, and the keys for it.
type prober struct {
	*server
	secrets secrets
}

// post sends a chat call with these members after the model.
func (p *prober) post(ctx context.Context, model, members string) (answer, error) {
	c := newConn(p.addr)
	defer c.close()
	return c.do(ctx, encode(p.addr, chatPath, p.secrets.gateway, chatWith(model, members)))
}

// chatWith is a chat request with these members after the model.
func chatWith(model, members string) []byte {
	return fmt.Appendf(nil, `{"model":"%s",%s}`, providerPrefix+model, members)
}

func saying(text string) string {
	return `"messages":[{"role":"user","content":"` + text + `"}]`
}

// refused expects a refusal with that code.
func refused(a answer, err error, status int, code string) error {
	if err != nil {
		return err
	}
	if err := checkHead(a, status, "application/json"); err != nil {
		return err
	}
	if !strings.Contains(string(a.body), `"`+code+`"`) {
		return fmt.Errorf("no %s: %q", code, shorten(a.body))
	}
	return nil
}

func probeRates(ctx context.Context, p *prober) error {
	remaining := func(h http.Header, what string) (n int64, err error) {
		n, err = strconv.ParseInt(h.Get("X-Ratelimit-Remaining-"+what), 10, 64)
		return n, err
	}
	for _, what := range []string{"Requests", "Tokens"} {
		var before int64
		for i := range 2 {
			a, err := p.post(ctx, modelWhole, saying("count this"))
			if err != nil {
				return err
			}
			n, err := remaining(a.header, what)
			if err != nil {
				return fmt.Errorf("what remains of %s: %w", what, err)
			}
			if i > 0 && n >= before {
				return fmt.Errorf("%d %s remained, and %d after one more call", before, what, n)
			}
			before = n
		}
	}
	return nil
}

func probeCaps(ctx context.Context, p *prober) error {
	message, tool := `{"role":"user","content":"x"}`, `{"type":"function","function":{"name":"f"}}`
	many := func(element string, n int) string {
		return "[" + strings.TrimSuffix(strings.Repeat(element+",", n), ",") + "]"
	}
	a, err := p.post(ctx, modelWhole, `"messages":`+many(message, mostMessages+1))
	if err := refused(a, err, http.StatusBadRequest, "invalid_value"); err != nil {
		return err
	}
	a, err = p.post(ctx, modelWhole, saying("x")+`,"tools":`+many(tool, mostTools+1))
	return refused(a, err, http.StatusBadRequest, "invalid_value")
}

// probeConcurrency opens streams until one is refused. Slots that earlier probes still hold only
// make it earlier.
func probeConcurrency(ctx context.Context, p *prober) error {
	conns := newConns(callsAtOnce+1, p.addr)
	defer closeAll(conns)
	request := encode(p.addr, chatPath, p.secrets.gateway, chatWith(modelHeld, saying("wait")+`,"stream":true`))
	for _, c := range conns {
		begun := time.Now()
		res, release, err := c.begin(ctx, request)
		if err != nil {
			return err
		}
		release()
		if res.StatusCode == http.StatusOK {
			continue
		}
		body, err := io.ReadAll(io.LimitReader(res.Body, shownBytes))
		if err := refused(answer{status: res.StatusCode, header: res.Header, body: body}, err, http.StatusTooManyRequests, "concurrency_limit_exceeded"); err != nil {
			return err
		}
		if waited := time.Since(begun); waited < queueWait {
			return fmt.Errorf("refused after %s, the queue's wait is %s", waited, queueWait)
		}
		return nil
	}
	return fmt.Errorf("%d streams at once", len(conns))
}

// opened begins a stream and returns the ID of the request and a function that ends it.
func (p *prober) opened(ctx context.Context, model string) (id string, end func(), err error) {
	c := newConn(p.addr)
	a, err := c.open(ctx, encode(p.addr, chatPath, p.secrets.gateway, chatWith(model, saying("go on")+`,"stream":true`)))
	if err != nil {
		return "", nil, err
	}
	if id = a.header.Get("X-Request-Id"); id == "" {
		err = errors.New("an answer without x-request-id")
	}
	return id, c.close, err
}

// drainTime is longer than the rest of a paced stream.
const drainTime = 4 * pace * pacedEvents

func probeDrain(ctx context.Context, p *prober) error {
	id, leave, err := p.opened(ctx, modelPaced)
	if err != nil {
		return err
	}
	leave()
	for deadline := time.Now().Add(drainTime); ; {
		rows, err := p.rows(ctx, "request_id="+id)
		switch {
		case err != nil:
			return err
		case len(rows) == 1 && rows[0].Source == "provider" && rows[0].Completion == answerTokens:
			return nil
		case len(rows) > 0:
			return fmt.Errorf("the row says %+v", rows[0])
		case time.Now().After(deadline):
			return fmt.Errorf("no row after %s", drainTime)
		}
		if err := sleep(ctx, settleTime); err != nil {
			return err
		}
	}
}
