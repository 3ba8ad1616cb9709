//go:build !race

package jsonscan_test

import (
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

func TestComparingKeysDoesNotAllocate(t *testing.T) {
	body := []byte(`{"messages":[` + strings.TrimSuffix(strings.Repeat(`{"role":"user","cont\u0065nt":[{"type":"text","text":"x","é":{"a":[{"b":1,"c":2}]}}],"Ünique":1},`, 50), ",") + `]}`)
	b := jsonscan.Body{TwoSpellings: true}
	defer b.Release()
	if n := testing.AllocsPerRun(100, func() {
		if err := b.Parse(body); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
