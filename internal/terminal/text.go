package terminal

import (
	"fmt"
	"strings"
)

// Plural returns a count with its noun.
func Plural(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

// OrDash is the cell of a text that may be missing.
func OrDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

// Size returns bytes in a binary unit.
func Size(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.4g GiB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.4g MiB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.4g KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%d bytes", n)
}

// Subject is the owner of a limit as tables show it.
func Subject(subject string) string {
	if name, ok := strings.CutPrefix(subject, "key:"); ok {
		return "key:" + KeyName(name)
	}
	return subject
}

// TextWidth is the width of sentences: with NameWidth before it, a line fits into 100 columns.
const (
	NameWidth = 12
	TextWidth = 100 - NameWidth
)

// Wrap breaks a text into lines of at most TextWidth characters.
func Wrap(text string) string {
	var out strings.Builder
	width := 0
	for word := range strings.FieldsSeq(text) {
		if width > 0 && width+1+len(word) > TextWidth {
			out.WriteByte('\n')
			width = 0
		}
		if width > 0 {
			out.WriteByte(' ')
			width++
		}
		out.WriteString(word)
		width += len(word)
	}
	return out.String()
}
