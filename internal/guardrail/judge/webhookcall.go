package judge

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"unicode/utf8"

	"github.com/gatehouse-proxy/gatehouse/internal/guardrail"
	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/detect"
	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/document"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// ask lets the webhook judge a body and adds its judgement to result. A body that exceeds a limit
// never passes, even with FailOpen: that is not a failure of the webhook.
func (g *Guardrail) ask(ctx context.Context, d guardrail.Direction, body []byte, result *guardrail.Result) error {
	texts, err := g.hookTexts(d, body)
	if err != nil || len(texts) == 0 {
		return err
	}
	if err = g.moderate(ctx, d, texts, body, result); err == nil {
		return nil
	}
	if g.webhook.FailOpen {
		result.Unjudged = append(result.Unjudged, g.name)
		return nil
	}
	return &guardrail.WebhookError{Guardrail: g.name, Err: err}
}

func (g *Guardrail) moderate(ctx context.Context, d guardrail.Direction, texts []hookText, body []byte, result *guardrail.Result) error {
	ctx, cancel := context.WithTimeout(ctx, g.webhook.Timeout)
	defer cancel()
	select {
	case g.webhook.inFlight <- struct{}{}:
		defer func() { <-g.webhook.inFlight }()
	case <-ctx.Done():
		return fmt.Errorf("all %d requests to it are busy: %w", maxHookInFlight, ctx.Err())
	}
	answer, err := g.webhook.send(ctx, hookRequest{Guardrail: g.name, Direction: d.String(), Texts: texts})
	if err != nil {
		return err
	}
	switch answer.Action {
	case "allow":
		return nil
	case "deny":
		result.Verdict = &guardrail.Verdict{Guardrail: g.name, Class: hookClass(answer.Class)}
		return nil
	case "redact":
		return g.redact(d, answer, texts, body, result)
	}
	return errors.New("the answer has an unknown action") // not quoted: it may contain the text
}

// hookTexts collects the texts of a body.
func (g *Guardrail) hookTexts(d guardrail.Direction, body []byte) ([]hookText, error) {
	var texts []hookText
	size, many := 0, false
	w := document.Walker{Data: body, Answer: d == guardrail.Output}
	if d == guardrail.Output {
		w.Logprobs = func(document.Span) {}
	}
	w.Visit = func(at document.Span) {
		if at.End-at.Start <= len(`""`) || many {
			return
		}
		text := document.TextOf(body[at.Start:at.End])
		size += len(text)
		many = size > guardrail.MaxHookText || len(texts) == guardrail.MaxHookTexts
		texts = append(texts, hookText{Where: w.Member(), Text: text, at: at})
	}
	if w.Walk(); many {
		return nil, &guardrail.HookLimitError{Guardrail: g.name, Direction: d}
	}
	return texts, nil
}

// send sends a request to the webhook and reads its answer.
func (w *Webhook) send(ctx context.Context, request hookRequest) (hookAnswer, error) {
	var answer hookAnswer
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(request); err != nil {
		return answer, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.URL, &out)
	if err != nil {
		return answer, err
	}
	if w.Header != nil {
		req.Header = w.Header.Clone()
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	// A question may be asked twice. The empty list sends no header and lets net/http repeat the
	// request where the moderator closed a kept connection just as it was used again.
	req.Header["Idempotency-Key"] = nil
	resp, err := w.Transport.RoundTrip(req) // a transport does not follow redirects
	if err != nil {
		return answer, err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return answer, fmt.Errorf("it answered with status %d", resp.StatusCode)
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxHookAnswer+1))
	if err != nil {
		return answer, err
	}
	if len(body) > maxHookAnswer {
		return answer, fmt.Errorf("the answer has more than %d bytes", maxHookAnswer)
	}
	if jsonscan.Unambiguous(body) != nil {
		return answer, errors.New("the answer is not valid JSON, or has a member twice") // the cause would quote it
	}
	if json.Unmarshal(body, &answer) != nil {
		return answer, errors.New("the answer does not have the documented form")
	}
	return answer, nil
}

// redact makes the redactions of a webhook's answer.
func (g *Guardrail) redact(d guardrail.Direction, answer hookAnswer, texts []hookText, body []byte, result *guardrail.Result) error {
	list := answer.Redactions
	if len(list) == 0 || len(list) > maxRedactions {
		return fmt.Errorf("the answer has %d redactions, want 1 to %d", len(list), maxRedactions)
	}
	slices.SortStableFunc(list, func(a, b redaction) int {
		return cmp.Or(cmp.Compare(a.Text, b.Text), cmp.Compare(a.Start, b.Start))
	})
	rules, verdicts, err := g.hookRules(answer)
	if err != nil {
		return err
	}
	var out document.Edits
	out.Reset(body, d == guardrail.Output)
	for len(list) > 0 {
		n := 0
		for n < len(list) && list[n].Text == list[0].Text {
			n++
		}
		if list[0].Text < 0 || list[0].Text >= len(texts) {
			return fmt.Errorf("the answer redacts text %d of %d texts", list[0].Text, len(texts))
		}
		text := texts[list[0].Text]
		hits, err := hookHits(list[:n], utf8.RuneCountInString(text.Text))
		if err != nil {
			return err
		}
		out.PutEdits(text.at, text.Text, detect.Edits(text.Text, hits, rules))
		list = list[n:]
	}
	result.Body = out.Apply()
	for _, v := range verdicts {
		if !slices.Contains(result.Redacted, v) {
			result.Redacted = append(result.Redacted, v)
		}
	}
	return nil
}

// hookRules returns a rule and a verdict for each class of the redactions, and sets the rule of
// each redaction.
func (g *Guardrail) hookRules(answer hookAnswer) (rules []detect.Rule, verdicts []guardrail.Verdict, err error) {
	for i, r := range answer.Redactions {
		v := guardrail.Verdict{Guardrail: g.name, Class: hookClass(cmp.Or(r.Class, answer.Class))}
		n := slices.Index(verdicts, v)
		if n < 0 {
			if n = len(verdicts); n == maxHookClasses {
				return nil, nil, fmt.Errorf("the answer has more than %d classes", maxHookClasses)
			}
			rules, verdicts = append(rules, detect.Rule{Mark: mark(v.Class)}), append(verdicts, v)
		}
		answer.Redactions[i].rule = n
	}
	return rules, verdicts, nil
}

// hookHits returns the hits of the redactions of one text.
func hookHits(list []redaction, length int) ([]detect.Hit, error) {
	hits := make([]detect.Hit, 0, len(list))
	for _, r := range list {
		if r.Start < 0 || r.Start >= r.End || r.End > length {
			return nil, fmt.Errorf("the answer redacts %d to %d in a text of %d characters", r.Start, r.End, length)
		}
		hits = append(hits, detect.Hit{Start: r.Start, End: r.End, Rule: r.rule})
	}
	return hits, nil
}
