// Package guardrail holds the guardrails: rules that refuse a text, or take
// something out of it, on its way to a model and back.
//
// A [Guardrail] is compiled once from a [Spec]. Those that apply to a call, of
// its key, its model and the gateway, are put together into a [Set], which
// reads three things:
//
//	set := guardrail.Join(ofKey, ofModel, ofGateway)
//	result, err := set.Request(ctx, body)  // before dispatch
//	result, err := set.Answer(ctx, answer) // a whole answer
//	stream := set.Stream(guardrail.Chat)       // an answer event by event
//
// A rule finds stretches of text (the detectors are listed at [Detector]). What
// any rule with [Deny] finds ends the call with a [Verdict]; what one with
// [Redact] finds is replaced by "[REDACTED:<class>]". Neither ever holds the
// text that was found.
//
// # Where text is looked for
//
// Every string of a body is read, at any depth and under any name, but for the
// few in the table in places.go, which name a place and what must stand there:
// an identifier, a closed word, encoded data. So a member that an API adds
// tomorrow is read from its first day. Strings are read as decoded: an escape
// hides nothing. Arguments of tool calls, which are JSON in a string, are
// decoded once more, and stay JSON when something is taken out of them; those
// that are no string are read as the text of their JSON. In a whole body each
// string is a text of its own; in a stream the pieces of one channel are one.
// The parts of one message of an answer, which clients join, are one text: of
// what is found across two of them, that in the later one is taken out.
//
// Not looked into: images, files, audio and other data in base64, nor what a
// URL leads to; encrypted reasoning; numbers outside strings; the keys of
// objects but in tool arguments; escapes in JSON within the JSON of these; text
// that is split over several messages, or parts of a request, or written so that
// only a reader of it would recognise it (spelled backwards, in another alphabet,
// encoded).
package guardrail

import (
	"errors"
	"fmt"
	"regexp"
)

// Direction says which texts a guardrail reads: those of the caller, those of
// the model, or both.
type Direction uint8

// The directions.
const (
	Input Direction = 1 << iota
	Output
	Both = Input | Output
)

func (d Direction) String() string {
	switch d {
	case Input:
		return "input"
	case Output:
		return "output"
	case Both:
		return "both"
	}
	return fmt.Sprintf("direction %d", uint8(d))
}

// Action is what becomes of a text in which a rule found something.
type Action string

// The actions.
const (
	// Deny refuses the call, or ends its stream.
	Deny Action = "deny"
	// Redact replaces what was found and lets the rest pass.
	Redact Action = "redact"
)

const (
	// DefaultWindow is the window of a guardrail that names none, in
	// characters: longer than any secret of the rule set but for private keys
	// and signed tokens, and about the text of two seconds.
	DefaultWindow = 256

	// MaxWindow bounds it, and with it what one channel of a stream holds.
	MaxWindow = 8192

	// maxRules is how many rules one guardrail may have.
	maxRules = 64
)

// Spec is a guardrail as configured.
type Spec struct {
	// Name is what callers are told was in the way: 1 to 64 letters, digits,
	// dots, dashes and underscores.
	Name string

	// On says which texts are read. Default: both.
	On Direction

	// Rules are all tried on each text; where what they find overlaps, that
	// which begins first names the class, or of those the first rule.
	Rules []Rule

	// Window is by how many characters a streamed answer is delayed at most.
	// What a rule finds in a stream is found whole if it is shorter; of a
	// longer one the part that is still held is taken out. Default: 256, at
	// most [MaxWindow].
	Window int

	// Webhook is an outside moderator, asked after the rules. Default: none.
	Webhook *Webhook
}

// Guardrail is a compiled Spec. Safe for concurrent use.
type Guardrail struct {
	name    string
	on      Direction
	rules   []rule
	window  int
	webhook *Webhook
}

// Name returns the name of the guardrail.
func (g *Guardrail) Name() string { return g.name }

// Verdict says that a text was refused, or that something was taken out of it:
// by which guardrail and for what class of reason, and nothing of the text.
type Verdict struct {
	Guardrail string
	Class     string // "secret", "email", "card", "words", "pattern", or a webhook's own
}

var nameForm = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)

// Compile checks a spec and makes the guardrail. The errors name the rule.
func Compile(spec Spec) (*Guardrail, error) {
	if !nameForm.MatchString(spec.Name) {
		return nil, fmt.Errorf("guardrail name %q: want 1 to 64 letters, digits, dots, dashes or underscores", spec.Name)
	}
	g, err := compile(spec)
	if err != nil {
		return nil, fmt.Errorf("guardrail %q: %w", spec.Name, err)
	}
	return g, nil
}

func compile(spec Spec) (*Guardrail, error) {
	g := &Guardrail{name: spec.Name, on: spec.On, window: spec.Window}
	if g.on == 0 {
		g.on = Both
	}
	if g.window == 0 {
		g.window = DefaultWindow
	}
	switch {
	case g.on&^Both != 0:
		return nil, fmt.Errorf("unknown %v", g.on)
	case g.window < 0 || g.window > MaxWindow:
		return nil, fmt.Errorf("a window of %d characters: want 1 to %d", g.window, MaxWindow)
	case len(spec.Rules) == 0 && spec.Webhook == nil:
		return nil, errors.New("neither a rule nor a webhook")
	case len(spec.Rules) > maxRules:
		return nil, fmt.Errorf("%d rules: at most %d", len(spec.Rules), maxRules)
	}
	for i, r := range spec.Rules {
		compiled, err := r.compile()
		if err != nil {
			return nil, fmt.Errorf("rule %d (%s): %w", i+1, r.Detector, err)
		}
		g.rules = append(g.rules, compiled)
	}
	if spec.Webhook != nil {
		hook := *spec.Webhook
		if err := hook.check(g.on); err != nil {
			return nil, fmt.Errorf("webhook: %w", err)
		}
		g.webhook = &hook
	}
	return g, nil
}
