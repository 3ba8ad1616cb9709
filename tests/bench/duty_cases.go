//go:build linux

package main

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// dutyCases are the cases of gateways with duties on, made of those with all of them off. Those
// without a goal show what their duties add.
func dutyCases(off []benchCase) []benchCase {
	with := func(name, suffix string, d duties, g goal) benchCase {
		c := off[slices.IndexFunc(off, func(c benchCase) bool { return c.name == name })]
		c.name, c.duties, c.goal = name+suffix, d, g
		c.proxied = c.metric != addedP50
		return c
	}
	return []benchCase{
		with("req-1k", "-on", everyDuty, goal{1.8, 1.4}),
		with("req-32k", "-on", everyDuty, goal{1.8, 1.4}),
		with("sse-64", "-on", everyDuty, goal{2.2, 1.6}),
		with("responses-64", "-on", everyDuty, goal{}),
		with("req-1k", "-limits", limitDuties, goal{}),
		with("req-1k", "-budgets", budgetDuties, goal{1.4, 1.2}),
		with("req-1k", "-guards", guardDuties, goal{}),
		with("sse-64", "-guards", guardDuties, goal{}),
	}
}

// refusedRate is the case of a key whose rate is used up: the gateway's 429 compared with the 401
// of Caddy's header matcher with an access log. The connection is kept, so both must read the
// request's body, which neither looks at.
func refusedRate(wrong benchCase) benchCase {
	wrong.name, wrong.goal, wrong.wrong, wrong.spent = "rate-refused", goal{}, false, true
	return wrong
}

// checkAt is the check for the answers of this server.
func (c benchCase) checkAt(s *server) check {
	switch {
	case c.spent && s.renames:
		return checkKept(checkRateRefused)
	case c.spent:
		return checkKept(checkUnauthorized)
	}
	answered := c.check
	if c.stream && s.duties.has(guardDuties) {
		answered = checkSameText(c.path)
	}
	if s.duties.has(limitDuties) {
		answered = checkRates(answered)
	}
	return answered
}

// checkSameText returns a check for a coalesced stream that guardrails have read: they may split
// its text into other events, but must not change it.
func checkSameText(path string) check {
	events, mark := bytes.Join(chatEvents(coalescedEvents, false), nil), `"content":"`
	if path == responsesPath {
		events, mark = responseEvents().appendTo(nil, nil), `"delta":"`
	}
	want := textOf(events, mark)
	return func(a answer, _ int, model string) error {
		if err := checkHead(a, http.StatusOK, "text/event-stream"); err != nil {
			return err
		}
		if err := checkModel(a.body, model); err != nil {
			return err
		}
		if got := textOf(a.body, mark); got != want {
			return fmt.Errorf("the text of the stream is %q instead of %q", got, want)
		}
		if !bytes.HasSuffix(a.body, []byte(doneEvent)) && !bytes.Contains(a.body, []byte("event: response.completed\n")) {
			return fmt.Errorf("the stream of %d bytes has no end", len(a.body))
		}
		return nil
	}
}

// textOf joins the texts after each mark up to a quote; the bench's prose has no quotes.
func textOf(events []byte, mark string) string {
	var b strings.Builder
	for rest := string(events); ; {
		_, after, found := strings.Cut(rest, mark)
		if !found {
			return b.String()
		}
		text, behind, _ := strings.Cut(after, `"`)
		b.WriteString(text)
		rest = behind
	}
}

// checkKept adds to another check that the connection stays open after the answer: a refusal is
// cheap for a server if the next call must dial.
func checkKept(next check) check {
	return func(a answer, sent int, model string) error {
		if a.closes {
			return errors.New("the connection is closed after the answer")
		}
		return next(a, sent, model)
	}
}

// checkRateRefused expects the refusal of a rate, with the parts that an SDK reads.
func checkRateRefused(a answer, _ int, _ string) error {
	if err := refused(a, nil, http.StatusTooManyRequests, "rate_limit_exceeded"); err != nil {
		return err
	}
	if a.header.Get("Retry-After") == "" || a.header.Get("X-Ratelimit-Remaining-Requests") != "0" {
		return fmt.Errorf("a refusal of a rate with the header %v", a.header)
	}
	return nil
}

// checkRates adds to another check that the answer's header has the rest of both rates.
func checkRates(next check) check {
	return func(a answer, sent int, model string) error {
		if err := next(a, sent, model); err != nil {
			return err
		}
		for _, name := range []string{"X-Ratelimit-Remaining-Requests", "X-Ratelimit-Remaining-Tokens"} {
			if a.header.Get(name) == "" {
				return fmt.Errorf("an answer without %s", name)
			}
		}
		return nil
	}
}
