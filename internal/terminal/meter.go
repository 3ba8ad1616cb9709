package terminal

import (
	"io"
	"strings"
	"unicode/utf8"
)

// meterCells is the width of a meter, in characters.
const meterCells = 10

// Meter returns what draws a share as a bar of a fixed width. A share above 1 is drawn as 1, the least
// above 0 is visible, and only 1 fills the bar.
func Meter(out io.Writer) func(share float64) string {
	t := screenOf(out)
	rest := "."
	if t.unicode {
		rest = "·"
	}
	return func(share float64) string {
		bar := t.bar(min(share, 1), 1, meterCells)
		if full := utf8.RuneCountInString(bar) == meterCells; full && share < 1 {
			bar = t.bar(1-1.0/meterCells, 1, meterCells)
		}
		return bar + strings.Repeat(rest, meterCells-utf8.RuneCountInString(bar))
	}
}
