package judge

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/detect"
)

// Detector names a way to find something in a text.
type Detector string

// The detectors, and the class of what they find.
const (
	// Regexp finds matches of a regular expression: see [detect.Regexp]. Class: pattern.
	Regexp Detector = "regexp"

	// Words finds words and phrases of a list: see [detect.Words]. Class: words.
	Words Detector = "words"

	// Secrets finds API keys, tokens and other credentials: see [detect.Secrets]. Class: secret.
	Secrets Detector = "secrets"

	// Email finds e-mail addresses: see [detect.Email]. Class: email.
	Email Detector = "email"

	// Card finds payment card numbers: see [detect.Card]. Class: card.
	Card Detector = "card"
)

// classes are the classes of what the detectors find.
var classes = map[Detector]string{
	Regexp:  "pattern",
	Words:   "words",
	Secrets: "secret",
	Email:   "email",
	Card:    "card",
}

// Detectors are the detectors of rules, sorted.
func Detectors() []Detector { return slices.Sorted(maps.Keys(classes)) }

// Rule is one rule as configured.
type Rule struct {
	Action   Action
	Detector Detector

	// Pattern is the expression of a [Regexp] rule, in the syntax of package regexp. It must not
	// match an empty text. $ and \z match at the end of the text, in a stream at the end of its
	// channel.
	Pattern string

	// Words is the list of a [Words] rule: at most 10,000 entries of at most 128 characters each. A
	// run of white space in one matches any other.
	Words []string
}

// rule is a compiled rule.
type rule struct {
	detect.Rule
	class string
}

func (r Rule) compile() (rule, error) {
	class := classes[r.Detector]
	switch {
	case r.Action != Deny && r.Action != Redact:
		return rule{}, fmt.Errorf("unknown action %q; want %s or %s", r.Action, Deny, Redact)
	case class == "":
		return rule{}, fmt.Errorf("unknown detector; want one of %v", Detectors())
	case (r.Pattern != "") != (r.Detector == Regexp):
		return rule{}, errors.New(`the detector "regexp" needs a pattern, and the others take none`)
	case (len(r.Words) > 0) != (r.Detector == Words):
		return rule{}, errors.New(`the detector "words" needs a list of words, and the others take none`)
	}
	detector, err := r.detector()
	return rule{detect.Rule{Detector: detector, Deny: r.Action == Deny, Mark: mark(class)}, class}, err
}

// mark returns what replaces a match of a class.
func mark(class string) string { return "[REDACTED:" + class + "]" }

func (r Rule) detector() (*detect.Detector, error) {
	switch r.Detector {
	case Words:
		return detect.Words(r.Words)
	case Secrets:
		return detect.Secrets()
	case Card:
		return detect.Card()
	case Email:
		return detect.Email()
	}
	return detect.Regexp(r.Pattern)
}
