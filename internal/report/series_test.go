package report

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"
	"github.com/gatehouse-proxy/gatehouse/internal/units"
)

// asked is a query of a key of tenant acme.
func asked(t *testing.T, q string, allTenants bool) Query {
	t.Helper()
	values, err := url.ParseQuery(q)
	if err != nil {
		t.Fatal(err)
	}
	return Query{Values: values, See: (&keys.Key{Tenant: "acme", AllTenants: allTenants}).Tenants}
}

// table is an answer as CSV.
func table(t *testing.T, ask func() (Answer, error)) [][]string {
	t.Helper()
	a, err := ask()
	if err != nil || a.CSV == nil {
		t.Fatalf("%s, %v", a.JSON, err)
	}
	var out strings.Builder
	if err := a.CSV.Write(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	if strings.Count(out.String(), "\n") != strings.Count(out.String(), "\r\n") {
		t.Error("lines do not end as RFC 4180 has it")
	}
	rows, err := csv.NewReader(strings.NewReader(out.String())).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// Sums have units by the names that rows have for them.
func TestSumsShowUnits(t *testing.T) {
	draws, hears := fullCall, fullCall
	draws.ID, draws.Units = "gen-draws", units.Counts{units.ImageOutput: 4160, units.Images: 2}
	hears.ID, hears.Units = "gen-hears", units.Counts{units.Images: 1, units.Millis: 2500}
	log, _ := newLog(t, draws, hears)
	const time = "from=2026-03-17&to=2026-03-18"
	answer, err := Series(t.Context(), log, asked(t, time, false), noon)
	if err != nil || jsontest.Count(t, answer.JSON, `{"units":{"audio_ms":2500,"image_output_tokens":4160,"images":3}}`) != 4 {
		t.Errorf("%v: %s", err, answer.JSON)
	}
	days, err := Activity(t.Context(), log, asked(t, "group_by=day", false))
	if err != nil || !jsontest.Has(t, days.JSON, `{"image_output_tokens":4160,"images":3,"audio_ms":2500}`) {
		t.Errorf("%v: %s", err, days.JSON)
	}
	for name, rows := range map[string][][]string{
		"series": table(t, func() (Answer, error) { return Series(t.Context(), log, asked(t, time+"&format=csv", false), noon) }),
		"days":   table(t, func() (Answer, error) { return Activity(t.Context(), log, asked(t, "group_by=day&format=csv", false)) }),
	} {
		if len(rows) != 2 || rows[1][slices.Index(rows[0], "images")] != "3" || rows[1][slices.Index(rows[0], "search_units")] != "0" {
			t.Errorf("%s: %v", name, rows)
		}
	}
}

func TestSeriesShowSumsOverTime(t *testing.T) {
	foreign := refused
	foreign.Tenant, foreign.Key = "umbrella", "theirs"
	log, _ := newLog(t, fullCall, session, refused, foreign)
	answer, err := Series(t.Context(), log, asked(t, "from=2026-03-17&to=2026-03-18&top=1", false), noon)
	if err != nil {
		t.Fatal(err)
	}
	const nothing = `"duration_ms":null,"first_token_ms":null,"per_token_ms":null,"overhead_ms":null}`
	const full = `"requests":1,"errors":0,"unpriced":0,"cost":0.0015,"prompt_tokens":11,"completion_tokens":22,"reasoning_tokens":3,"cached_tokens":4,
		"duration_ms":{"count":1,"p50":1507.327,"p95":1507.327,"p99":1507.327},"first_token_ms":{"count":1,"p50":253.951,"p95":253.951,"p99":253.951},
		"per_token_ms":{"count":1,"p50":59.391,"p95":59.391,"p99":59.391},"overhead_ms":null}`
	const gone = `"requests":1,"errors":1,"unpriced":0,"cost":0,"prompt_tokens":0,"completion_tokens":0,"reasoning_tokens":0,"cached_tokens":0,`
	const desktop = `"requests":1,"errors":0,"unpriced":0,"cost":0,"prompt_tokens":0,"completion_tokens":0,"reasoning_tokens":0,"cached_tokens":0,`
	day1, day2 := `{"at":"2026-03-17T00:00:00.000Z",`, `{"at":"2026-03-18T00:00:00.000Z",`
	two := strings.Replace(full, `"requests":1,"errors":0`, `"requests":2,"errors":1`, 1)
	three := strings.Replace(full, `"requests":1,"errors":0`, `"requests":3,"errors":1`, 1)
	both := strings.Replace(gone, `"requests":1`, `"requests":2`, 1)
	wantJSON(t, answer.JSON, `{"by":"model","step":"day","from":"2026-03-17T00:00:00.000Z","to":"2026-03-19T00:00:00.000Z","complete":true,"percentile_error":0.0625,
		"data":[{"name":"router/a/b","total":`+day1+two+`,"points":[`+day1+full+`,`+day2+gone+nothing+`]}],
		"other":{"series":1,"total":`+day1+desktop+nothing+`,"points":[`+day2+desktop+nothing+`]},
		"total":{"total":`+day1+three+`,"points":[`+day1+full+`,`+day2+both+nothing+`]}}`)

	rows := table(t, func() (Answer, error) {
		return Series(t.Context(), log, asked(t, "from=2026-03-17&to=2026-03-18&top=1&format=csv", false), noon)
	})
	if len(rows) != 4 || !slices.Equal(rows[0][:4], []string{"at", "series", "model", "requests"}) ||
		!slices.Equal(rows[1][:7], []string{"2026-03-17T00:00:00.000Z", "series", "router/a/b", "1", "0", "0", "0.0015"}) || rows[3][1] != "other" {
		t.Errorf("as CSV: %v", rows)
	}
	var list struct{ Data []struct{ Name string } }
	for q, want := range map[string]string{"by=tenant": "[{acme}]", "by=tenant&tenant=acme": "[{acme}]", "by=tenant&tenant=umbrella": "[]"} {
		answer, err := Series(t.Context(), log, asked(t, q, false), noon)
		if err != nil || json.Unmarshal(answer.JSON, &list) != nil || fmt.Sprint(list.Data) != want {
			t.Errorf("%s: %s, %v", q, answer.JSON, err)
		}
	}
	answer, err = Series(t.Context(), log, asked(t, "by=tenant", true), noon)
	if err != nil || json.Unmarshal(answer.JSON, &list) != nil || fmt.Sprint(list.Data) != "[{acme} {umbrella}]" {
		t.Errorf("for an operator: %s, %v", answer.JSON, err)
	}
}

func TestActivityOfSeveralTenants(t *testing.T) {
	foreign := refused
	foreign.Tenant = "umbrella"
	log, _ := newLog(t, fullCall, refused, foreign)
	for _, c := range []struct {
		q    string
		all  bool
		want int
	}{{"", false, 2}, {"tenant=acme", false, 2}, {"tenant=umbrella", false, 0}, {"", true, 3}, {"tenant=umbrella", true, 1}, {"tenant=nobody", true, 0}} {
		answer, err := Activity(t.Context(), log, asked(t, c.q, c.all))
		if n := strings.Count(string(answer.JSON), `"request_id"`); err != nil || n != c.want {
			t.Errorf("%q, all tenants %v: %d rows, %v", c.q, c.all, n, err)
		}
		if shown := len(jsontest.Values(t, answer.JSON, "tenant")); c.all && c.q == "" && shown != 3 || !c.all && shown != 0 {
			t.Errorf("%q, all tenants %v: the tenant is in %d rows", c.q, c.all, shown)
		}
	}
}

func TestRowsShowPhasesTraceAndRefusingOption(t *testing.T) {
	r := fullCall
	r.RefusedBy, r.TraceID, r.Queued, r.Overhead = "key dev: rate 10/min", "0af7651916cd43dd8448eb211c80319c", 12*time.Millisecond, 345678*time.Nanosecond
	log, _ := newLog(t, r)
	got, err := query(t, log, "acme", "")
	for _, want := range []string{`"refused_by":"key dev: rate 10/min"`, `"trace_id":"0af7651916cd43dd8448eb211c80319c"`, `"queued_ms":12,`, `"overhead_ms":0.345,`} {
		if !strings.Contains(string(got), want) {
			t.Errorf("no %s in %s, %v", want, got, err)
		}
	}
}

func TestActivityFilters(t *testing.T) {
	log, _ := newLog(t, fullCall, session, refused)
	for q, want := range map[string]string{
		"code=client_closed_request": "gen-2", "workstation=lab1": "vnc-1", "min_latency_ms=1500": "gen-1", "min_latency_ms=1501": "", "code=x": "",
	} {
		got, err := query(t, log, "acme", q)
		if err != nil || strings.Count(string(got), `"status"`) != min(len(want), 1) && !strings.Contains(string(got), `"attempted"`) || !strings.Contains(string(got), want) {
			t.Errorf("%s: %s, %v", q, got, err)
		}
	}
	_, err := query(t, log, "acme", "min_latency_ms=-1")
	wantRefusal(t, err, apierror.InvalidValue, "min_latency_ms", "must be a number of milliseconds")
}

// A spreadsheet may also drop a line break first, or read full-width signs as the plain ones.
func TestCellsThatBeginLikeAFormulaAreText(t *testing.T) {
	for _, cell := range []string{"=1", "+1", "-1", "@x", "\t=1", "\r=1", "\n=1", "\uff1d1", "\uff0b1", "\uff0d1", "\uff20x"} {
		if got := text(cell); got != "'"+cell {
			t.Errorf("%q: %q", cell, got)
		}
	}
	for _, cell := range []string{"", "gpt-4o", "a=1", "1", "\uff21", "\xff=1"} {
		if got := text(cell); got != cell {
			t.Errorf("%q: %q", cell, got)
		}
	}
}

// A spreadsheet runs cells that begin like a formula. Money is exact, and all pages are there.
func TestActivityAsCSV(t *testing.T) {
	evil := refused
	evil.Model, evil.Code, evil.Key = `=HYPERLINK("http://x")`, "+1", "@x,\"y\"\nz"
	evil.CreatedAt = noon.Add(time.Second)
	var records []activity.Record
	for i := range 2300 { // more than two pages
		r := fullCall
		r.ID, r.CostNano, r.CreatedAt = fmt.Sprint("gen-", i), int64(i)+900719925474099, noon.Add(-time.Duration(i)*time.Second)
		records = append(records, r)
	}
	log, _ := newLog(t, append(records, evil)...)
	q := asked(t, "", false)
	q.Accept = "text/csv;q=1, */*"
	answer, err := Activity(t.Context(), log, q)
	rows := table(t, func() (Answer, error) { return answer, err })
	export := func(q string) [][]string {
		return table(t, func() (Answer, error) { return Activity(t.Context(), log, asked(t, q, false)) })
	}
	cell := func(row int, name string) string { return rows[row][slices.Index(rows[0], name)] }
	if len(rows) != 2302 || cell(1, "model") != `'=HYPERLINK("http://x")` || cell(1, "code") != "'+1" || cell(1, "key") != "'@x,\"y\"\nz" {
		t.Errorf("%d rows, the first is %v", len(rows), rows[1])
	}
	if cell(2, "usage") != "900719.925474099" || cell(2301, "id") != "gen-2299" || cell(2, "latency_ms") != "1500" || cell(2, "overhead_ms") != "" {
		t.Errorf("the second row is %v", rows[2])
	}
	if rows := export("format=csv&limit=2"); len(rows) != 3 {
		t.Errorf("%d rows of 2", len(rows)-1)
	}
	if rows := export("format=csv&group_by=day"); len(rows) != 3 || rows[1][0] != "2026-03-18" {
		t.Errorf("by day: %v", rows)
	}
	if rows := export("format=csv&tenant=umbrella"); len(rows) != 1 {
		t.Errorf("another tenant: %v", rows)
	}
	_, err = Activity(t.Context(), log, asked(t, "format=xml", false))
	wantRefusal(t, err, apierror.InvalidValue, "format", "must be json or csv")

	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if err := answer.CSV.Write(gone, &strings.Builder{}); !errors.Is(err, context.Canceled) {
		t.Errorf("an export that is cut off looks whole: %v", err)
	}
}
