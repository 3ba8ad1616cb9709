package detect_test

import (
	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/detect"
)

// mark replaces what the rules of these tests take out.
const mark = "[REDACTED]"

// The default window of guardrails, and the largest one.
const (
	usualWindow   = 256
	largestWindow = 8192
)

func must(d *detect.Detector, err error) *detect.Detector {
	if err != nil {
		panic(err)
	}
	return d
}

// ruleSet is a list of rules, and the window for texts that come in pieces.
type ruleSet struct {
	rules  []detect.Rule
	window int
}

// redacting returns rules that take out what the detectors find.
func redacting(window int, detectors ...*detect.Detector) ruleSet {
	set := ruleSet{window: window}
	for _, d := range detectors {
		set.rules = append(set.rules, detect.Rule{Detector: d, Mark: mark})
	}
	return set
}

// whole redacts a whole text.
func (s ruleSet) whole(text string) string {
	edits, _ := detect.NewMatcher(s.rules, 0).Whole(text, "", nil)
	return string(detect.Apply(nil, text, edits))
}

// stretches returns what is taken out of a whole text, in bytes.
func (s ruleSet) stretches(text string) (spans [][2]int) {
	edits, _ := detect.NewMatcher(s.rules, 0).Whole(text, "", nil)
	for _, e := range edits {
		spans = append(spans, [2]int{e.From, e.To})
	}
	return spans
}

// held returns how many bytes of a text are held back after all of it was read.
func (s ruleSet) held(text string) int {
	m := detect.NewMatcher(s.rules, s.window)
	m.Scan(text)
	sent, _ := m.Settle(text, false)
	return len(text) - sent
}

// pieces redacts a text that comes in pieces. It returns what was settled, and whether a rule
// denied the rest.
func (s ruleSet) pieces(list []string) (sent string, denied bool) {
	m, held := detect.NewMatcher(s.rules, s.window), ""
	settle := func(last bool) {
		n, edits := m.Settle(held, last)
		sent += string(detect.Apply(nil, held[:n], edits))
		held = held[n:]
	}
	for _, piece := range list {
		held += piece
		if !m.Scan(piece) {
			return sent, true
		}
		settle(false)
	}
	if !m.End() {
		return sent, true
	}
	settle(true)
	return sent, false
}
