package report

import (
	"context"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/openrouter"
)

// SeriesParams are the parameters of [Series].
func SeriesParams() []string { return withParam(activity.SeriesParams(), formatParam) }

// Series returns sums over time, as JSON or as CSV. Errors: 400, 503.
func Series(ctx context.Context, log activity.Log, q Query, now time.Time) (Answer, error) {
	csv, err := q.csv()
	if err != nil {
		return Answer{}, err
	}
	asked, err := activity.ParseSeries(q.Values, now)
	if err != nil {
		return Answer{}, refusal(err)
	}
	tenants := q.See(asked.Tenant)
	asked.Tenant, _ = tenants.One()
	asked.AllTenants = tenants.All()
	asked.MaxAge, asked.Asked = q.MaxAge, now
	s := activity.Series{Query: asked, Complete: true}
	if asked.Tenant != "" || asked.AllTenants {
		if s, err = log.Series(ctx, asked); err != nil {
			return Answer{}, refusal(err)
		}
	}
	if csv {
		return csvOf(seriesColumns(asked.By), seriesRows(&s)), nil
	}
	return Answer{JSON: openrouter.AppendSeries(nil, seriesAnswer(&s))}, nil
}

func seriesRows(s *activity.Series) (rows []seriesRow) {
	for _, line := range s.Series {
		for _, p := range line.Points {
			rows = append(rows, seriesRow{"series", line.Name, p})
		}
	}
	if s.Other != nil {
		for _, p := range s.Other.Points {
			rows = append(rows, seriesRow{"other", "", p})
		}
	}
	return rows
}

func seriesAnswer(s *activity.Series) openrouter.SeriesAnswer {
	a := openrouter.SeriesAnswer{
		By: s.Query.By, Step: s.Query.StepName(), From: openrouter.Timestamp(s.Query.From), To: openrouter.Timestamp(s.Query.To),
		Complete: s.Complete, PercentileError: activity.PercentileError, Total: seriesLine(&s.All),
	}
	a.Total.Total.At = a.From
	for i := range s.Series {
		line := seriesLine(&s.Series[i])
		line.Name = &s.Series[i].Name
		a.Data = append(a.Data, line)
	}
	if s.Other != nil {
		line := seriesLine(s.Other)
		line.Series = s.Others
		a.Other = &line
	}
	return a
}

func seriesLine(l *activity.Line) openrouter.SeriesLine {
	line := openrouter.SeriesLine{Total: seriesPoint(&l.Total), Points: make([]openrouter.SeriesPoint, len(l.Points))}
	for i := range l.Points {
		line.Points[i] = seriesPoint(&l.Points[i])
	}
	return line
}

func seriesPoint(p *activity.Point) openrouter.SeriesPoint {
	return openrouter.SeriesPoint{
		At: openrouter.Timestamp(p.Start), Requests: p.Requests, Errors: p.Errors, Unpriced: p.Unpriced, Cost: openrouter.USD(p.CostNano),
		PromptTokens: p.PromptTokens, CompletionTokens: p.CompletionTokens, ReasoningTokens: p.ReasoningTokens, CachedTokens: p.CachedTokens, Units: unitsOf(&p.Sums),
		Duration: percentiles(p.Duration), FirstToken: percentiles(p.FirstToken), PerToken: percentiles(p.PerToken), Overhead: percentiles(p.Overhead),
	}
}

// unitsOf are the units of sums that were used, by their names.
func unitsOf(s *activity.Sums) map[string]int64 {
	used := map[string]int64{}
	for u, n := range s.Units {
		if n != 0 {
			used[activity.UnitNames[u]] = n
		}
	}
	return used
}

func percentiles(p activity.Percentiles) *openrouter.SeriesPercentiles {
	if p.Count == 0 {
		return nil
	}
	return &openrouter.SeriesPercentiles{
		Count: p.Count, P50: openrouter.FractionMilliseconds(p.P50), P95: openrouter.FractionMilliseconds(p.P95), P99: openrouter.FractionMilliseconds(p.P99),
	}
}
