package chart

import (
	"strconv"
	"time"
)

// A narrow chart hides the labels of this class.
const wideOnly = " wide"

// values draws the lines of the axis and their labels, which stand left of the plot.
func (d *drawing) values(u Unit, s scale) {
	d.raw(`<g class="values">`)
	lines := int(s.top/s.step + 0.5)
	for i := range lines + 1 {
		y := percent(float64(lines-i), float64(lines))
		d.raw(`<line x1="0" x2="100%" y1="`, y, `" y2="`, y, `"`)
		if i == 0 {
			d.raw(` class="zero"`)
		}
		d.raw(`/><text x="-8" y="`, y, `" dy="0.32em">`).text(u.Tick(float64(i) * s.step)).raw(`</text>`)
	}
	d.raw(`</g>`)
}

// mark is a label of the axis of time.
type mark struct {
	step  int
	text  string
	fine  bool // a narrow chart has no room for it
	major bool // the beginning of a day on an axis of hours, of a year on one of months
	clock bool // a time of day, which assets/js/time.js can write in another zone
}

// times draws the labels below the plot.
func (d *drawing) times(f *Frame, steps int) {
	marks := f.marks(steps)
	d.raw(`<g class="times"><text class="zone" x="-8" y="100%" dy="1.5em"`)
	if len(marks) > 0 && marks[0].clock {
		d.raw(` data-zone=""`)
	}
	d.raw(`>UTC</text>`)
	for _, m := range marks {
		right := 1 - float64(m.step)/float64(steps)
		if !m.fits(right * wideChart) {
			continue
		}
		class := ""
		if m.fine || !m.fits(right*narrowChart) {
			class += wideOnly
		}
		if m.major {
			class += " major"
		}
		x := percent(float64(m.step), float64(steps))
		d.raw(`<g class="time`, class, `"><line x1="`, x, `" x2="`, x, `" y1="0" y2="100%"/><text x="`, x, `" y="100%" dx="4" dy="1.5em"`)
		if m.clock {
			d.raw(` data-at="`, f.start(m.step).Format(time.RFC3339), `"`)
		}
		d.raw(`>`).text(m.text).raw(`</text></g>`)
	}
	d.raw(`</g>`)
}

// The least widths, in pixels, of the plot of a wide chart and of one on a phone.
const wideChart, narrowChart = 480, 230

// fits reports whether the label, which stands right of its mark, ends inside the chart.
func (m *mark) fits(right float64) bool {
	const character, margins = 7, -12 // the chart's margin is wider than the label's
	return float64(len(m.text)*character+margins) <= right
}

// marks returns the labels of an axis of time: minutes of hours, hours of a day, days of a week, weeks or months.
func (f *Frame) marks(steps int) (all []mark) {
	switch {
	case f.Step < time.Hour:
		return f.minuteMarks(steps)
	case f.Step < 24*time.Hour:
		return f.hourMarks(steps)
	}
	return f.dayMarks(steps)
}

// minuteMarks has at most six labels, or three in a narrow chart: so many dates stand side by side.
func (f *Frame) minuteMarks(steps int) (all []mark) {
	every := time.Hour
	for _, less := range []time.Duration{30 * time.Minute, 15 * time.Minute, 10 * time.Minute, 5 * time.Minute} {
		if time.Duration(steps)*f.Step <= 6*less {
			every = less
		}
	}
	for i := range steps {
		t := f.start(i)
		if !t.Truncate(every).Equal(t) {
			continue
		}
		m := mark{step: i, text: t.Format("15:04"), fine: !t.Truncate(2 * every).Equal(t), clock: true}
		if t.Hour() == 0 && t.Minute() == 0 {
			m.text, m.major = t.Format(shortDay), true
		}
		all = append(all, m)
	}
	return all
}

// shortDay is a date between times of day: a longer one would touch the next on a phone. The caption
// has the whole date.
const shortDay = "Mon 2"

func (f *Frame) hourMarks(steps int) (all []mark) {
	span := time.Duration(steps) * f.Step
	every := 24 // hours
	switch {
	case span <= 6*time.Hour:
		every = 1
	case span <= 36*time.Hour:
		every = 3
	case span <= 72*time.Hour:
		every = 12
	case span > 14*24*time.Hour:
		every = 7 * 24
	}
	n := 0
	for i := range steps {
		t := f.start(i)
		if t.Minute() != 0 || t.Hour()%min(every, 24) != 0 || every > 24 && t.Weekday() != time.Monday {
			continue
		}
		m := mark{step: i, text: t.Format("15:04"), clock: every < 12}
		midnight := t.Hour() == 0
		if midnight {
			m.text, m.major = t.Format("Mon 2 Jan"), every < 24
			if m.clock || every == 24 && n > 0 && t.Day() > 1 {
				m.text = t.Format(shortDay)
			}
		}
		switch {
		case every < 24:
			m.fine = t.Hour()%(2*every) != 0
		case every == 24:
			m.fine = n%3 != 0 // dates are wide
		default:
			m.fine = n%2 == 1
		}
		all = append(all, m)
		n++
	}
	return all
}

func (f *Frame) dayMarks(steps int) (all []mark) {
	n := 0
	for i := range steps {
		t := f.start(i)
		m := mark{step: i, text: t.Format("2 Jan")}
		switch {
		case steps <= 10:
			m.fine = i%2 == 1
		case steps <= 70: // weeks
			if t.Weekday() != time.Monday {
				continue
			}
			m.fine = steps > 35 && n%2 == 1
		default:
			if t.Day() != 1 {
				continue
			}
			if m.text = t.Format("Jan"); t.Month() == time.January {
				m.text, m.major = strconv.Itoa(t.Year()), true
			}
			m.fine = steps > 200 && n%2 == 1
		}
		all = append(all, m)
		n++
	}
	return all
}

// start is when a step begins.
func (f *Frame) start(step int) time.Time { return f.From.UTC().Add(time.Duration(step) * f.Step) }

// when names a step in a tooltip.
func (f *Frame) when(step int) string {
	t := f.start(step)
	if f.Step >= 24*time.Hour {
		return t.Format("Mon 2 Jan 2006, UTC")
	}
	return t.Format("Mon 2 Jan 2006, 15:04") + t.Add(f.Step).Format("–15:04 UTC")
}

// hits draws a tooltip for each step, over its whole height.
func (d *drawing) hits(f *Frame, steps int, tip func(step int)) {
	d.raw(`<g class="hits"`)
	if f.Step < 24*time.Hour { // days are those of UTC in every zone
		d.raw(` data-from="`, f.start(0).Format(time.RFC3339), `" data-step="`, strconv.Itoa(int(f.Step/time.Second)), `"`)
	}
	d.raw(`>`)
	for i := range steps {
		d.raw(`<rect x="`, percent(float64(i), float64(steps)), `" width="`, percent(1, float64(steps)), `" height="100%"><title>`).text(f.when(i))
		tip(i)
		d.raw(`</title></rect>`)
	}
	d.raw(`</g>`)
}
