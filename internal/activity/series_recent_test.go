package activity

import (
	"fmt"
	"testing"
	"time"
)

func TestRecentAnswersAreBounded(t *testing.T) {
	begin := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	query := func(i int, at time.Duration) *SeriesQuery {
		return &SeriesQuery{Tenant: "default", By: "model", Model: fmt.Sprint(i), MaxAge: time.Minute, Asked: begin.Add(at)}
	}
	var recent recentSeries
	for i := range 2 * maxRecent {
		recent.add(query(i, time.Duration(i)*time.Millisecond), Series{})
	}
	if n := len(recent.answers); n != maxRecent {
		t.Errorf("%d answers are kept", n)
	}
	if _, ok := recent.find(query(maxRecent-1, time.Second)); ok {
		t.Error("an older answer was kept instead of a newer one")
	}
	if _, ok := recent.find(query(maxRecent, time.Second)); !ok {
		t.Error("one of the newest answers is gone")
	}
	for name, large := range map[string]Series{
		"all":    {All: Line{Points: make([]Point, maxRecentPoints+1)}},
		"series": {Series: []Line{{Points: make([]Point, maxRecentPoints)}, {Points: make([]Point, 1)}}},
		"others": {Other: &Line{Points: make([]Point, maxRecentPoints+1)}},
	} {
		var recent recentSeries
		if recent.add(query(0, 0), large); len(recent.answers) != 0 {
			t.Errorf("%s: an answer with too many points is kept", name)
		}
	}
	recent.add(query(0, MaxSeriesAge+time.Second), Series{})
	if n := len(recent.answers); n != 1 {
		t.Errorf("%d answers are kept, of which one can be used", n)
	}
}
