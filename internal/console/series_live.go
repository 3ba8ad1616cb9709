package console

import (
	"maps"
	"net/url"
	"time"
)

const seriesRoute = "/api/v1/activity/series"

// lateCalls is how long ago a step must have ended for its sums to be taken as they were up to a minute
// ago. A call counts in the step in which it came, and it is counted when it has ended. Minutes are read
// call by call, so few of them are read each time.
func lateCalls(step string) time.Duration {
	if step == "minute" {
		return 5 * time.Minute
	}
	return time.Hour
}

// sumsOf asks for sums over time, for a page that shows no percentiles. When such a page is read again,
// the steps that have passed may be those of up to a minute ago: nearly nothing changes in them, and
// they are nearly all that there is to read.
func sumsOf(v *visit, q url.Values) (*seriesAnswer, error) {
	var a seriesAnswer
	from, begins := parseDay(q.Get("from"))
	to, ends := parseDay(q.Get("to"))
	step := q.Get("step")
	last := v.now.UTC().Add(-lateCalls(step)).Truncate(max(stepLengths[step], time.Minute))
	if !isPoll(v.r) || !begins || !from.Before(last) || ends && !to.After(last) {
		return &a, v.get(seriesRoute, q, &a)
	}
	of := func(name, at string) url.Values {
		part := maps.Clone(q)
		part.Set(name, at)
		return part
	}
	at := last.Format(time.RFC3339)
	if err := v.getOld(seriesRoute, of("to", at), &a); err != nil {
		return nil, err
	}
	var b seriesAnswer
	if err := v.get(seriesRoute, of("from", at), &b); err != nil {
		return nil, err
	}
	a.join(&b)
	return &a, nil
}

// join adds what came after a.
func (a *seriesAnswer) join(b *seriesAnswer) {
	a.To = b.To
	a.Complete = a.Complete && b.Complete
	a.Total.join(&b.Total)
	if b.Other != nil {
		if a.Other == nil {
			a.Other = &seriesLine{}
		}
		a.Other.join(b.Other)
		a.Other.Series = max(a.Other.Series, b.Other.Series)
	}
	at := make(map[string]int, len(a.Data))
	for i := range a.Data {
		at[a.Data[i].Name] = i
	}
	for i := range b.Data {
		n, ok := at[b.Data[i].Name]
		if !ok {
			n = len(a.Data)
			a.Data = append(a.Data, seriesLine{Name: b.Data[i].Name})
		}
		a.Data[n].join(&b.Data[i])
	}
}

// join adds points that came later.
func (l *seriesLine) join(later *seriesLine) {
	l.Points = append(l.Points, later.Points...)
	l.Total.add(&later.Total)
}

// add adds the sums of another point. Percentiles do not add up.
func (t *seriesPoint) add(u *seriesPoint) {
	t.Requests += u.Requests
	t.Errors += u.Errors
	t.Unpriced += u.Unpriced
	t.Cost += u.Cost
	t.Prompt += u.Prompt
	t.Completion += u.Completion
	t.Cached += u.Cached
	t.Units = maps.Clone(t.Units)
	for name, n := range u.Units {
		if t.Units == nil {
			t.Units = map[string]int64{}
		}
		t.Units[name] += n
	}
	t.Duration, t.FirstToken, t.PerToken, t.Overhead = nil, nil, nil, nil
}
