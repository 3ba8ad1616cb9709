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
	input, output side
	window        int
	wholeOnly     string // the guardrail that must see whole answers
}

// side is what a Set does in one direction.
type side struct {
	direction Direction
	rules     []detect.Rule
	verdicts  []Verdict // by rule
	hooks     []*Guardrail
	matchers  *sync.Pool // for whole texts
}

// Join puts guardrails together; nil ones are left out. The first that stands
// in a text's way is the one that is named. It returns nil where none is left.
func Join(guardrails ...*Guardrail) *Set {
	s := &Set{input: side{direction: Input}, output: side{direction: Output}}
	for _, g := range guardrails {
		if g == nil {
			continue
		}
		for _, d := range [...]*side{&s.input, &s.output} {
			if g.on&d.direction == 0 {
				continue
			}
			for _, r := range g.rules {
				d.rules = append(d.rules, r.Rule)
				d.verdicts = append(d.verdicts, Verdict{Guardrail: g.name, Class: r.class})
			}
			if g.webhook != nil {
				d.hooks = append(d.hooks, g)
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
	for _, d := range [...]*side{&s.input, &s.output} {
		rules := d.rules
		d.matchers = &sync.Pool{New: func() any { return detect.NewMatcher(rules, 0) }}
	}
	return s
}

func (d *side) empty() bool { return len(d.rules) == 0 && len(d.hooks) == 0 }

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
	return s.input.judge(ctx, body)
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
	return s.output.judge(ctx, body)
}

func (d *side) judge(ctx context.Context, body []byte) (Result, error) {
	var result Result
	if d.direction == Output {
		if out := document.WithoutLogprobs(body); len(out) != len(body) {
			body, result.Body = out, out
		}
	}
	if len(d.rules) > 0 {
		if err := d.read(ctx, body, &result); err != nil || result.Verdict != nil {
			return Result{Verdict: result.Verdict}, err
		}
		if result.Body != nil {
			body = result.Body
		}
	}
	for _, g := range d.hooks {
		if err := g.ask(ctx, d.direction, body, &result); err != nil || result.Verdict != nil {
			return Result{Verdict: result.Verdict}, err
		}
		if result.Body != nil {
			body = result.Body
		}
	}
	return result, nil
}

// read has the rules judge a body.
func (d *side) read(ctx context.Context, body []byte, result *Result) error {
	matcher := d.matcher()
	defer d.release(matcher)
	var reader document.Reader
	reader.Reset(matcher, body, d.direction == Output)
	switch err := reader.Read(ctx); {
	case err == detect.ErrDenied:
		result.Verdict = d.verdict(matcher)
	case err != nil:
		return err
	default:
		if out := reader.Apply(); out != nil {
			result.Body, result.Redacted = out, d.redacted(matcher, nil)
		}
	}
	return nil
}

// matcher returns one for whole texts, to be released.
func (d *side) matcher() *detect.Matcher { return d.matchers.Get().(*detect.Matcher) }

func (d *side) release(m *detect.Matcher) {
	m.Release()
	d.matchers.Put(m)
}

// verdict is that of the rule which denied the matcher's text.
func (d *side) verdict(m *detect.Matcher) *Verdict {
	v := d.verdicts[m.DeniedBy()]
	return &v
}

// redacted adds to list what the matcher took out, each kind once.
func (d *side) redacted(m *detect.Matcher, list []Verdict) []Verdict {
	for _, i := range m.Redacted() {
		if v := d.verdicts[i]; !slices.Contains(list, v) {
			list = append(list, v)
		}
	}
	return list
}
