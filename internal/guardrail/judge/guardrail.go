// Package judge reads the texts of model calls, on their way to a model and back, and refuses
// them or takes something out of them.
//
// A [Guardrail] is compiled once from a [Spec]. The guardrails of a call's key, its model and the
// gateway are joined into a [Set], which reads three things:
//
//	set := judge.Join([]guardrail.Guardrail{ofKey, ofModel, ofGateway})
//	result, err := set.Request(ctx, body)  // before dispatch
//	result, err := set.Answer(ctx, answer) // a whole answer
//	stream := set.Stream(guardrail.Chat)   // an answer event by event
//
// Each rule has a [Detector]. If a rule with [Deny] finds something, the call ends with a
// [guardrail.Verdict]. What a rule with [Redact] finds is replaced by "[REDACTED:<class>]". Neither a verdict
// nor a mark contains the text that was found. How texts are searched is in package detect, where
// they are in a body in package document.
//
// # Which texts are read
//
// Every string of a body is read, at any depth and under any name, except identifiers, words of the
// API and encoded data in members that are known to have them. Strings are read as decoded, so an
// escape hides nothing. JSON inside a string, such as the arguments of tool calls, is decoded once
// more and stays JSON. Arguments that are not a string, such as the input of a tool call of the
// Messages API, are read as their JSON text.
//
// In a whole body each string is a text of its own. In a stream the pieces of one channel are one
// text. Clients join the parts of one message of an answer, or its blocks of text, so these are one
// text too: if a match spans two parts, its rest in the later one is taken out.
//
// A text that was changed no longer fits its signature, which is emptied.
//
// Not read are: images, files, audio and other data in base64; the content behind a URL; encrypted
// reasoning; numbers outside strings, and keys of objects, except in tool arguments; JSON inside
// the JSON of tool arguments, of which escapes are not decoded. Not found is text that is split
// over several messages, or over several parts of a request, or that only a reader would recognise
// (spelled backwards, in another alphabet, encoded).
package judge

import (
	"errors"
	"fmt"
	"regexp"

	"github.com/gatehouse-proxy/gatehouse/internal/guardrail"
)

// Action says what happens to a text in which a rule found something.
type Action string

// The actions.
const (
	// Deny refuses the call, or ends its stream.
	Deny Action = "deny"
	// Redact replaces what was found and lets the rest pass.
	Redact Action = "redact"
)

const (
	// DefaultWindow is the default of Spec.Window, in characters. It is longer than any secret of
	// the rule set, except private keys and signed tokens, and about the text of two seconds.
	DefaultWindow = 256

	// MaxWindow is the largest Spec.Window. A channel of a stream holds at most so many characters.
	MaxWindow = 8192

	// maxRules is how many rules one guardrail may have.
	maxRules = 64
)

// Spec is a guardrail as configured.
type Spec struct {
	// Name is shown to callers when the guardrail refuses a text: 1 to 64 letters, digits, dots,
	// dashes and underscores.
	Name string

	// On says which texts are read. Default: both.
	On guardrail.Direction

	// Rules are all tried on each text. Where their matches overlap, the one that begins first
	// gives the class, or of those that begin together the first rule.
	Rules []Rule

	// Window is how many characters of a streamed answer may be held back, in each of its texts. A
	// match that is shorter is taken out whole. Of a longer one, only the part that was not yet
	// sent is taken out. Default: 256, at most [MaxWindow].
	Window int

	// Webhook is an external moderator that is asked after the rules. Default: none.
	Webhook *Webhook
}

// Guardrail is a compiled Spec. It is safe for concurrent use.
type Guardrail struct {
	name    string
	on      guardrail.Direction
	rules   []rule
	window  int
	webhook *Webhook
}

// Name returns the name of the guardrail.
func (g *Guardrail) Name() string { return g.name }

var nameForm = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)

// Compile checks a spec and compiles it. The errors name the rule.
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
		g.on = guardrail.Both
	}
	if g.window == 0 {
		g.window = DefaultWindow
	}
	switch {
	case g.on&^guardrail.Both != 0:
		return nil, fmt.Errorf("unknown %v", g.on)
	case g.window < 0 || g.window > MaxWindow:
		return nil, fmt.Errorf("window %d: want 1 to %d characters", g.window, MaxWindow)
	case len(spec.Rules) == 0 && spec.Webhook == nil:
		return nil, errors.New("it has neither a rule nor a webhook")
	case len(spec.Rules) > maxRules:
		return nil, fmt.Errorf("it has %d rules, the limit is %d", len(spec.Rules), maxRules)
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
