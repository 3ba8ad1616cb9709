package guard

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
)

// ask lets the webhook judge a body and puts what it says into result.
func (g *Guardrail) ask(ctx context.Context, d Direction, body []byte, result *Result) error {
	err := g.judgement(ctx, d, body, result)
	var duplicate *DuplicateError
	if err == nil || errors.As(err, &duplicate) {
		return err
	}
	if g.webhook.FailOpen {
		return nil
	}
	return &WebhookError{Guardrail: g.name, Err: err}
}

func (g *Guardrail) judgement(ctx context.Context, d Direction, body []byte, result *Result) error {
	texts, err := hookTexts(d, body)
	if err != nil || len(texts) == 0 {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, g.webhook.Timeout)
	defer cancel()
	answer, err := g.webhook.send(ctx, hookQuestion{Guardrail: g.name, Direction: d.String(), Texts: texts})
	if err != nil {
		return err
	}
	switch answer.Action {
	case "allow":
		return nil
	case "deny":
		result.Verdict = &Verdict{Guardrail: g.name, Class: hookClass(answer.Class)}
		return nil
	case "redact":
		return g.redact(answer, texts, body, result)
	}
	return fmt.Errorf("unknown action %.32q", answer.Action)
}

// hookTexts collects the texts of a body.
func hookTexts(d Direction, body []byte) ([]hookText, error) {
	var texts []hookText
	size, many := 0, false
	f := finder{data: body, answer: d == Output}
	f.visit = func(start, end int) {
		if _, ok := f.inLogprobs(); ok && f.answer || end-start <= len(`""`) || many {
			return
		}
		text := decoded(body[start:end])
		size += len(text)
		many = size > maxHookText || len(texts) == maxHookTexts
		texts = append(texts, hookText{Where: f.param(), Text: text, at: span{start, end}})
	}
	if err := f.walk(); err != nil {
		return nil, err
	}
	if many {
		return nil, fmt.Errorf("more than %d texts or %d bytes of them to judge", maxHookTexts, maxHookText)
	}
	return texts, nil
}

// send asks and reads the answer.
func (w *Webhook) send(ctx context.Context, question hookQuestion) (hookAnswer, error) {
	var answer hookAnswer
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(question); err != nil {
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
	resp, err := w.Transport.RoundTrip(req) // follows no redirect
	if err != nil {
		return answer, err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return answer, fmt.Errorf("status %d", resp.StatusCode)
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxHookAnswer+1))
	if err != nil {
		return answer, err
	}
	if len(body) > maxHookAnswer {
		return answer, fmt.Errorf("an answer of more than %d bytes", maxHookAnswer)
	}
	if json.Unmarshal(body, &answer) != nil {
		return answer, errors.New("an answer that does not parse") // the reason would quote it
	}
	return answer, nil
}

// redact takes out of a body what the webhook says.
func (g *Guardrail) redact(answer hookAnswer, texts []hookText, body []byte, result *Result) error {
	slices.SortStableFunc(answer.Redactions, func(a, b redaction) int {
		return cmp.Or(cmp.Compare(a.Text, b.Text), cmp.Compare(a.Start, b.Start))
	})
	redacted := result.Redacted
	b := bodyReader{body: body}
	list := answer.Redactions
	for len(list) > 0 {
		n := 0
		for n < len(list) && list[n].Text == list[0].Text {
			n++
		}
		if list[0].Text < 0 || list[0].Text >= len(texts) {
			return fmt.Errorf("a redaction of text %d, of %d", list[0].Text, len(texts))
		}
		text := texts[list[0].Text]
		f, rules, err := g.hits(list[:n], cmp.Or(answer.Class, "webhook"), utf8.RuneCountInString(text.Text))
		if err != nil {
			return err
		}
		edits := new(cover).edits(nil, text.Text, len(text.Text)+1, f, rules)
		b.put(text.at.start, text.at.end, apply(nil, text.Text, edits))
		for _, r := range rules {
			if v := (Verdict{Guardrail: g.name, Class: r.class}); !slices.Contains(redacted, v) {
				redacted = append(redacted, v)
			}
		}
		list = list[n:]
	}
	if b.changed {
		result.Body, _ = b.result()
		result.Redacted = redacted
	}
	return nil
}

// hits makes the finds of one text of a webhook's redactions.
func (g *Guardrail) hits(list []redaction, class string, length int) (*found, []boundRule, error) {
	f := new(found)
	f.reset(0)
	var rules []boundRule
	for i, r := range list {
		if r.Start < 0 || r.Start >= r.End || r.End > length {
			return nil, nil, fmt.Errorf("a redaction from %d to %d of %d characters", r.Start, r.End, length)
		}
		rules = append(rules, boundRule{rule: rule{class: hookClass(cmp.Or(r.Class, class))}, guardrail: g.name})
		f.rule = i
		f.add(r.Start, r.End, r.End)
	}
	return f, rules, nil
}
