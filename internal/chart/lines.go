package chart

import (
	"html/template"
	"strconv"
)

// Lines shows values over time as lines. A step without a value is a gap, and a value between two
// gaps is a dot.
type Lines struct {
	Frame
	Series []Series
	// Counts has how many calls the values of a step are of, for its tooltip; it may be nil.
	Counts []int64
}

// SVG draws the chart.
func (l Lines) SVG() template.HTML {
	given := len(l.Series)
	series, steps := l.bounded(l.Series[:min(given, MaxSeries)])
	if dropped := len(l.Counts) - steps; dropped > 0 {
		l.Counts = l.Counts[dropped:]
	}
	var most float64
	for i := range series {
		for step := range steps {
			most = max(most, series[i].amount(step))
		}
	}
	axis := l.Unit.scaleTo(most)
	d := &drawing{}
	d.open("chart lines", l.ID, l.Title, l.Desc)
	d.values(l.Unit, axis)
	if steps > 0 {
		d.plot(steps)
		for i := range series {
			path, dots := linePath(&series[i], steps, axis.top)
			d.raw(`<path class="line`, strconv.Itoa(i+1), ` `, series[i].class(i), `" d="`, path, `"/>`)
			if dots != "" {
				d.raw(`<path class="dot `, series[i].class(i), `" d="`, dots, `"/>`)
			}
		}
		d.raw(`</svg>`)
		d.times(&l.Frame, steps)
		d.hits(&l.Frame, steps, func(step int) { l.tip(d, series, step) })
	}
	return d.close()
}

func (l *Lines) tip(d *drawing, series []Series, step int) {
	none := true
	for i := len(series) - 1; i >= 0; i-- {
		if v, ok := series[i].at(step); ok {
			d.text("\n" + name(series[i].Name) + ": " + l.in(v))
			none = false
		}
	}
	if none {
		d.text("\nno calls")
		return
	}
	if step < len(l.Counts) {
		d.text("\nof " + strconv.FormatInt(l.Counts[step], 10) + " calls")
	}
}

// linePath goes through the middle of each step that has a value. A value between two gaps is a line
// without a length, whose round ends are a dot.
func linePath(s *Series, steps int, top float64) (line, dots string) {
	var path, points []byte
	drawn := false
	for step := range steps {
		v, ok := s.at(step)
		if !ok {
			drawn = false
			continue
		}
		y := plotHeight - height(v, top)
		_, more := s.at(step + 1)
		switch {
		case drawn:
			path = appendPoint(path, 'L', step, y)
		case more:
			path = appendPoint(path, 'M', step, y)
		default:
			points = append(appendPoint(points, 'M', step, y), "h0"...)
		}
		drawn = true
	}
	return string(path), string(points)
}

// appendPoint appends a command of a path and the middle of a step.
func appendPoint(path []byte, command byte, step, y int) []byte {
	path = strconv.AppendInt(append(path, command), int64(step*stepWidth+stepWidth/2), 10)
	return strconv.AppendInt(append(path, ' '), int64(y), 10)
}
