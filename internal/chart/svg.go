package chart

import (
	"html"
	"html/template"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// drawing is SVG under way.
type drawing struct{ b strings.Builder }

// open begins the image of a chart: to a screen reader it is its title and description.
func (d *drawing) open(class, id, title, desc string) {
	id = identifier(id)
	d.raw(`<svg class="`, class, `" role="img" aria-labelledby="`, id, `-title`)
	if desc != "" {
		d.raw(` `, id, `-desc`)
	}
	d.raw(`"><title id="`, id, `-title">`).text(title).raw(`</title>`)
	if desc != "" {
		d.raw(`<desc id="`, id, `-desc">`).text(desc).raw(`</desc>`)
	}
}

func (d *drawing) close() template.HTML {
	d.raw("</svg>")
	return template.HTML(d.b.String()) //nolint:gosec // raw is only called with constants, numbers and identifiers
}

// raw appends markup of this package and numbers.
func (d *drawing) raw(parts ...string) *drawing {
	for _, p := range parts {
		d.b.WriteString(p)
	}
	return d
}

// text appends a text that may have come from anywhere.
func (d *drawing) text(s string) *drawing {
	d.b.WriteString(html.EscapeString(clean(s)))
	return d
}

// clean leaves out what no XML document may have, and control characters other than a new line.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && unicode.IsControl(r) || r == 0xFFFE || r == 0xFFFF {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

// name is a name in a sentence: of bounded length, and isolated, so that one from right to left does
// not turn the text around it.
func name(s string) string {
	s = strings.ReplaceAll(clean(s), "\n", " ")
	if utf8.RuneCountInString(s) > maxName {
		s = string([]rune(s)[:maxName-1]) + "…"
	}
	return "\u2068" + s + "\u2069"
}

// identifier leaves letters, digits and hyphens.
func identifier(s string) string {
	return strings.Map(func(r rune) rune {
		if r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '-') {
			return r
		}
		return -1
	}, s)
}

// number is a coordinate with at most three decimals.
func number(v float64) string {
	v = math.Round(v*1000) / 1000
	if v == 0 { // and -0
		return "0"
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

// percent is the share part/of as an attribute's value.
func percent(part, of float64) string { return number(100*part/of) + "%" }

// step is the width of a step in the plot's own units, plotHeight the height of the plot in them.
// They are stretched to the size of the chart; strokes are not.
const (
	stepWidth  = 100
	plotHeight = 10000
)

// plot begins the part that is stretched.
func (d *drawing) plot(steps int) *drawing {
	return d.raw(`<svg class="plot" viewBox="0 0 `, strconv.Itoa(steps*stepWidth), ` `, strconv.Itoa(plotHeight), `" preserveAspectRatio="none">`)
}

// height is a value in units of the plot.
func height(v, top float64) int { return int(math.Round(min(v/top, 1) * plotHeight)) }
