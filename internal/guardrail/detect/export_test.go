package detect

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

// SecretRule is a rule of the embedded rule set, as it is written there.
type SecretRule struct {
	ID       string
	Regex    *regexp.Regexp
	Group    int
	Entropy  float64
	Keywords []string

	all, own []allowlist
}

// SecretRules reads the rule set without the parts that make it fast, and without the rules about
// names of files.
func SecretRules() (list []SecretRule, err error) {
	var file ruleFile
	if _, err := toml.Decode(gitleaks, &file); err != nil {
		return nil, err
	}
	all, err := allowlists(file.Allowlist)
	if err != nil {
		return nil, err
	}
	for _, r := range file.Rules {
		if r.Regex == "" || r.Path != "" {
			continue
		}
		own, err := allowlists(r.Allowlists...)
		if err != nil {
			return nil, err
		}
		list = append(list, SecretRule{r.ID, regexp.MustCompile(r.Regex), r.SecretGroup, r.Entropy, r.Keywords, all, own})
	}
	return list, nil
}

// Find returns where the rule finds secrets in a text, by package regexp and the rules of gitleaks.
func (r *SecretRule) Find(text string) (spans [][2]int) {
	for _, m := range r.Regex.FindAllStringSubmatchIndex(text, -1) {
		from, to := m[0], m[1]
		for g := 1; 2*g < len(m); g++ {
			if (r.Group == g || r.Group == 0) && m[2*g] >= 0 && m[2*g] < m[2*g+1] && !repeats(r.Regex.String()) {
				from, to = m[2*g], m[2*g+1]
				break
			}
		}
		secret := text[from:to]
		if r.Entropy > 0 && entropy(secret) <= r.Entropy || !r.keyword(text[:m[1]]) {
			continue
		}
		has := func(a allowlist) bool { return a.allows(secret, text[m[0]:m[1]]) }
		if !slices.ContainsFunc(r.all, has) && !slices.ContainsFunc(r.own, has) {
			spans = append(spans, [2]int{from, to})
		}
	}
	return spans
}

// repeats reports whether a group in the pattern may match twice. Only one rule has such a group.
func repeats(pattern string) bool { return strings.Contains(pattern, "){3}") }

func (r *SecretRule) keyword(before string) bool {
	return len(r.Keywords) == 0 || slices.ContainsFunc(r.Keywords, func(k string) bool {
		return strings.Contains(strings.ToLower(before), strings.ToLower(k))
	})
}

// FindNested also returns the secrets within and across matches.
func (r *SecretRule) FindNested(text string) (spans [][2]int) {
	masked := []byte(text)
	for {
		spans = append(spans, r.Find(string(masked))...)
		m := r.Regex.FindIndex(masked)
		if m == nil {
			return spans
		}
		masked[m[0]] = 0x80 // one byte, and none of a word
	}
}

// EmailPattern is the expression of addresses.
const EmailPattern = emailPattern

// RuleSet returns the embedded rule set.
func RuleSet() string { return gitleaks }

// Occupy acquires the semaphore for long texts until free is called.
func Occupy() (free func()) {
	longTexts <- struct{}{}
	return func() { <-longTexts }
}

// SecretsOf returns a detector of the secrets of a rule set.
func SecretsOf(rules string) (*Detector, error) {
	set, err := parseSecrets(rules)
	if err != nil {
		return nil, err
	}
	return &Detector{newScanner: func() scanner { return newSecretScanner(set) }}, nil
}

// Running returns how many rules for secrets the first scanner of a matcher runs.
func Running(m *Matcher) int { return len(m.scanners[0].(*secretScanner).running) }

// Kept returns how many bytes of the text the first scanner of a matcher, one of secrets, keeps.
func Kept(m *Matcher) int { return len(m.scanners[0].(*secretScanner).text) }

// Literals returns the literals that begin the matches of an expression.
func Literals(pattern string) []string {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		panic(err)
	}
	return literals(re)
}

// Floating returns the rules of the embedded set that run at every character after a keyword.
func Floating() (ids []string) {
	set, err := defaultSecrets()
	if err != nil {
		panic(err)
	}
	for _, r := range set.rules {
		if r.floating {
			ids = append(ids, r.id)
		}
	}
	return ids
}

// FillAheadMemory makes the lookaheads of the embedded set start over at their next new state.
func FillAheadMemory() {
	set, err := defaultSecrets()
	if err != nil {
		panic(err)
	}
	set.memory.mu.Lock()
	defer set.memory.mu.Unlock()
	set.memory.size = maxAheadMemory
}
