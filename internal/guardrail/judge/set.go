package judge

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/gatehouse-proxy/gatehouse/internal/guardrail"
	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/detect"
	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/document"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// ErrMalformed is returned for an answer, or an event of one, that is not a JSON object and so
// cannot be judged. It is the provider's mistake (502).
var ErrMalformed = errors.New("not a JSON object")

// Set is a [guardrail.Set] of at least one guardrail.
type Set struct {
	input, output checks
	window        int
	wholeOnly     string // a guardrail that cannot judge streams, "" for none
}

// checks are the rules and webhooks of a Set in one direction.
type checks struct {
	direction guardrail.Direction
	rules     []detect.Rule
	verdicts  []guardrail.Verdict // by rule
	hooks     []*Guardrail
	matchers  *sync.Pool
}

// Join joins guardrails of this package, in the order in which they judge. Nil ones are left out.
// The first one that refuses a text is named in the verdict.
func Join(all []guardrail.Guardrail) guardrail.Set {
	s := &Set{input: checks{direction: guardrail.Input}, output: checks{direction: guardrail.Output}}
	for _, one := range all {
		g, ok := one.(*Guardrail)
		if !ok { // nil
			continue
		}
		for _, c := range [...]*checks{&s.input, &s.output} {
			if g.on&c.direction == 0 {
				continue
			}
			for _, r := range g.rules {
				c.rules = append(c.rules, r.Rule)
				c.verdicts = append(c.verdicts, guardrail.Verdict{Guardrail: g.name, Class: r.class})
			}
			if g.webhook != nil {
				c.hooks = append(c.hooks, g)
			}
		}
		if g.on&guardrail.Output != 0 {
			s.window = max(s.window, g.window)
			if g.webhook != nil && s.wholeOnly == "" {
				s.wholeOnly = g.name
			}
		}
	}
	for _, c := range [...]*checks{&s.input, &s.output} {
		rules := c.rules
		c.matchers = &sync.Pool{New: func() any { return detect.NewMatcher(rules, 0) }}
	}
	return s
}

func (c *checks) empty() bool { return len(c.rules) == 0 && len(c.hooks) == 0 }

// WholeOnly implements [guardrail.Set].
func (s *Set) WholeOnly() (guardrail string, ok bool) { return s.wholeOnly, s.wholeOnly != "" }

// Request implements [guardrail.Set].
func (s *Set) Request(ctx context.Context, body []byte) (guardrail.Result, error) {
	if s.input.empty() {
		return guardrail.Result{}, nil
	}
	return s.input.check(ctx, body)
}

// usualMembers is how many members an answer may have without an allocation.
const usualMembers = 16

// JudgesAnswers implements [guardrail.Set].
func (s *Set) JudgesAnswers() bool { return !s.output.empty() }

// Answer implements [guardrail.Set]. An answer that is no JSON object is [ErrMalformed].
func (s *Set) Answer(ctx context.Context, body []byte) (guardrail.Result, error) {
	if !s.JudgesAnswers() {
		return guardrail.Result{}, nil
	}
	var usual [usualMembers]jsonscan.Member
	if _, err := jsonscan.Lenient(body, usual[:0]); err != nil {
		return guardrail.Result{}, ErrMalformed
	}
	return s.output.check(ctx, body)
}

func (c *checks) check(ctx context.Context, body []byte) (guardrail.Result, error) {
	var result guardrail.Result
	if c.direction == guardrail.Output {
		if out := document.WithoutLogprobs(body); len(out) != len(body) {
			body, result.Body = out, out
		}
	}
	if len(c.rules) > 0 {
		if err := c.read(ctx, body, &result); err != nil || result.Verdict != nil {
			return guardrail.Result{Verdict: result.Verdict}, err
		}
		if result.Body != nil {
			body = result.Body
		}
	}
	for _, g := range c.hooks {
		if err := g.ask(ctx, c.direction, body, &result); err != nil || result.Verdict != nil {
			return guardrail.Result{Verdict: result.Verdict}, err
		}
		if result.Body != nil {
			body = result.Body
		}
	}
	return result, nil
}

var readers = sync.Pool{New: func() any { return new(document.Reader) }}

// read judges a body by the rules.
func (c *checks) read(ctx context.Context, body []byte, result *guardrail.Result) error {
	matcher := c.matcher()
	defer c.release(matcher)
	reader := readers.Get().(*document.Reader)
	defer func() {
		reader.Release()
		readers.Put(reader)
	}()
	reader.Reset(matcher, body, c.direction == guardrail.Output)
	switch err := reader.Read(ctx); {
	case err == detect.ErrDenied:
		result.Verdict = c.verdict(matcher)
	case err != nil:
		return err
	default:
		if out := reader.Apply(); out != nil {
			result.Body, result.Redacted = out, c.redacted(matcher, nil)
		}
	}
	return nil
}

// matcher returns a matcher for whole texts. The caller must release it.
func (c *checks) matcher() *detect.Matcher { return c.matchers.Get().(*detect.Matcher) }

// pieceMatcher returns a matcher for a text in pieces. The caller should release it.
func (c *checks) pieceMatcher(window int) *detect.Matcher {
	m := c.matcher()
	m.Reset(window)
	return m
}

func (c *checks) release(m *detect.Matcher) {
	m.Release()
	c.matchers.Put(m)
}

// verdict returns the verdict of the rule that denied the matcher's text.
func (c *checks) verdict(m *detect.Matcher) *guardrail.Verdict {
	v := c.verdicts[m.DeniedBy()]
	return &v
}

// redacted adds to list what the matcher took out, each verdict once.
func (c *checks) redacted(m *detect.Matcher, list []guardrail.Verdict) []guardrail.Verdict {
	for _, i := range m.Redacted() {
		if v := c.verdicts[i]; !slices.Contains(list, v) {
			list = append(list, v)
		}
	}
	return list
}
