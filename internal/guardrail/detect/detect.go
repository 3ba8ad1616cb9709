// Package detect finds secrets, e-mail addresses, card numbers, words and patterns in texts, and
// says how to take them out. It does not know where a text comes from.
//
// A [Detector] finds one kind of thing. A [Matcher] runs the detectors of a list of rules over one
// text at a time:
//
//	matcher := detect.NewMatcher(rules, 0)
//	edits, err := matcher.Whole(text, "", ctx.Done())
//	redacted := detect.Apply(nil, text, edits)
//
// A text that comes in pieces has a matcher of its own. After each [Matcher.Scan], [Matcher.Settle]
// says how much of what was read can no longer become part of a hit and may be sent.
package detect

// Detector finds one kind of thing in texts. It is safe for concurrent use.
type Detector struct {
	newScanner func() scanner
}

// Rule is a detector and what to do with a text in which it finds something.
type Rule struct {
	Detector *Detector

	// Deny makes a hit end the scan. Otherwise the hit is replaced by Mark.
	Deny bool
	Mark string
}

// Regexp returns a detector of what a regular expression matches. Syntax and matches are those of
// FindAll in package regexp. $ and \z match at the end of the text. An expression that matches the
// empty text, or is too large, is an error.
func Regexp(pattern string) (*Detector, error) {
	p, err := parseProgram(pattern)
	if err != nil {
		return nil, err
	}
	return &Detector{newScanner: func() scanner { return newMachine(p) }}, nil
}

// emailPattern is the addr-spec of RFC 5322 section 3.4.1 in its common form.
const emailPattern = `[A-Za-z0-9_%+~-]+(?:\.[A-Za-z0-9_%+~-]+)*@` +
	`(?:[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?\.)+(?:xn--[A-Za-z0-9]+(?:-[A-Za-z0-9]+)*|[A-Za-z][A-Za-z]+)`

// Email returns a detector of e-mail addresses: the dot-atom form of RFC 5322 section 3.4.1 with a
// domain name of two labels or more, in ASCII. Quotes, slashes and other characters that an atom
// may contain, but that are more often found beside an address, are not taken as part of one. Of an
// address that contains them, the part after the last is found.
func Email() (*Detector, error) {
	p, err := parseProgram(emailPattern)
	if err != nil {
		return nil, err
	}
	p.sign = '@'
	for c, first := range p.first {
		p.lead[c] = first || c == '.'
	}
	return &Detector{newScanner: func() scanner { return newMachine(p) }}, nil
}

// Card returns a detector of payment card numbers, as one group of digits or as several that are
// separated by one blank or dash each.
func Card() (*Detector, error) {
	return &Detector{newScanner: func() scanner { return newCardScanner() }}, nil
}

// Secrets returns a detector of API keys, tokens and other credentials. It uses the rule set of
// gitleaks.
func Secrets() (*Detector, error) {
	set, err := defaultSecrets()
	if err != nil {
		return nil, err
	}
	return &Detector{newScanner: func() scanner { return newSecretScanner(set) }}, nil
}

// Words returns a detector of the words and phrases of a list. They are found as whole words, in
// any case, and in all spellings that Unicode treats as equal (UAX #15, NFKD). A run of white space
// in a phrase matches any other. The list may have 10,000 entries of 128 characters each.
func Words(list []string) (*Detector, error) {
	compiled, err := newWordList(list)
	if err != nil {
		return nil, err
	}
	return &Detector{newScanner: func() scanner { return newWordScanner(compiled) }}, nil
}
