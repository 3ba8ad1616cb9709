//go:build !race

// Under the race detector pools lose what they hold, so what they save is
// measured without it: the suite "pools" of make test.

package openai_test

import (
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/openai"
)

func TestAResultCostsOneAllocation(t *testing.T) {
	call, body, dst := newCall(), []byte(answer), make([]byte, 0, 4096)
	if n := testing.AllocsPerRun(100, func() { openai.ChatResult(dst, body, call) }); n > 1 { // the provider's id, which the summary keeps
		t.Fatalf("%v allocations", n)
	}
}
