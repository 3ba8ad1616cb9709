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

// The rule set is that of gitleaks v8.30.1 (MIT, see rules/LICENSE), as it is.
// Its Go module would bring thirty others along that nobody here needs, and
// the rules are but one file of it.
//
//go:generate go run rules/update.go v8.30.1
//go:embed rules/gitleaks.toml
var gitleaks string

// ruleFile is what is read of gitleaks' configuration.
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

// allowFile is a list of what is no secret. Paths and commits do not apply to
// a text that comes from no file. Left out are lists that look at the rest of
// the line, and misanchored: whoever writes a text could hide a secret with
// them.
type allowFile struct {
	Condition   string
	RegexTarget string
	Regexes     []string
	StopWords   []string
}

// secretSet is the compiled rule set.
type secretSet struct {
	rules   []secretRule
	trie    *trie // of the strings that rules are known by
	strings []known
	back    int // how far behind the start of a match its string may end
	allowed []allowance
}

// known is a string of the trie: what it means where it stands.
type known struct {
	length   int
	begins   []begin // rules whose matches it is in
	keywords []int   // rules it is a keyword of
}

// begin says where a match of a rule may begin that a string is in.
type begin struct {
	rule int
	back int // at most so many characters before the string
}

// secretRule is one compiled rule.
type secretRule struct {
	id      string
	program *program
	entropy float64
	keyword bool // one of its keywords must have been read
	late    bool // matches are known by no string: they are sought once a keyword was read
	allowed []allowance
}

// misanchored allows any secret with "false" in it. What it is meant for is
// too short for every rule.
const misanchored = `(?i)^true|false|null$`

// allowance tells what is no secret though it looks like one.
type allowance struct {
	match   bool // the expressions are tried on the match, not on the secret
	regexes []*regexp.Regexp
	words   *trie
}

// defaultSecrets compiles the rule set, once, when the first guardrail needs it.
var defaultSecrets = sync.OnceValues(func() (*secretSet, error) { return parseSecrets(gitleaks) })

func parseSecrets(text string) (*secretSet, error) {
	var file ruleFile
	if _, err := toml.Decode(text, &file); err != nil {
		return nil, fmt.Errorf("reading the rule set: %w", err)
	}
	set := &secretSet{}
	var err error
	if set.allowed, err = allowances(file.Allowlist); err != nil {
		return nil, err
	}
	var list []string
	place := func(s string) *known {
		s = strings.ToLower(s)
		i := slices.Index(list, s)
		if i < 0 {
			i = len(list)
			list = append(list, s)
			set.strings = append(set.strings, known{length: len(s)})
		}
		return &set.strings[i]
	}
	for _, r := range file.Rules {
		if r.Regex == "" || r.Path != "" { // it is about files of some name
			continue
		}
		rule := secretRule{id: r.ID, entropy: r.Entropy, keyword: len(r.Keywords) > 0}
		if rule.allowed, err = allowances(r.Allowlists...); err != nil {
			return nil, fmt.Errorf("rule %s: %w", r.ID, err)
		}
		re, err := syntax.Parse(r.Regex, syntax.Perl)
		if err != nil {
			return nil, fmt.Errorf("rule %s: %w", r.ID, err)
		}
		re = unlead(re)
		if rule.program, err = newProgram(re, reported(re, r.SecretGroup)); err != nil {
			return nil, fmt.Errorf("rule %s: %w", r.ID, err)
		}
		n := len(set.rules)
		set.rules = append(set.rules, rule)
		begins := literals(re)
		for _, s := range begins {
			k := place(s)
			k.begins = append(k.begins, begin{rule: n})
		}
		for _, s := range r.Keywords {
			k := place(s)
			k.keywords = append(k.keywords, n)
		}
		if len(begins) > 0 {
			continue
		}
		if s, back, ok := inner(re, rule.program.group); ok {
			k := place(s)
			k.begins = append(k.begins, begin{n, back})
			set.back = max(set.back, back+len(s))
			continue
		}
		if set.rules[n].late = true; len(r.Keywords) == 0 {
			return nil, fmt.Errorf("rule %s has neither a literal nor a keyword", r.ID)
		}
	}
	set.trie = newTrie(list)
	return set, nil
}

func allowances(files ...allowFile) ([]allowance, error) {
	var out []allowance
	for _, f := range files {
		if f.Condition == "AND" || f.RegexTarget == "line" { // AND: also in some file
			continue
		}
		a := allowance{match: f.RegexTarget == "match"}
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

// has tells whether the list allows a find.
func (a *allowance) has(secret, match []rune) bool {
	if a.words != nil && a.words.contains(secret) {
		return true
	}
	target := secret
	if a.match {
		target = match
	}
	text := string(target)
	return slices.ContainsFunc(a.regexes, func(re *regexp.Regexp) bool { return re.MatchString(text) })
}

// entropy is that of Shannon, in bits a character.
func entropy(secret []rune) float64 {
	counts := map[rune]int{}
	for _, r := range secret {
		counts[r]++
	}
	sum := 0.0
	for _, n := range counts {
		p := float64(n) / float64(len(secret))
		sum -= p * math.Log2(p)
	}
	return sum
}
