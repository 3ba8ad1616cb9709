//go:build linux

package main

import (
	"maps"
	"testing"
)

func TestAPlacementHasCoresForEachPart(t *testing.T) {
	got := place([]string{"0", "0-1"}, "1", placement{enginePart: "0"})
	want := placement{"gateway1": "0", "gateway2": "0-1", enginePart: "0", postgresPart: "1", providerPart: "1", clientPart: "1"}
	if !maps.Equal(got, want) {
		t.Errorf("%v", got)
	}
}
