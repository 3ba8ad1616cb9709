//go:build linux

package main

import (
	"net/http"
	"slices"
	"strings"
	"testing"
)

func TestDutyProofAddsUpRowsAndBudgets(t *testing.T) {
	dir := t.TempDir()
	p := asProber(t, dir, (&allDutiesGateway{t: t, dir: dir}).ServeHTTP)
	var got dutyProof
	got.collect(t.Context(), p, limitDuties|budgetDuties, 2)
	if got.Calls != 2 || got.Rows != 2 || got.Cost != 500_000_000 || got.Key != got.Cost || got.Tenant != 750_000_000 || got.Tokens != 40 || got.Cap != outputCap {
		t.Errorf("collected %+v", got)
	}
	if got.Missing != nil {
		t.Errorf("not proved: %v", got.Missing)
	}
	if !slices.Contains(got.Probed, "a call under way is reserved, on disk") || slices.Contains(got.Probed, "a credential in a request is refused") {
		t.Errorf("probed %v", got.Probed)
	}
}

func TestDutyProofSaysWhatDoesNotAgree(t *testing.T) {
	for name, c := range map[string]struct {
		rows, want string
		made       int
	}{
		"a call without a row":  {`{"data":[{"requests":2,"usage":0.5,"usage_source":"provider","priced":true,"output_cap":16384}]}`, "2 rows of 3 calls", 3},
		"a row without a price": {`{"data":[{"requests":2,"usage":0,"usage_source":"provider","priced":false,"output_cap":16384}]}`, "at a price", 2},
		"an output of any size": {`{"data":[{"requests":2,"usage":0.5,"usage_source":"provider","priced":true}]}`, "instead of 16384", 2},
		"a usage of our own":    {`{"data":[{"requests":2,"usage":0.5,"usage_source":"estimated","priced":true,"output_cap":16384}]}`, "at a price", 2},
	} {
		p := asProber(t, t.TempDir(), func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte(c.rows)) })
		var got dutyProof
		if err := got.collectRows(t.Context(), p, budgetDuties, c.made); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAProbeHasToShowItInEveryRound(t *testing.T) {
	dir := t.TempDir()
	on := asProber(t, dir, (&allDutiesGateway{t: t, dir: dir}).ServeHTTP)
	off := asProber(t, dir, func(w http.ResponseWriter, r *http.Request) { http.Error(w, "no", http.StatusTeapot) })
	var got dutyProof
	got.collect(t.Context(), on, guardDuties, 2)
	if len(got.Probed) != 3 {
		t.Fatalf("probed %v", got.Probed)
	}
	got.collect(t.Context(), off, guardDuties, 2)
	got.collect(t.Context(), on, guardDuties, 2)
	if len(got.Probed) != 0 || len(got.Missing) < 3 {
		t.Errorf("probed %v, missing %v", got.Probed, got.Missing)
	}
}
