// Package terminal shows the activity and its series in a terminal, as aligned tables. It reads the
// answers of the admin API.
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

// print prints the table, without the columns for which a terminal with that much room is too narrow.
func (g *grid) print(w io.Writer, room int) {
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
	dropped := g.tooMuch(widths, room)
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

// roomOf returns the width of a terminal; 0 for a file or pipe, whose lines can have any length.
func roomOf(out io.Writer) int {
	if f, ok := out.(*os.File); ok {
		return widthOf(f)
	}
	return 0
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
