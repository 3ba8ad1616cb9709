package chart

import (
	"strings"
	"testing"
	"time"
)

func TestAnAxisHasRoundNumbers(t *testing.T) {
	const second, minute, hour = 1e3, 60e3, 3600e3
	for _, c := range []struct {
		unit Unit
		most float64
		want string
	}{
		{Count, 0, "0 1"},
		{Count, 1, "0 1"},
		{Count, 3, "0 1 2 3"},
		{Count, 7, "0 2 4 6 8"},
		{Count, 99, "0 20 40 60 80 100"},
		{Count, 1234, "0 250 500 750 1k 1.25k"},
		{Count, 2_400_000, "0 500k 1M 1.5M 2M 2.5M"},
		{Count, 9e15, "0 2000T 4000T 6000T 8000T 1e+16"},
		{USD, 0.0000021, "0 $0.0000005 $0.000001 $0.0000015 $0.000002 $0.0000025"},
		{USD, 0.07, "0 $0.02 $0.04 $0.06 $0.08"},
		{USD, 1.1, "0 $0.25 $0.50 $0.75 $1 $1.25"},
		{USD, 12, "0 $2.50 $5 $7.50 $10 $12.50"},
		{USD, 4999, "0 $1k $2k $3k $4k $5k"},
		{Milliseconds, 0.8, "0 0.2 ms 0.4 ms 0.6 ms 0.8 ms"},
		{Milliseconds, 1400, "0 500 ms 1 s 1.5 s"},
		{Milliseconds, 14 * second, "0 5 s 10 s 15 s"},
		{Milliseconds, 100 * second, "0 30 s 60 s 90 s 2 min"},
		{Milliseconds, 9 * minute, "0 2 min 4 min 6 min 8 min 10 min"},
		{Milliseconds, 5 * hour, "0 1 h 2 h 3 h 4 h 5 h"},
		{Milliseconds, 100 * hour, "0 24 h 48 h 72 h 96 h 120 h"},
		{Rate, 83.5, "0 20 40 60 80 100"},
	} {
		axis := c.unit.scaleTo(c.most)
		var got []string
		for i := range int(axis.top/axis.step + 1.5) {
			got = append(got, c.unit.Tick(float64(i)*axis.step))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("up to %v: %s, want %s", c.most, strings.Join(got, " "), c.want)
		}
	}
}

// Midnights have dates. What a narrow chart leaves out is in brackets.
func TestAnAxisOfTimeHasHoursOrDates(t *testing.T) {
	const day = 24 * time.Hour
	for _, c := range []struct {
		steps int
		step  time.Duration
		want  string
	}{
		{20, time.Minute, "21:00 [21:05] 21:10 [21:15]"},
		{60, time.Minute, "21:00 [21:10] 21:20 [21:30] 21:40 [21:50]"},
		{180, time.Minute, "21:00 [21:30] 22:00 [22:30] 23:00 [23:30]"},
		{300, time.Minute, "[21:00] 22:00 [23:00] Mon 23 [01:00]"},
		{2, time.Hour, "[21:00] 22:00"},
		{24, time.Hour, "[21:00] Mon 23 [03:00] 06:00 [09:00] 12:00 [15:00] 18:00"},
		{72, time.Hour, "Mon 23 Nov [12:00] Tue 24 Nov [12:00] Wed 25 Nov [12:00]"},
		{168, time.Hour, "Mon 23 Nov [Tue 24] [Wed 25] Thu 26 [Fri 27] [Sat 28] [Sun 29]"},
		{720, time.Hour, "Mon 23 Nov [Mon 30 Nov] Mon 7 Dec [Mon 14 Dec]"},
		{7, day, "22 Nov [23 Nov] 24 Nov [25 Nov] 26 Nov [27 Nov] 28 Nov"},
		{30, day, "23 Nov 30 Nov 7 Dec 14 Dec"},
		{90, day, "Dec 2027 Feb"},
		{400, day, "Dec [2027] Feb [Mar] Apr [May] Jun [Jul] Aug [Sep] Oct [Nov] Dec"},
	} {
		f := frame(Count, c.step)
		if c.step == day {
			f.From = evening.Truncate(day)
		}
		series := []Series{{Values: make([]float64, c.steps)}}
		var got []string
		for _, g := range parse(t, Stack{f, series}.SVG()).all("g") {
			if class := g.attr("class"); strings.HasPrefix(class, "time ") || class == "time" {
				text := g.all("text")[0].Text
				if strings.Contains(class, " wide") {
					text = "[" + text + "]"
				}
				got = append(got, text)
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%d steps of %v: %s\nwant %s", c.steps, c.step, strings.Join(got, " "), c.want)
		}
	}
}

// Which labels there are depends on when the chart begins.
func TestLabelsDoNotTouchWheneverTheChartBegins(t *testing.T) {
	const plain, bold, space = 6.2, 7, 3 // pixels of a character, at most, and between labels
	for _, c := range []struct {
		steps int
		step  time.Duration
	}{{60, time.Minute}, {300, time.Minute}, {24, time.Hour}, {25, time.Hour}, {48, time.Hour}, {168, time.Hour}, {720, time.Hour}, {7, 24 * time.Hour}, {30, 24 * time.Hour}, {90, 24 * time.Hour}, {400, 24 * time.Hour}} {
		for late := range 60 {
			f := frame(Count, c.step)
			f.From = f.From.Truncate(24 * time.Hour).Add(time.Duration(late) * c.step)
			for _, width := range []float64{wideChart, narrowChart} {
				var last *mark
				for _, m := range f.marks(c.steps) {
					if m.fine && width == narrowChart {
						continue
					}
					if last != nil {
						size := plain
						if last.major {
							size = bold
						}
						if room := float64(m.step-last.step) / float64(c.steps) * width; float64(len(last.text))*size+space > room {
							t.Errorf("%d steps of %v from %v, %v px wide: %q has %.0f px before %q", c.steps, c.step, f.From, width, last.text, room, m.text)
						}
					}
					last = &m
				}
			}
		}
	}
}

func TestATooltipSaysWhichStepItIs(t *testing.T) {
	f := frame(Count, time.Hour)
	if got, want := f.when(1), "Sun 22 Nov 2026, 22:00–23:00 UTC"; got != want {
		t.Errorf("an hour is %q, want %q", got, want)
	}
	f.Step = 24 * time.Hour
	if got, want := f.when(0), "Sun 22 Nov 2026, UTC"; got != want {
		t.Errorf("a day is %q, want %q", got, want)
	}
}
