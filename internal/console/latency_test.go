package console

import (
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
)

// A call of 2 s, with the first token after 0.3 s and 200 tokens, writes one in 8.5 ms.
func TestLatencyHasThePercentilesOfAnsweredCalls(t *testing.T) {
	slow := chartsCall(func(r *activity.Record) { r.Model, r.Latency, r.FirstToken = "acme/slow", 100*time.Minute, time.Second })
	whole := chartsCall(func(r *activity.Record) { r.Model, r.Stream, r.FirstToken, r.Overhead = "acme/whole", false, 0, 0 })
	refusal := chartsCall(func(r *activity.Record) {
		r.Model, r.Provider, r.Code, r.Status = "acme/refused", "", "rate_limit_exceeded", 429
	})
	a := newChartsAPI(t, chartsCall(func(*activity.Record) {}), slow, whole, refusal)
	body := a.visit("/console/latency").Body.String()
	rows := rowsOf(body)
	if len(rows) != 5 || !strings.Contains(text(body), "within 6.2 % of the true value") {
		t.Fatalf("%d rows in %s", len(rows), text(body))
	}
	for _, want := range []string{
		"acme/large 1 2.03 s 2.03 s 2.03 s 311 ms 311 ms 311 ms 114.9 114.9 0.8 ms 0.8 ms",
		"acme/slow 1 1.72 h 1.72 h 1.72 h 1.02 s 1.02 s 1.02 s 0.03 0.03 0.8 ms 0.8 ms",
		"acme/whole 1 2.03 s 2.03 s 2.03 s — — — — — — —",
	} {
		if !strings.Contains(strings.Join(rows, "\n"), want) {
			t.Errorf("no row %s in\n%s", want, strings.Join(rows, "\n"))
		}
	}
	if n := strings.Count(body, `<svg class="chart lines"`); n != 4 || len(a.asked) != 1 {
		t.Errorf("%d charts, of %d answers", n, len(a.asked))
	}
}

func TestLatencyWithoutAnsweredCallsSaysWhatToDo(t *testing.T) {
	a := newChartsAPI(t, refused("rate_limit_exceeded"))
	if got := text(a.visit("/console/latency").Body.String()); !strings.Contains(got, "No answered calls in this time") {
		t.Error(got)
	}
}
