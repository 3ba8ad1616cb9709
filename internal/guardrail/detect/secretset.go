package detect

import (
	_ "embed"
	"fmt"
	"math"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"

	"github.com/BurntSushi/toml"
)

// gitleaks is the rule set of gitleaks v8.30.1 (MIT, see rules/LICENSE), unchanged. The Go module
// of gitleaks is not used: it has thirty dependencies, and the rules are one file of it.
//
//go:generate go run rules/update.go v8.30.1
//go:embed rules/gitleaks.toml
var gitleaks string

// ruleFile is the part of gitleaks' configuration that is used.
type ruleFile struct {
	Allowlist allowFile
	Rules     []struct {
		ID          string
		Regex       string
		Path        string
		SecretGroup int
		Entropy     float64
		Keywords    []string
		Allowlists  []allowFile
	}
}

// allowFile is an allowlist: text that is not a secret although a rule matches it. Paths and
// commits do not apply here. Allowlists that look at the rest of the line, and misanchored, are
// left out: an author could hide a secret with them.
type allowFile struct {
	Condition   string
	RegexTarget string
	Regexes     []string
	StopWords   []string
}

// secretSet is the compiled rule set.
type secretSet struct {
	rules    []secretRule
	trie     *trie     // of the anchors
	prefixes prefixSet // of the anchors
	anchors  []anchor
	memory   aheadMemory
	allowed  []allowlist
}

// anchor is a string that starts the machines of rules, or is a keyword of rules.
type anchor struct {
	length   int
	begins   []int // rules whose matches begin with it
	keywords []int // rules of which it is a keyword
}

// secretRule is one compiled rule.
type secretRule struct {
	id       string
	program  *program
	ahead    *lookahead // of the program
	entropy  float64
	keyword  bool // one of its keywords must have been read
	floating bool // its matches begin with no anchor: they may begin anywhere after a keyword
	allowed  []allowlist
}

// nameBefore is how many rules begin: with the name that contains their keyword. It is left out, so
// that the match begins with the keyword. Only allowlists look at the name (see maxPrefix).
const nameBefore = `[\w.-]{0,50}?`

// misanchored allows any secret that contains "false". The values it is meant for are too short for
// every rule.
const misanchored = `(?i)^true|false|null$`

// allowlist matches texts that look like a secret and are none.
type allowlist struct {
	match   bool // the expressions apply to the whole match, not only to the secret
	regexes []*regexp.Regexp
	words   *trie
}

// defaultSecrets compiles the rule set once, when the first detector needs it.
var defaultSecrets = sync.OnceValues(func() (*secretSet, error) { return parseSecrets(gitleaks) })

func parseSecrets(text string) (*secretSet, error) {
	var file ruleFile
	if _, err := toml.Decode(text, &file); err != nil {
		return nil, fmt.Errorf("reading the rule set: %w", err)
	}
	set := &secretSet{}
	var err error
	if set.allowed, err = allowlists(file.Allowlist); err != nil {
		return nil, err
	}
	var list []string
	anchorOf := func(s string) *anchor {
		s = strings.ToLower(s)
		i := slices.Index(list, s)
		if i < 0 {
			i = len(list)
			list = append(list, s)
			set.anchors = append(set.anchors, anchor{length: len(s)})
		}
		return &set.anchors[i]
	}
	for _, r := range file.Rules {
		if r.Regex == "" || r.Path != "" { // the rule is about the names of files
			continue
		}
		rule := secretRule{id: r.ID, entropy: r.Entropy, keyword: len(r.Keywords) > 0}
		if rule.allowed, err = allowlists(r.Allowlists...); err != nil {
			return nil, fmt.Errorf("rule %s: %w", r.ID, err)
		}
		re, err := syntax.Parse(strings.ReplaceAll(r.Regex, nameBefore, ""), syntax.Perl)
		if err != nil {
			return nil, fmt.Errorf("rule %s: %w", r.ID, err)
		}
		if rule.program, err = newProgram(re, reportedGroup(re, r.SecretGroup)); err != nil {
			return nil, fmt.Errorf("rule %s: %w", r.ID, err)
		}
		rule.ahead = set.memory.newLookahead(rule.program)
		n := len(set.rules)
		set.rules = append(set.rules, rule)
		prefixes := literals(re)
		for _, s := range prefixes {
			a := anchorOf(s)
			a.begins = append(a.begins, n)
		}
		for _, s := range r.Keywords {
			a := anchorOf(s)
			a.keywords = append(a.keywords, n)
		}
		if set.rules[n].floating = len(prefixes) == 0; len(prefixes)+len(r.Keywords) == 0 {
			return nil, fmt.Errorf("rule %s has neither a literal nor a keyword", r.ID)
		}
	}
	set.trie = newTrie(list)
	for _, s := range list {
		set.prefixes.add(s)
	}
	return set, nil
}

// reportedGroup returns the group of a rule that holds the secret, in the form of [program]. It is
// the group that the rule names, else the first that takes part in the match. A group that repeats
// holds only its last repetition, so then the whole match is reported.
func reportedGroup(re *syntax.Regexp, named int) int {
	groups, repeated := 0, false
	var visit func(re *syntax.Regexp, inside bool)
	visit = func(re *syntax.Regexp, inside bool) {
		switch re.Op {
		case syntax.OpCapture:
			groups++
			repeated = repeated || inside
		case syntax.OpStar, syntax.OpPlus, syntax.OpRepeat:
			inside = true
		}
		for _, sub := range re.Sub {
			visit(sub, inside)
		}
	}
	visit(re, false)
	switch {
	case named > 0:
		return named
	case groups == 0 || repeated:
		return 0
	}
	return -1
}

func allowlists(files ...allowFile) ([]allowlist, error) {
	var out []allowlist
	for _, f := range files {
		if f.Condition == "AND" || f.RegexTarget == "line" { // AND: it also depends on the file
			continue
		}
		a := allowlist{match: f.RegexTarget == "match"}
		for _, pattern := range f.Regexes {
			if pattern == misanchored {
				continue
			}
			re, err := regexp.Compile(pattern)
			if err != nil {
				return nil, err
			}
			a.regexes = append(a.regexes, re)
		}
		if len(f.StopWords) > 0 {
			a.words = newTrie(f.StopWords)
		}
		if len(a.regexes) > 0 || a.words != nil {
			out = append(out, a)
		}
	}
	return out, nil
}

// allows reports whether the list allows a match.
func (a *allowlist) allows(secret, match string) bool {
	if a.words != nil && a.words.contains(secret) {
		return true
	}
	target := secret
	if a.match {
		target = match
	}
	return slices.ContainsFunc(a.regexes, func(re *regexp.Regexp) bool { return re.MatchString(target) })
}

// entropy returns the Shannon entropy in bits per character.
func entropy(secret string) float64 {
	counts, length := map[rune]int{}, 0
	for _, r := range secret {
		counts[r]++
		length++
	}
	sum := 0.0
	for _, n := range counts {
		p := float64(n) / float64(length)
		sum -= p * math.Log2(p)
	}
	return sum
}
