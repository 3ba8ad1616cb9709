package activity

import (
	"testing"
	"time"
)

func TestARunIsTheSumOfItsRows(t *testing.T) {
	began := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	var run Run
	for _, r := range []Record{ // newest first
		{CreatedAt: began.Add(3 * time.Second), Latency: time.Second, IsError: true, Priced: true, UsageSource: UsageNone, CostNano: 5},
		{CreatedAt: began.Add(time.Second), Latency: 9 * time.Second, UsageSource: UsageNone, Ended: "released"},
		{CreatedAt: began.Add(time.Millisecond), Code: "rate_limit_exceeded", UsageSource: UsageNone},
		{CreatedAt: began, Latency: time.Second, UsageSource: UsageProvider, CostNano: 7},
	} {
		run.Add(&r)
	}
	if want := (Run{Steps: 4, Begun: began, Ended: began.Add(10 * time.Second), CostNano: 12, Unpriced: 1, Failed: 2}); run != want {
		t.Errorf("got %+v, want %+v", run, want)
	}
	for id, is := range map[string]bool{
		"0af7651916cd43dd8448eb211c80319c": true, "0AF7651916CD43DD8448EB211C80319C": false, "0af7651916cd43dd8448eb211c80319": false, "": false,
	} {
		if IsTrace(id) != is {
			t.Errorf("%q is a trace: %v", id, !is)
		}
	}
}
