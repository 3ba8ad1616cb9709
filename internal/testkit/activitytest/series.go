package activitytest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
)

// minutes checks that series by the minute are the sums of the records, and what series by the hour say
// of the same time.
func minutes(t *testing.T, log activity.Log) {
	records := random(log, 11, 600)
	r := rand.New(rand.NewPCG(12, 12))
	for i := range 300 { // many in a few minutes
		record := Random(r, len(records)+i)
		record.CreatedAt = Noon.Add(-time.Duration(r.IntN(600)) * time.Second)
		records = append(records, record)
		log.Append(record)
	}
	for _, by := range []string{"model", "key", "tenant", "provider", "code"} {
		for _, tenant := range []string{"", "acme"} {
			for from := Noon.Add(-72 * time.Hour).Truncate(6 * time.Hour); from.Before(Noon); from = from.Add(6 * time.Hour) {
				wantSeries(t, log, records, by, "minute", time.Minute, tenant, from, from.Add(6*time.Hour))
			}
		}
		const hour = "&from=2026-05-04T11:00:00Z&to=2026-05-04T12:00:00Z"
		for _, q := range []string{"", "&tenant=acme", "&model=a/x", "&provider=b", "&key=ci", "&code=upstream_error", "&code=*", "&top=1", "&top=1&key=dev&tenant=acme"} {
			hourly, minutely := Series(t, log, "by="+by+"&step=hour"+q+hour), Series(t, log, "by="+by+"&step=minute"+q+hour)
			if want, got := totals(hourly), totals(minutely); !reflect.DeepEqual(got, want) || minutely.Others != hourly.Others {
				t.Errorf("by %s%s: by the minute\n%+v, %d others, by the hour\n%+v, %d others", by, q, got, minutely.Others, want, hourly.Others)
			}
		}
	}
	part := Series(t, log, "step=minute&from=2026-05-04T11:55:20Z&to=2026-05-04T11:57:10Z")
	if !part.Query.From.Equal(Noon.Truncate(time.Hour).Add(-5*time.Minute)) || !part.Query.To.Equal(Noon.Truncate(time.Hour).Add(-2*time.Minute)) || part.Query.StepName() != "minute" {
		t.Errorf("widened to %v to %v", part.Query.From, part.Query.To)
	}
	if points := part.All.Points; len(points) == 0 || !slices.IsSortedFunc(points, func(a, b activity.Point) int { return a.Start.Compare(b.Start) }) {
		t.Errorf("points %v", points)
	}
}

// said checks series of what callers say, which the roll-up does not have: by the hour and the day
// they are the sums of the records, alone and of what a filter selects.
func said(t *testing.T, log activity.Log) {
	records := random(log, 21, 600)
	for _, by := range []string{"end_user", "app"} {
		for _, tenant := range []string{"", "acme"} {
			from := Noon.Add(-72 * time.Hour).Truncate(24 * time.Hour)
			wantSeries(t, log, records, by, "day", 24*time.Hour, tenant, from, from.Add(4*24*time.Hour))
			wantSeries(t, log, records, by, "hour", time.Hour, tenant, from, from.Add(4*24*time.Hour))
		}
	}
	const days = "&step=day&from=2026-05-01&to=2026-05-04"
	for q, selects := range map[string]func(*activity.Record) bool{
		"by=model&end_user=ada":      func(r *activity.Record) bool { return r.EndUser == "ada" },
		"by=key&app=chat":            func(r *activity.Record) bool { return r.App == "chat" },
		"by=end_user&key=ci&top=1":   func(r *activity.Record) bool { return r.Key == "ci" },
		"by=app&end_user=bob&code=*": func(r *activity.Record) bool { return r.EndUser == "bob" && r.Code != "" },
	} {
		var want activity.Sums
		for _, r := range records {
			if selects(r) {
				want = Plus(want, SumsOf(r))
			}
		}
		if got := Series(t, log, q+days).All.Total; got.Sums != want || want.Requests == 0 {
			t.Errorf("%s: %+v, want %+v", q, got.Sums, want)
		}
	}
	if got := Series(t, log, "by=end_user&top=1"+days); len(got.Series) != 1 || got.Others != 2 || got.Other == nil {
		t.Errorf("the greatest of three: %d, %d others", len(got.Series), got.Others)
	}
}

// totals are those of all lines, by their names.
func totals(s activity.Series) map[string]activity.Point {
	all := map[string]activity.Point{"all": s.All.Total}
	for i, line := range s.Series {
		all[fmt.Sprint(i, " ", line.Name)] = line.Total
	}
	if s.Other != nil {
		all["other"] = s.Other.Total
	}
	return all
}

// WantTooManyRecords checks that a series is refused that would have to read too many calls. The log
// reads at most as many as there are, less one.
func WantTooManyRecords(t *testing.T, log activity.Log) {
	t.Helper()
	q := activity.SeriesQuery{Tenant: "default", By: "model", Step: int64(time.Minute), Top: 1, From: Noon.Truncate(time.Hour), To: Noon.Truncate(time.Hour).Add(time.Hour)}
	refused := func(q activity.SeriesQuery, param, reason string) {
		t.Helper()
		_, err := log.Series(t.Context(), q)
		if e := (*activity.ParamError)(nil); !errors.As(err, &e) || e.Param != param || !strings.Contains(e.Reason, reason) {
			t.Errorf("%v", err)
		}
	}
	refused(q, "step", "ask for a shorter time or for step=hour")
	q.Step = int64(time.Hour)
	if _, err := log.Series(t.Context(), q); err != nil {
		t.Error(err)
	}
	byUser, ofApp := q, q
	byUser.By, ofApp.App = "end_user", "Acme Chat"
	refused(byUser, "by", "ask for a shorter time, or for one key or model")
	refused(ofApp, "by", "ask for a shorter time, or for one key or model")
	byUser.Key = "ci" // has made no call
	if _, err := log.Series(t.Context(), byUser); err != nil {
		t.Error(err)
	}
}

// anyCode checks that the sums of all errors are those of each code.
func anyCode(t *testing.T, log activity.Log) {
	var want activity.Sums
	for _, r := range random(log, 5, 300) {
		if r.Code != "" {
			want = Plus(want, SumsOf(r))
		}
	}
	for _, step := range []string{"hour", "day"} {
		if got := Series(t, log, "by=code&code=*&step="+step+"&from=2026-05-01&to=2026-05-04").All.Total; got.Sums != want || got.Duration.Count == 0 {
			t.Errorf("by the %s: %+v, want %+v", step, got, want)
		}
	}
}
