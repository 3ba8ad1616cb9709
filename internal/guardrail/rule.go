package guardrail

import (
	"errors"
	"fmt"

	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/detect"
)

// Detector is a way of finding something in a text.
type Detector string

// The detectors, and the class of what they find.
const (
	// Regexp finds what a regular expression matches, as FindAll of package
	// regexp does. Class: pattern.
	Regexp Detector = "regexp"

	// Words finds words and phrases of a list, whole and in any case, in
	// whatever of the forms that Unicode (UAX #15, NFKD) takes for the same.
	// Class: words.
	Words Detector = "words"

	// Secrets finds API keys, tokens and other credentials by the rule set of
	// gitleaks. Class: secret.
	Secrets Detector = "secrets"

	// Email finds e-mail addresses: the dot-atom form of RFC 5322 section
	// 3.4.1 with a domain name of two labels or more, in ASCII. Of what an
	// atom may hold, the signs that stand beside addresses more often than in
	// them, such as quotes and slashes, are taken not to be part of one: an
	// address with them is found from behind the last. Class: email.
	Email Detector = "email"

	// Card finds payment card numbers, in one group of digits or in some that
	// blanks, dashes or points divide. Class: card.
	Card Detector = "card"
)

// classes names what each detector finds.
var classes = map[Detector]string{
	Regexp:  "pattern",
	Words:   "words",
	Secrets: "secret",
	Email:   "email",
	Card:    "card",
}

// Rule is one rule as configured.
type Rule struct {
	Action   Action
	Detector Detector

	// Pattern is the expression of a [Regexp] rule, in the syntax of package
	// regexp. It must not match an empty text. $ and \z match where the text
	// ends, in a stream where its channel does.
	Pattern string

	// Words are those of a [Words] rule: at most 10,000 of at most 128
	// characters each. A run of white space in one stands for any other.
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
		return rule{}, fmt.Errorf("unknown action %q", r.Action)
	case class == "":
		return rule{}, errors.New("unknown detector")
	case (r.Pattern != "") != (r.Detector == Regexp):
		return rule{}, errors.New("a pattern belongs to regexp, and regexp needs one")
	case (len(r.Words) > 0) != (r.Detector == Words):
		return rule{}, errors.New("a list of words belongs to words, and words needs one")
	}
	detector, err := r.detector()
	return rule{detect.Rule{Detector: detector, Deny: r.Action == Deny, Mark: mark(class)}, class}, err
}

// mark is what stands for what a rule of a class took out.
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
