package why

import (
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
)

// A field at the end of the list needs no member and no line.
func TestAnExplanationHasTheFactsOfTheList(t *testing.T) {
	listed := activity.Fields
	t.Cleanup(func() { activity.Fields = listed })
	activity.Fields = append(activity.Fields[:len(listed):len(listed)], activity.Field{
		Name: "another", Of: func(r *activity.Record) any { return &r.BytesUp }, Why: "Another",
	})
	e, err := explain(t.Context(), nil, &activity.Record{ID: "vnc-1", Ended: "viewer_left", BytesUp: 5})
	if err != nil || !strings.Contains(e.Text(), "\nAnother     5\n") {
		t.Errorf("%v:\n%s", err, e.Text())
	}
}

// A request to an MCP server has no tokens, and its target is a server.
func TestAnExplanationOfATool(t *testing.T) {
	for want, e := range map[string]Explanation{
		"What        POST /mcp/{server}, tool demo/echo\nMethod      tools/call\nBytes sent  321\n\nOutcome     200, answered in one piece\n\n" +
			"Server      demo answered at the first attempt\n\nTime        12.0ms in all\n\nCost        0.01 USD\n": {
			Model: "demo/echo", Provider: "demo", Status: 200, Attempts: 1, Time: Times{Total: 12}, Usage: &Usage{Source: "none", CostUSD: "0.01", Priced: true},
			Facts: []Fact{{"Method", "tools/call"}, {"Bytes sent", "321"}},
		},
		"What        POST /mcp/{server}, server demo\n\nOutcome     429 rate_limit_exceeded\nRefused by  mcp demo: rate 1/min\n\nServer      it was not asked\n\nTime        - in all\n": {
			Model: "demo", Provider: "demo", Status: 429, Code: "rate_limit_exceeded", RefusedBy: "mcp demo: rate 1/min", Usage: &Usage{Source: "none"},
		},
	} {
		e.Kind, e.Route = kindTool, "POST /mcp/{server}"
		if got := e.Text(); !strings.HasSuffix(got, want) {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	}
}

// A call that asked nobody needs it most.
func TestAnExplanationNamesTheTargetsThatWereNotAsked(t *testing.T) {
	e := Explanation{Kind: "call", Route: "POST /v1/chat/completions", Model: "fast", Status: 402, Code: "cannot_be_priced", Skipped: []Skipped{
		{"first/m", "cooling", "", "It cools."}, {"second/m", "cannot_be_priced", "key dev: budget 1usd/day", "No `bound`."},
	}}
	want := "\nProviders   none was asked\n" +
		"Not asked   first/m   cooling                                     It cools.\n" +
		"            second/m  cannot_be_priced, key dev: budget 1usd/day  No bound.\n"
	if got := e.Text(); !strings.Contains(got, want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
