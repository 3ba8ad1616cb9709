package chart

import (
	"html/template"
	"strconv"
)

// Stack shows sums over time as bars, a part for each series. The first series is at the bottom.
type Stack struct {
	Frame
	Series []Series
}

// SVG draws the chart.
func (s Stack) SVG() template.HTML {
	series, steps := s.bounded(s.Series)
	var most float64
	for i := range steps {
		most = max(most, sum(series, i))
	}
	axis := s.Unit.scaleTo(most)
	d := &drawing{}
	d.open("chart stack", s.ID, s.Title, s.Desc)
	d.values(s.Unit, axis)
	if steps > 0 {
		d.bars(series, steps, axis.top, nil)
		d.times(&s.Frame, steps)
		d.hits(&s.Frame, steps, func(step int) { s.tip(d, series, step) })
	}
	return d.close()
}

// tip lists the parts of a bar as they are seen, the uppermost first.
func (s *Stack) tip(d *drawing, series []Series, step int) {
	total, parts := sum(series, step), 0
	for i := len(series) - 1; i >= 0; i-- {
		if v := series[i].amount(step); v > 0 {
			d.text("\n" + name(series[i].Name) + ": " + s.in(v))
			parts++
		}
	}
	switch {
	case parts == 0:
		d.text("\nnone")
	case parts > 1:
		d.text("\nTotal: " + s.in(total))
	}
}

func sum(series []Series, step int) (total float64) {
	for i := range series {
		total += series[i].amount(step)
	}
	return total
}

// bar returns the free place left of the bar of a step and the width of the bar, in units of the plot.
// A few bars are no wider than those of a chart of ten.
func bar(steps int) (gap, width int) {
	width = min(80*max(steps, 1)/10, 80)
	return (stepWidth - width) / 2, width
}

// bars draws a path for each series, with a rectangle for each step in which it has a part. The
// parts of a step end where the sum of the values so far does, so that rounding does not add up.
// least is how high a part is at least.
func (d *drawing) bars(series []Series, steps int, top float64, least func(*Series) int) {
	below := make([]float64, steps)
	edge := make([]int, steps) // where the part below ends
	gap, width := bar(steps)
	d.plot(steps)
	for i := range series {
		s := &series[i]
		d.raw(`<path class="`, s.class(i), `" d="`)
		for step := range steps {
			v := s.amount(step)
			if v == 0 {
				continue
			}
			below[step] += v
			from, to := edge[step], height(below[step], top)
			if least != nil {
				to = max(to, from+least(s))
			}
			if to = min(to, plotHeight); to == from {
				continue
			}
			edge[step] = to
			d.raw(`M`, strconv.Itoa(step*stepWidth+gap), ` `, strconv.Itoa(plotHeight-from), `v-`, strconv.Itoa(to-from), `h`, strconv.Itoa(width), `v`, strconv.Itoa(to-from), `z`)
		}
		d.raw(`"/>`)
	}
	d.raw(`</svg>`)
}
