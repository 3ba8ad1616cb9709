package activity

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"time"
)

// Day sums the calls of one UTC date to one model at one provider.
type Day struct {
	Date            string // YYYY-MM-DD
	Model, Provider string
	// Requests counts every call, including refused ones; Unpriced counts those with unknown price.
	Requests, Unpriced                                            int64
	PromptTokens, CompletionTokens, ReasoningTokens, CachedTokens int64
	CostNano                                                      int64 // stops at the largest int64
}

// maxDays bounds the rows of Daily: names of models come from clients.
const maxDays = 10_000

// ErrTooManyDays is returned by Daily when the answer would be longer than 10,000 rows.
var ErrTooManyDays = errors.New("more than 10000 daily rows: ask for fewer days or for one model")

const nanosPerDay = int64(24 * time.Hour)

// Daily sums the records that match f by UTC date, model and provider, newest date first. Limit and
// Cursor do not count. It reads every record of f's tenant and time, within the ten seconds of any
// query.
func (l *Log) Daily(ctx context.Context, f Filter) ([]Day, error) {
	f.Limit, f.Cursor = 0, ""
	type subject struct {
		day             int64
		model, provider string
	}
	sums := map[subject]*Day{}
	tooMany := false
	err := l.walk(ctx, f, func(_ int64, r *Record) bool {
		s := subject{r.CreatedAt.UnixNano() / nanosPerDay, r.Model, r.Provider}
		d := sums[s]
		if d == nil {
			if tooMany = len(sums) == l.maxDays; tooMany {
				return false
			}
			// The names are copied: they are parts of a whole row.
			s.model, s.provider = strings.Clone(s.model), strings.Clone(s.provider)
			d = &Day{Date: r.CreatedAt.Format(time.DateOnly), Model: s.model, Provider: s.provider}
			sums[s] = d
		}
		d.add(r)
		return true
	})
	if err != nil {
		return nil, err
	}
	if tooMany {
		return nil, ErrTooManyDays
	}
	days := make([]Day, 0, len(sums))
	for _, d := range sums {
		days = append(days, *d)
	}
	slices.SortFunc(days, func(a, b Day) int {
		return cmp.Or(cmp.Compare(b.Date, a.Date), cmp.Compare(a.Model, b.Model), cmp.Compare(a.Provider, b.Provider))
	})
	return days, nil
}

func (d *Day) add(r *Record) {
	d.Requests++
	d.PromptTokens += r.PromptTokens
	d.CompletionTokens += r.CompletionTokens
	d.ReasoningTokens += r.ReasoningTokens
	d.CachedTokens += r.CachedTokens
	d.CostNano += min(r.CostNano, math.MaxInt64-d.CostNano)
	if !r.Priced {
		d.Unpriced++
	}
}
