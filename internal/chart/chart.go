// Package chart draws charts as SVG.
//
//	svg := chart.Stack{Frame: chart.Frame{ID: "cost", Title: "Cost by model", Unit: chart.USD, From: from, Step: time.Hour}, Series: series}.SVG()
//
// A chart has no colours and no sizes but those of the classes in assets/css/chart.css of the
// console, and no style attribute, so it needs nothing from a Content-Security-Policy. It has no
// viewBox: positions are in percent of its width, and texts keep their size on a phone and on a wide
// screen. Of two labels of the axis a narrow chart shows one.
//
// A chart is one image to a screen reader, named by its title and described by its <desc>. The page
// prints the figures as a table beside it. All texts are escaped; what peers have sized is bounded.
package chart

import (
	"math"
	"time"
)

const (
	// MaxPoints bounds the steps of a chart: older ones are left out. It is what one answer of the
	// series route has.
	MaxPoints = 800
	// MaxSeries is how many series have a colour of their own. The rest is drawn as one.
	MaxSeries = 8
	// maxName bounds a name in a tooltip, in characters.
	maxName = 60
)

// Frame is what all charts over time have.
type Frame struct {
	// ID is unique on the page: letters, digits and hyphens. Other characters are left out.
	ID string
	// Title names the chart, Desc says in a sentence what it shows. Both are read to those who do not
	// see it.
	Title, Desc string
	Unit        Unit
	// Text writes a value with its unit in a tooltip. Default: as on the axis.
	Text func(float64) string
	// From is the start of the first step, in UTC, Step the length of each: a minute, an hour or a day.
	From time.Time
	Step time.Duration
}

// Series is a name with a value for each step.
type Series struct {
	Name string
	// Values has one value for each step. What is no number counts as none.
	Values []float64
	// Other reports whether this is the sum of what has no series of its own.
	Other bool
	// Class is the CSS class, if it is not to follow from the place in the list: "error".
	Class string
}

// Class is the CSS class of a series by its place: s1 to s8, or other.
func Class(place int) string {
	if place < 0 || place >= MaxSeries {
		return "other"
	}
	return "s" + string(rune('1'+place))
}

// class is the CSS class of a series at a place.
func (s *Series) class(place int) string {
	switch {
	case s.Class != "":
		return identifier(s.Class)
	case s.Other:
		return Class(MaxSeries)
	}
	return Class(place)
}

// in writes a value in a tooltip.
func (f *Frame) in(v float64) string {
	if f.Text == nil {
		return f.Unit.Tick(v)
	}
	return f.Text(v)
}

// at returns the value of a step, if there is one that can be drawn.
func (s *Series) at(step int) (float64, bool) {
	if step >= len(s.Values) {
		return 0, false
	}
	v := s.Values[step]
	if math.IsNaN(v) || math.IsInf(v, 0) || v < 0 {
		return 0, false
	}
	return min(v, maxValue), true
}

// amount is the value of a step, 0 if there is none.
func (s *Series) amount(step int) float64 {
	v, _ := s.at(step)
	return v
}

// maxValue bounds what is drawn, so that sums of values stay numbers.
const maxValue = 1e30

// bounded returns at most MaxSeries series and one of all others, with at most MaxPoints steps each,
// and how many steps there are. Frame moves to the first step that is left.
func (f *Frame) bounded(series []Series) (_ []Series, steps int) {
	for i := range series {
		steps = max(steps, len(series[i].Values))
	}
	drop := max(steps-MaxPoints, 0)
	f.From = f.From.Add(time.Duration(drop) * f.Step)
	steps -= drop
	kept := make([]Series, 0, MaxSeries+1)
	rest := Series{Name: "Other", Other: true, Values: make([]float64, steps)}
	more := false
	for _, s := range series {
		s.Values = s.Values[min(drop, len(s.Values)):]
		if !s.Other && len(kept) < MaxSeries {
			kept = append(kept, s)
			continue
		}
		if !more {
			rest.Name, more = s.Name, true
		} else {
			rest.Name = "Other"
		}
		for i := range rest.Values {
			rest.Values[i] += s.amount(i)
		}
	}
	if more {
		kept = append(kept, rest)
	}
	return kept, steps
}
