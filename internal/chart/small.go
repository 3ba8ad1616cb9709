package chart

import (
	"html/template"
)

// Strip is a small chart of requests over time, those that failed at the bottom, without an axis of
// values: it stands above a table.
type Strip struct {
	Frame
	Requests, Errors []float64
}

// leastError is how high a step's errors are at least: one in a thousand must be seen.
const leastError = plotHeight / 16

// SVG draws the chart.
func (s Strip) SVG() template.HTML {
	answered := Series{Name: "answered", Class: "s1", Values: make([]float64, len(s.Requests))}
	failed := Series{Name: "failed", Class: "error", Values: s.Errors}
	all := Series{Values: s.Requests}
	var most float64
	for i := range s.Requests {
		answered.Values[i] = max(all.amount(i)-failed.amount(i), 0)
		most = max(most, all.amount(i), failed.amount(i))
	}
	failed.Values = failed.Values[:min(len(failed.Values), len(s.Requests))]
	series, steps := s.bounded([]Series{failed, answered})
	d := &drawing{}
	d.open("chart strip", s.ID, s.Title, s.Desc)
	if steps > 0 {
		d.raw(`<line class="zero" x1="0" x2="100%" y1="100%" y2="100%"/>`)
		d.bars(series, steps, Count.scaleTo(most).top, func(s *Series) int {
			if s.Class == "error" {
				return leastError
			}
			return 0
		})
		d.times(&s.Frame, steps)
		d.hits(&s.Frame, steps, func(step int) {
			total, errors := sum(series, step), series[0].amount(step)
			d.text("\n" + s.in(total) + " requests, " + s.in(errors) + " of them failed")
		})
	}
	return d.close()
}

// Sparkline is a line without axes, beside a figure that says what it is about.
type Sparkline struct {
	ID, Title string
	Values    []float64
	Class     string // a series, or error; default: s1
}

// SVG draws the chart.
func (s Sparkline) SVG() template.HTML {
	line := Series{Values: s.Values, Class: s.Class}
	line.Values = line.Values[max(len(line.Values)-MaxPoints, 0):]
	var most float64
	for i := range line.Values {
		most = max(most, line.amount(i))
	}
	d := &drawing{}
	d.open("spark", s.ID, s.Title, "")
	if n := len(line.Values); n > 0 {
		if most == 0 {
			most = 1
		}
		path, dots := linePath(&line, n, most)
		d.plot(n)
		d.raw(`<path class="area `, line.class(0), `" d="`, areaPath(&line, n, most), `"/><path class="`, line.class(0), `" d="`, path, dots, `"/></svg>`)
	}
	return d.close()
}

// areaPath closes each part of the line down to 0.
func areaPath(s *Series, steps int, top float64) string {
	var path []byte
	open := false
	for step := range steps {
		v, ok := s.at(step)
		if !ok {
			continue
		}
		if !open {
			path = appendPoint(path, 'M', step, plotHeight)
			open = true
		}
		path = appendPoint(path, 'L', step, plotHeight-height(v, top))
		if _, more := s.at(step + 1); !more {
			path = append(appendPoint(path, 'L', step, plotHeight), 'z')
			open = false
		}
	}
	return string(path)
}

// Phases shows parts of a duration one after the other, as a bar.
type Phases struct {
	ID, Title string
	Parts     []Phase
}

// Phase is a part of a duration.
type Phase struct {
	Name         string
	Class        string
	Milliseconds float64
	Text         string // the duration in its tooltip
}

// maxPhases bounds the parts of a bar.
const maxPhases = 32

// SVG draws the bar.
func (p Phases) SVG() template.HTML {
	durations := Series{}
	for _, part := range p.Parts[:min(len(p.Parts), maxPhases)] {
		durations.Values = append(durations.Values, part.Milliseconds)
	}
	var total, done float64
	for i := range durations.Values {
		total += durations.amount(i)
	}
	d := &drawing{}
	d.open("phases", p.ID, p.Title, "")
	d.raw(`<rect class="track" width="100%" height="100%"/>`)
	for i := range durations.Values {
		v := durations.amount(i)
		if v == 0 {
			continue
		}
		d.raw(`<rect class="`, identifier(p.Parts[i].Class), `" x="`, percent(done, total), `" width="`, percent(v, total), `" height="100%"><title>`)
		d.text(name(p.Parts[i].Name) + ": " + p.Parts[i].Text).raw(`</title></rect>`)
		done += v
	}
	return d.close()
}

// Share is a part of a whole as a short bar, beside its figure in a table.
func Share(class string, part float64) template.HTML {
	d := &drawing{}
	d.raw(`<svg class="share `, identifier(class), `" aria-hidden="true">`)
	if part > 0 {
		d.raw(`<rect width="`, percent(min(part, 1), 1), `" height="100%"/>`)
	}
	return d.close()
}
