package detect

import "strings"

// Clean reports whether a text certainly contains nothing that the rules look for. The text is that
// of a valid JSON string, given without its quotes, and need not be decoded for it. Most texts are
// clean.
//
// It relies on this: without \u and \/, escapes stand for quotes, backslashes and control
// characters, which no anchor of a secret, no address and no card number contains. So these are in
// the string as they are in the text, and what only looks like one costs no more than time.
func (m *Matcher) Clean(raw string) bool {
	if len(raw) > blockSize || escapesAny(raw) {
		return false
	}
	for i := range m.rules {
		if clean := m.rules[i].Detector.clean; clean == nil || !clean(raw) {
			return false
		}
	}
	return true
}

// escapesAny reports whether a JSON string may have an escape that stands for any character.
func escapesAny(raw string) bool {
	at := 0
	for ; at+8 <= len(raw); at += 7 {
		x := load(raw, at)
		if next := hasByte(x, 'u') | hasByte(x, '/'); hasByte(x, '\\')&(next>>8) != 0 {
			return true
		}
	}
	return strings.Contains(raw[at:], `\u`) || strings.Contains(raw[at:], `\/`)
}

// hasByte marks the bytes of eight that are c, by their highest bit. It may mark others above one.
func hasByte(eight uint64, c byte) uint64 {
	const each = 0x0101010101010101
	eight ^= uint64(c) * each
	return (eight - each) &^ eight & highBits
}

func cleanOfAddresses(raw string) bool { return strings.IndexByte(raw, '@') < 0 }

func cleanOfCards(raw string) bool {
	from, _ := cardRun(raw, 0)
	return len(raw)-from < minCard
}

// cleanOf is Clean for one rule. At each anchor it tries whether a match can begin there.
func (set *secretSet) cleanOf(raw string) bool {
	if set.escaped || foldsToASCII(raw) {
		return false
	}
	budget := aheadFactor * len(raw)
	for at, state := 0, int32(0); at < len(raw); {
		at, state = set.trie.find(&set.prefixes, raw, at, state)
		for _, i := range set.trie.outs[state] {
			a := &set.anchors[i]
			if !set.isVainAnchor(a, raw, at-a.length, &budget) {
				return false
			}
		}
	}
	return true
}

func (set *secretSet) isVainAnchor(a *anchor, raw string, at int, budget *int) bool {
	for _, i := range a.keywords {
		if set.rules[i].floating {
			return false
		}
	}
	for _, m := range a.matches {
		if m.back > 0 || at == 0 {
			return false
		}
		vain, n := set.rules[m.rule].ahead.fails(raw, at, min(*budget, maxAhead), true)
		if *budget -= n; !vain {
			return false
		}
	}
	return true
}

// foldsToASCII reports whether a text contains the letters outside ASCII that are equal to s and k
// where case is ignored.
func foldsToASCII(text string) bool {
	return strings.Contains(text, "\u017f") || strings.Contains(text, "\u212a")
}
