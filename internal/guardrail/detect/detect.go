// Package detect finds secrets, addresses, card numbers, words and patterns in
// texts, whole ones or such as come in pieces, and says how to take them out.
// It knows nothing of where a text comes from.
//
// A [Detector] finds one kind of thing. A [Matcher] runs the detectors of a
// list of rules over one text at a time:
//
//	matcher := detect.NewMatcher(rules, 0)
//	edits, err := matcher.Whole(text, "", ctx.Done())
//	redacted := detect.Apply(nil, text, edits)
//
// A text in pieces has a matcher of its own, with the window of the stream:
// after each [Matcher.Scan], [Matcher.Settle] says how much of what was read
// can no longer become part of a find.
package detect

// Detector finds one kind of thing in texts. Safe for concurrent use.
type Detector struct {
	new   func() scanner
	needs string // without which nothing is found; "" for nothing of the kind
}

// Rule is a detector and what becomes of a text in which it finds something.
type Rule struct {
	Detector *Detector

	// Deny has a find end the reading of the text. Otherwise it is replaced by
	// Mark.
	Deny bool
	Mark string
}

// Regexp finds what a regular expression matches, in the syntax of package
// regexp and as its FindAll does. $ and \z match where the text ends. The
// expression must not match an empty text.
func Regexp(pattern string) (*Detector, error) {
	p, err := parseProgram(pattern)
	if err != nil {
		return nil, err
	}
	return &Detector{new: func() scanner { return newMachine(p) }}, nil
}

// emailPattern is the addr-spec of RFC 5322 section 3.4.1 in its common form.
const emailPattern = `[A-Za-z0-9_%+~-]+(?:\.[A-Za-z0-9_%+~-]+)*@` +
	`(?:[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?\.)+(?:xn--[A-Za-z0-9]+(?:-[A-Za-z0-9]+)*|[A-Za-z][A-Za-z]+)`

// Email finds e-mail addresses: the dot-atom form of RFC 5322 section 3.4.1
// with a domain name of two labels or more, in ASCII. Of what an atom may
// hold, the signs that stand beside addresses more often than in them, such as
// quotes and slashes, are taken not to be part of one: an address with them is
// found from behind the last.
func Email() (*Detector, error) {
	d, err := Regexp(emailPattern)
	if err != nil {
		return nil, err
	}
	d.needs = "@"
	return d, nil
}

// Card finds payment card numbers, in one group of digits or in some that
// blanks, dashes or points divide.
func Card() (*Detector, error) {
	return &Detector{new: func() scanner { return newCardScanner() }}, nil
}

// Secrets finds API keys, tokens and other credentials by the rule set of
// gitleaks.
func Secrets() (*Detector, error) {
	set, err := defaultSecrets()
	if err != nil {
		return nil, err
	}
	return &Detector{new: func() scanner { return newSecretScanner(set) }}, nil
}

// Words finds words and phrases of a list, whole and in any case, in whatever
// of the forms that Unicode (UAX #15, NFKD) takes for the same. A run of white
// space in one stands for any other. There are at most 10,000 of at most 128
// characters each.
func Words(list []string) (*Detector, error) {
	compiled, err := newWordList(list)
	if err != nil {
		return nil, err
	}
	return &Detector{new: func() scanner { return newWordScanner(compiled) }}, nil
}
