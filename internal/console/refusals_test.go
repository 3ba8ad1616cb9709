package console

import (
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
)

func refused(code string) activity.Record {
	return chartsCall(func(r *activity.Record) { r.Code, r.Status, r.CostNano = code, 400, 0 })
}

// Each code says what it means and what to do, and leads to its calls.
func TestRefusalsAreExplained(t *testing.T) {
	a := newChartsAPI(t, chartsCall(func(*activity.Record) {}), refused("budget_exceeded"), refused("budget_exceeded"),
		refused(string(desktop.RefusedBusy)), refused("string_above_max_length"))
	body := a.visit("/console/refusals?range=7d&key=dev").Body.String()
	wantRows(t, body,
		"Code and status Calls Share",
		"budget_exceeded 402 2 50.0 %", "A budget of the key, its tenant or the gateway has too little left for the most that this call may use. "+
			"Wait for the end of the period, raise the budget, or let the call ask for less output. See caddy gatehouse budget .",
		"busy 1 25.0 %", "Another viewer has the workstation. End its session, or set on_conflict to replace or share .",
		"string_above_max_length 1 25.0 %", "The provider refused the request with this code of its own. Look for the code in the provider's documentation; the calls have the message.",
	)
	for _, want := range []string{
		`href="/console/activity?code=budget_exceeded&amp;key=dev&amp;range=7d"`, "<code>caddy gatehouse budget</code>", "4 of 5 calls were refused or failed",
	} {
		if !strings.Contains(body, want) {
			t.Errorf("no %s in %s", want, body)
		}
	}
}

func TestWithoutRefusalsThePageSaysSo(t *testing.T) {
	if got := text(newChartsAPI(t, chartsCall(func(*activity.Record) {})).visit("/console/refusals").Body.String()); !strings.Contains(got, "Nothing was refused 1 calls in this time") {
		t.Error(got)
	}
	if got := text(newChartsAPI(t).visit("/console/refusals").Body.String()); !strings.Contains(got, "No calls in this time") {
		t.Error(got)
	}
}
