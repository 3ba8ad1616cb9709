package chart

import (
	"math"
	"strconv"
	"strings"
)

// Unit is what the values of a chart are: it decides which numbers are round, and how the axis has
// them.
type Unit int

// The units.
const (
	Count        Unit = iota // requests, tokens
	USD                      // US dollars
	Milliseconds             // durations
	Rate                     // tokens per second
)

// scale is an axis from 0 to top with a line at each multiple of step.
type scale struct{ step, top float64 }

// maxLines is how many lines an axis has above 0.
const maxLines = 5

// scaleTo returns an axis with round steps that reaches a value.
func (u Unit) scaleTo(most float64) scale {
	if !(most > 0) {
		most = u.whole() // nothing to show: an axis of ordinary figures
	}
	step := u.roundUp(max(most/maxLines, u.least()))
	return scale{step, step * max(math.Ceil(most/step-1e-9), 1)}
}

// least is the smallest step of an axis.
func (u Unit) least() float64 {
	switch u {
	case Count:
		return 1
	case USD:
		return 1e-9
	default:
		return 1e-3
	}
}

// whole is an ordinary amount.
func (u Unit) whole() float64 {
	if u == Milliseconds {
		return 1000
	}
	return 1
}

// clockSteps are round durations from a second on, in milliseconds.
var clockSteps = func() (all []float64) {
	const second, minute, hour = 1e3, 60e3, 3600e3
	for _, s := range []float64{1, 2, 5, 10, 15, 30} {
		all = append(all, s*second)
	}
	for _, m := range []float64{1, 2, 5, 10, 15, 30} {
		all = append(all, m*minute)
	}
	for _, h := range []float64{1, 2, 3, 6, 12, 24} {
		all = append(all, h*hour)
	}
	return all
}()

// roundUp returns the round number at or above v.
func (u Unit) roundUp(v float64) float64 {
	if u == Milliseconds && v > 500 {
		for _, s := range clockSteps {
			if s >= v {
				return s
			}
		}
	}
	power := math.Pow(10, math.Floor(math.Log10(v)))
	for _, m := range []float64{1, 2, 2.5, 5} {
		if m == 2.5 && power*m < 10 && u != USD { // 2.5 requests are no number of requests
			continue
		}
		if m*power >= v*(1-1e-9) {
			return m * power
		}
	}
	return 10 * power
}

// Tick is a value as a label of the axis: short.
func (u Unit) Tick(v float64) string {
	switch {
	case v == 0:
		return "0"
	case u == USD:
		if v < 1000 {
			return "$" + dollars(v)
		}
		return "$" + short(v)
	case u == Milliseconds:
		return duration(v)
	}
	return short(v)
}

// short is a number with k, M, B or T.
func short(v float64) string {
	for _, s := range []struct {
		of   float64
		name string
	}{{1e12, "T"}, {1e9, "B"}, {1e6, "M"}, {1e3, "k"}} {
		if v >= s.of {
			if v >= 1e4*s.of {
				return strconv.FormatFloat(v, 'g', 3, 64)
			}
			return significant(v/s.of, 4) + s.name
		}
	}
	return significant(v, 3)
}

// significant is a number of that many digits, without zeros at its end.
func significant(v float64, digits int) string {
	if !(v > 0) {
		return "0"
	}
	decimals := digits - 1 - int(math.Floor(math.Log10(v)))
	text := strconv.FormatFloat(v, 'f', max(decimals, 0), 64)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}

// dollars has two decimals, and more for small amounts: 0.25, 12.50, 0.0025.
func dollars(v float64) string {
	text := significant(v, 3)
	whole, fraction, _ := strings.Cut(text, ".")
	if len(fraction) == 0 && v >= 1 {
		return whole
	}
	return whole + "." + fraction + strings.Repeat("0", max(2-len(fraction), 0))
}

// duration is a number of milliseconds in the unit that suits it.
func duration(ms float64) string {
	switch {
	case ms < 1e3-0.5:
		return significant(ms, 3) + " ms"
	case ms < 120e3:
		return significant(ms/1e3, 3) + " s"
	case ms < 3600e3:
		return significant(ms/60e3, 3) + " min"
	}
	return significant(ms/3600e3, 3) + " h"
}
