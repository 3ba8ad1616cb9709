// Package terminal shows the activity and its series in a terminal: aligned tables, and bars of block
// characters, or of ASCII where the locale has none. It reads the answers of the admin API.
//
//	err := terminal.Activity(os.Stdout, answer)
//	err := terminal.Series(os.Stdout, answer, "cost")
package terminal

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// grid is a table whose columns of numbers are aligned right.
type grid struct {
	columns []gridColumn
	rows    [][]string
}

type gridColumn struct {
	name  string
	right bool
	drop  int // columns with a number above 0 are left out of a narrow terminal, the lowest first
}

// maxCell bounds a cell, in characters: callers choose some names.
const maxCell = 48

// print prints the table, without the columns for which a terminal is too narrow.
func (g *grid) print(w io.Writer, t screen) {
	widths := make([]int, len(g.columns))
	head := make([]string, len(g.columns))
	for i, c := range g.columns {
		head[i], widths[i] = c.name, len(c.name)
	}
	for _, row := range g.rows {
		for i := range row {
			row[i] = cell(row[i])
			widths[i] = max(widths[i], utf8.RuneCountInString(row[i]))
		}
	}
	dropped := g.tooMuch(widths, t.columns)
	for _, row := range append([][]string{head}, g.rows...) {
		var line strings.Builder
		for i, cell := range row {
			if g.columns[i].drop > 0 && g.columns[i].drop <= dropped {
				continue
			}
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if g.columns[i].right {
				cell = pad + cell
			} else {
				cell += pad
			}
			if i > 0 {
				line.WriteString("  ")
			}
			line.WriteString(cell)
		}
		fmt.Fprintln(w, strings.TrimRight(line.String(), " "))
	}
}

// tooMuch returns up to which number columns have to be left out, so that a line fits; 0: none, also
// if the others would not fit either.
func (g *grid) tooMuch(widths []int, room int) (dropped int) {
	need, most := -2, 0
	for i, width := range widths {
		need, most = need+width+2, max(most, g.columns[i].drop)
	}
	for ; room > 0 && need > room && dropped < most; dropped++ {
		for i, c := range g.columns {
			if c.drop == dropped+1 {
				need -= widths[i] + 2
			}
		}
	}
	if need > room {
		return 0
	}
	return dropped
}

// KeyName is the name of a key as a table shows it. That of a key made at run time is a SHA-256: its
// beginning is enough for `caddy gatehouse key show`.
func KeyName(name string) string {
	if len(name) == 64 && strings.Trim(name, "0123456789abcdef") == "" {
		return name[:ShortHash]
	}
	return name
}

// ShortHash is how many digits of the hash of a key a table shows.
const ShortHash = 12

// Printable replaces what would change a terminal. Names of models and keys, and paths, come from
// callers.
func Printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, text)
}

// cell shortens a name and takes out what a terminal would obey.
func cell(s string) string {
	s = Printable(s)
	if utf8.RuneCountInString(s) > maxCell {
		s = string([]rune(s)[:maxCell-3]) + "..."
	}
	return s
}

// screen is what bars are drawn with.
type screen struct {
	width   int
	unicode bool
	columns int // of a terminal; 0 for a file or pipe, whose lines can have any length
}

const (
	defaultWidth = 80
	minWidth     = 40
	maxWidth     = 160
)

// screenOf returns the width of out, or a default if it is none, and whether the locale has block
// characters. COLUMNS wins, as for other programs.
func screenOf(out io.Writer) screen {
	t := screen{width: defaultWidth}
	if f, ok := out.(*os.File); ok {
		if width, ok := widthOf(f); ok {
			t.width, t.columns = width, width
		}
	}
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 {
		t.width = n
	}
	t.width = min(max(t.width, minWidth), maxWidth)
	t.unicode = hasBlocks()
	return t
}

// hasBlocks reports whether the locale has block characters.
func hasBlocks() bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} { // the first that is set is the locale: POSIX
		if locale := os.Getenv(name); locale != "" {
			locale = strings.ReplaceAll(strings.ToUpper(locale), "-", "")
			return strings.Contains(locale, "UTF8") && os.Getenv("TERM") != "linux"
		}
	}
	return false
}

// Shades are three characters for the parts of a bar.
func Shades() (light, medium, dark string) {
	if hasBlocks() {
		return "░", "▒", "█"
	}
	return ".", "-", "#"
}

// bar is a bar of a value in at most width characters; most fills them. A value above 0 is visible.
func (t screen) bar(value, most float64, width int) string {
	if value <= 0 || most <= 0 {
		return ""
	}
	if !t.unicode {
		return strings.Repeat("#", max(1, int(value/most*float64(width)+0.5)))
	}
	eighths := max(1, int(value/most*float64(width)*8+0.5))
	bar := strings.Repeat("█", eighths/8)
	if rest := eighths % 8; rest > 0 {
		bar += string([]rune("▏▎▍▌▋▊▉")[rest-1])
	}
	return bar
}

// sparkline is a line of values, one character each; 0 is a blank.
func (t screen) sparkline(values []float64) string {
	levels := []rune("_.-=*#")
	if t.unicode {
		levels = []rune("▁▂▃▄▅▆▇█")
	}
	most := 0.0
	for _, v := range values {
		most = max(most, v)
	}
	line := make([]rune, len(values))
	for i, v := range values {
		line[i] = ' '
		if v > 0 {
			line[i] = levels[min(int(v/most*float64(len(levels))), len(levels)-1)]
		}
	}
	return string(line)
}

// compact is a count in at most five characters: 950, 12.3k, 4.56M.
func compact(n int64) string {
	v, unit := float64(n), ""
	for _, u := range []string{"k", "M", "G", "T"} {
		if v < 999.5 {
			break
		}
		v, unit = v/1000, u
	}
	if unit == "" {
		return strconv.FormatInt(n, 10)
	}
	return significant(v) + unit
}

// significant has three digits.
func significant(v float64) string {
	digits := 2
	switch {
	case v >= 99.95:
		digits = 0
	case v >= 9.995:
		digits = 1
	}
	return strconv.FormatFloat(v, 'f', digits, 64)
}

// Duration is one of milliseconds: 340us, 12.5ms, 1.28s, 4m05s, 3h20m.
func Duration(ms float64) string {
	switch {
	case ms <= 0:
		return "-"
	case ms < 0.9995:
		return strconv.FormatFloat(ms*1000, 'f', 0, 64) + "us"
	case ms < 999.5:
		return significant(ms) + "ms"
	case ms < 99_950:
		return significant(ms/1000) + "s"
	}
	s := int64(ms/1000 + 0.5)
	if s < 3600 {
		return fmt.Sprintf("%dm%02ds", s/60, s%60)
	}
	return fmt.Sprintf("%dh%02dm", s/3600, s%3600/60)
}
