package console

import (
	"fmt"
	"math/rand/v2"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
)

// What is read again is what the page showed: its sums come in two parts, of which the first may be
// those of another poll.
func TestAPollShowsWhatThePageShows(t *testing.T) {
	for seed := range uint64(5) {
		r := rand.New(rand.NewPCG(seed, 1))
		some := func() activity.Record {
			return chartsCall(func(c *activity.Record) {
				c.CreatedAt = chartsNow.Add(-time.Duration(r.IntN([]int{3600, 48 * 3600}[r.IntN(2)])) * time.Second)
				c.Provider, c.CostNano = fmt.Sprintf("p%d", r.IntN(5)), int64(1+r.IntN(1000))*1e7
				if r.IntN(3) == 0 {
					c.Code = "upstream_error"
				}
				c.Priced = r.IntN(4) > 0
			})
		}
		var records []activity.Record
		for range 1 + r.IntN(100) {
			records = append(records, some())
		}
		a := overviewAPI(t, records...)
		a.answers["/api/v1/activity"] = `{"data":[` + callJSON + `],"next_cursor":null}`
		a.answers["/v1/providers"] = `{"data":[{"id":"p1","targets":[{"model":"acme/large","state":"healthy"}]},{"id":"p2","targets":[]}]}`
		same := func() {
			t.Helper()
			for _, path := range []string{"/console/", "/console/providers", "/console/activity", "/console/activity?range=7d&code=upstream_error", "/console/activity?range=30d", "/console/activity?range=1h"} {
				id := strings.Trim(strings.TrimPrefix(strings.SplitN(path, "?", 2)[0], Prefix), "/")
				if id == "" {
					id = "overview"
				}
				page, poll := livePart(t, id, a.visit(path).Body.String()), livePart(t, id, a.visit(path, "Gatehouse-Live", "1").Body.String())
				if page != poll {
					t.Errorf("seed %d, %s: the page\n%s\nand when it is read again\n%s", seed, path, page, poll)
				}
			}
		}
		same()
		late := some() // it came a minute ago, while the pages were open
		late.CreatedAt, late.ID = chartsNow.Add(-time.Minute), "gen-late"
		a.log.Append(&late)
		same()
	}
}

// A desktop of two hours has its row when it ends, in a time whose sums another poll has read before.
func TestAPollShowsARowThatBeganLongAgo(t *testing.T) {
	a := overviewAPI(t)
	a.answers["/api/v1/activity"] = `{"data":[` + callJSON + `],"next_cursor":null}`
	poll := func() *httptest.ResponseRecorder {
		return a.visit("/console/activity?range=24h", "Gatehouse-Live", "1")
	}
	poll()
	late := chartsCall(func(c *activity.Record) { c.CreatedAt = chartsNow.Add(-2 * time.Hour) })
	a.log.Append(&late)
	if page := poll().Body.String(); !strings.Contains(page, "<tbody>") {
		t.Errorf("no row in %s", page)
	}
}

func TestTheSumsOfTwoPartsAddUp(t *testing.T) {
	l := seriesLine{Total: seriesPoint{Requests: 1, Errors: 2, Unpriced: 3, Cost: 4, Prompt: 5, Completion: 6, Cached: 7, Units: map[string]int64{"images": 8, "audio_ms": 9}, Duration: &percentiles{Count: 1}}}
	l.join(&seriesLine{Total: seriesPoint{Requests: 10, Errors: 20, Unpriced: 30, Cost: 40, Prompt: 50, Completion: 60, Cached: 70, Units: map[string]int64{"images": 80}}})
	if want := (seriesPoint{Requests: 11, Errors: 22, Unpriced: 33, Cost: 44, Prompt: 55, Completion: 66, Cached: 77, Units: map[string]int64{"images": 88, "audio_ms": 9}}); !reflect.DeepEqual(l.Total, want) {
		t.Errorf("%+v", l.Total)
	}
}

// livePart is the part of a page with an id.
func livePart(t *testing.T, id, page string) string {
	t.Helper()
	_, part, ok := strings.Cut(page, `id="`+id+`"`)
	if !ok {
		t.Fatalf("no part %q in %s", id, page)
	}
	part, _, _ = strings.Cut(part, "</main>")
	for _, end := range []string{"<details", `<div class="below">`} {
		part, _, _ = strings.Cut(part, end)
	}
	return strings.TrimSpace(part)
}
