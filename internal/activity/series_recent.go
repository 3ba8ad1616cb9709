package activity

import (
	"sync"
	"time"
)

// recentSeries keeps the newest answers for queries that may get an old one. A query says whose
// calls it sums, so an answer is only ever given to who may see it.
type recentSeries struct {
	mu      sync.Mutex // guards the following
	answers map[SeriesQuery]recentAnswer
}

type recentAnswer struct {
	asked  time.Time // when the query was asked that it answers
	series Series    // is only read
}

// MaxSeriesAge is the most of SeriesQuery.MaxAge.
const MaxSeriesAge = time.Minute

// maxRecent and maxRecentPoints bound the memory: of about 250 bytes a point it is 25 MB.
const maxRecent, maxRecentPoints = 32, 3000

// subject is what answers are kept by.
func (q SeriesQuery) subject() SeriesQuery {
	q.MaxAge, q.Asked = 0, time.Time{}
	return q
}

// find returns an answer that is young enough.
func (r *recentSeries) find(q *SeriesQuery) (Series, bool) {
	if q.MaxAge <= 0 {
		return Series{}, false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	kept, ok := r.answers[q.subject()]
	age := q.Asked.Sub(kept.asked)
	return kept.series, ok && age >= 0 && age <= min(q.MaxAge, MaxSeriesAge)
}

// add keeps an answer for the next query that may get it.
func (r *recentSeries) add(q *SeriesQuery, s Series) {
	points := len(s.All.Points)
	for i := range s.Series {
		points += len(s.Series[i].Points)
	}
	if s.Other != nil {
		points += len(s.Other.Points)
	}
	if q.MaxAge <= 0 || points > maxRecentPoints {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.answers == nil {
		r.answers = map[SeriesQuery]recentAnswer{}
	}
	var oldest SeriesQuery
	for subject, kept := range r.answers {
		if q.Asked.Sub(kept.asked) > MaxSeriesAge {
			delete(r.answers, subject)
		} else if oldest.By == "" || kept.asked.Before(r.answers[oldest].asked) {
			oldest = subject
		}
	}
	if len(r.answers) >= maxRecent {
		delete(r.answers, oldest)
	}
	r.answers[q.subject()] = recentAnswer{q.Asked, s}
}
