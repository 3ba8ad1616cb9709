package guardrail

import (
	"context"
	"slices"
	"sync"

	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/detect"
	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/document"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// Set is the guardrails that apply to a call. The nil Set has none. Safe for
// concurrent use.
type Set struct {
	input, output checks
	window        int
	wholeOnly     string // the guardrail that must see whole answers
}

// checks are what a Set does in one direction.
type checks struct {
	direction Direction
	rules     []detect.Rule
	verdicts  []Verdict // by rule
	hooks     []*Guardrail
	matchers  *sync.Pool // for whole texts
}

// Join puts guardrails together; nil ones are left out. The first that stands
// in a text's way is the one that is named. It returns nil where none is left.
func Join(guardrails ...*Guardrail) *Set {
	s := &Set{input: checks{direction: Input}, output: checks{direction: Output}}
	for _, g := range guardrails {
		if g == nil {
			continue
		}
		for _, c := range [...]*checks{&s.input, &s.output} {
			if g.on&c.direction == 0 {
				continue
			}
			for _, r := range g.rules {
				c.rules = append(c.rules, r.Rule)
				c.verdicts = append(c.verdicts, Verdict{Guardrail: g.name, Class: r.class})
			}
			if g.webhook != nil {
				c.hooks = append(c.hooks, g)
			}
		}
		if g.on&Output != 0 {
			s.window = max(s.window, g.window)
			if g.webhook != nil && s.wholeOnly == "" {
				s.wholeOnly = g.name
			}
		}
	}
	if s.input.empty() && s.output.empty() {
		return nil
	}
	for _, c := range [...]*checks{&s.input, &s.output} {
		rules := c.rules
		c.matchers = &sync.Pool{New: func() any { return detect.NewMatcher(rules, 0) }}
	}
	return s
}

func (c *checks) empty() bool { return len(c.rules) == 0 && len(c.hooks) == 0 }

// WholeOnly names the guardrail, if there is one, that can judge no answer in
// pieces: a call that asks for a stream must be refused under it.
func (s *Set) WholeOnly() (guardrail string, ok bool) {
	if s == nil {
		return "", false
	}
	return s.wholeOnly, s.wholeOnly != ""
}

// Result is what the guardrails say of a body.
type Result struct {
	// Verdict refuses it; nil lets it pass.
	Verdict *Verdict

	// Body is what passes instead, nil if it passes as it is. All but the
	// strings that something was taken out of is as it was, byte for byte.
	Body []byte

	// Redacted says what was taken out, each kind once.
	Redacted []Verdict
}

// Request judges the body of a request, which jsonscan.Strict has accepted.
// The error is a [*DuplicateError], a [*LimitError], a [*HookLimitError], a
// [*WebhookError], or why ctx ended.
func (s *Set) Request(ctx context.Context, body []byte) (Result, error) {
	if s == nil || s.input.empty() {
		return Result{}, nil
	}
	return s.input.check(ctx, body)
}

// Answer judges a whole answer of a provider, and empties its token
// probabilities. The error is [ErrMalformed], a [*LimitError], a
// [*HookLimitError], a [*WebhookError], or why ctx ended.
func (s *Set) Answer(ctx context.Context, body []byte) (Result, error) {
	if s == nil || s.output.empty() {
		return Result{}, nil
	}
	if _, err := jsonscan.Lenient(body, nil); err != nil {
		return Result{}, ErrMalformed
	}
	return s.output.check(ctx, body)
}

func (c *checks) check(ctx context.Context, body []byte) (Result, error) {
	var result Result
	if c.direction == Output {
		if out := document.WithoutLogprobs(body); len(out) != len(body) {
			body, result.Body = out, out
		}
	}
	if len(c.rules) > 0 {
		if err := c.read(ctx, body, &result); err != nil || result.Verdict != nil {
			return Result{Verdict: result.Verdict}, err
		}
		if result.Body != nil {
			body = result.Body
		}
	}
	for _, g := range c.hooks {
		if err := g.ask(ctx, c.direction, body, &result); err != nil || result.Verdict != nil {
			return Result{Verdict: result.Verdict}, err
		}
		if result.Body != nil {
			body = result.Body
		}
	}
	return result, nil
}

// read has the rules judge a body.
func (c *checks) read(ctx context.Context, body []byte, result *Result) error {
	matcher := c.matcher()
	defer c.release(matcher)
	var reader document.Reader
	reader.Reset(matcher, body, c.direction == Output)
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

// matcher returns one for whole texts, to be released.
func (c *checks) matcher() *detect.Matcher { return c.matchers.Get().(*detect.Matcher) }

func (c *checks) release(m *detect.Matcher) {
	m.Release()
	c.matchers.Put(m)
}

// verdict is that of the rule which denied the matcher's text.
func (c *checks) verdict(m *detect.Matcher) *Verdict {
	v := c.verdicts[m.DeniedBy()]
	return &v
}

// redacted adds to list what the matcher took out, each kind once.
func (c *checks) redacted(m *detect.Matcher, list []Verdict) []Verdict {
	for _, i := range m.Redacted() {
		if v := c.verdicts[i]; !slices.Contains(list, v) {
			list = append(list, v)
		}
	}
	return list
}
