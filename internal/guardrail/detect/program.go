package detect

import (
	"errors"
	"fmt"
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// maxProgram is how many instructions a compiled expression may have. Each may cost a step for each
// character of a text.
const maxProgram = 10000

// program is a compiled expression.
type program struct {
	insts []syntax.Inst
	start uint32
	first [utf8.RuneSelf]bool // ASCII characters that a match may begin with
	other bool                // whether a match may begin with any other character
	empty bool                // whether a match may be empty
	group int                 // the group to report: 0 for the match, -1 for the first group that takes part

	// Every match contains this ASCII character, 0 for none, and only those of lead come before it.
	sign byte
	lead [256]bool
}

// parseProgram compiles a configured expression.
func parseProgram(pattern string) (*program, error) {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil, err
	}
	p, err := newProgram(re, 0)
	if err == nil && p.empty {
		return nil, errors.New("the pattern matches an empty text")
	}
	return p, err
}

func newProgram(re *syntax.Regexp, group int) (*program, error) {
	compiled, err := syntax.Compile(re.Simplify())
	if err != nil {
		return nil, err
	}
	if len(compiled.Inst) > maxProgram {
		return nil, fmt.Errorf("the pattern is too large: it needs %d steps for each character, the limit is %d", len(compiled.Inst), maxProgram)
	}
	p := &program{insts: compiled.Inst, start: uint32(compiled.Start), group: group}
	p.findFirst(p.start, make([]bool, len(p.insts)))
	return p, nil
}

// findFirst records what a match may begin with, and whether it may be empty. It ignores conditions
// such as \b.
func (p *program) findFirst(pc uint32, seen []bool) {
	for !seen[pc] {
		seen[pc] = true
		in := &p.insts[pc]
		switch in.Op {
		case syntax.InstAlt, syntax.InstAltMatch:
			p.findFirst(in.Out, seen)
			pc = in.Arg
		case syntax.InstCapture, syntax.InstEmptyWidth, syntax.InstNop:
			pc = in.Out
		case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
			for c := range p.first {
				p.first[c] = p.first[c] || in.MatchRune(rune(c))
			}
			p.other = p.other || mayMatchOther(in)
			return
		case syntax.InstMatch:
			p.empty = true
			return
		default:
			return
		}
	}
}

// mayMatchOther reports whether an instruction may match a character outside ASCII, by its ranges
// or because it folds case (U+017F folds to s, U+212A to k).
func mayMatchOther(in *syntax.Inst) bool {
	if in.Op == syntax.InstRuneAny || in.Op == syntax.InstRuneAnyNotNL {
		return true
	}
	if len(in.Rune) == 0 { // an empty class, such as [^\s\S]
		return false
	}
	return syntax.Flags(in.Arg)&syntax.FoldCase != 0 || in.Rune[len(in.Rune)-1] >= utf8.RuneSelf
}

// mayBegin reports whether a match may begin with r.
func (p *program) mayBegin(r rune) bool {
	if r < utf8.RuneSelf {
		return r >= 0 && p.first[r]
	}
	return p.other
}

// skip returns the first index of a text, not before at, where a match may begin. It may begin at
// any character from there to end.
func (p *program) skip(text string, at int) (from, end int) {
	if p.sign == 0 {
		for at < len(text) && text[at] < utf8.RuneSelf && !p.first[text[at]] {
			at++
		}
		return at, at
	}
	end = len(text) // a sign may follow
	if n := strings.IndexByte(text[at:], p.sign); n >= 0 {
		end = at + n
	}
	from = end
	for from > at && p.lead[text[from-1]] && (text[from-1] != '.' || from == end || text[from] != '.') {
		from--
	}
	if from < end && !p.first[text[from]] {
		from++
	}
	return from, end
}
