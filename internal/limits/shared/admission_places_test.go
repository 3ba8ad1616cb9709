package shared_test

import (
	"strconv"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/enginetest"
	"github.com/gatehouse-proxy/gatehouse/internal/limits/limitstest"
)

func TestGatewaysKeepTheContractOfConcurrency(t *testing.T) {
	e := enginetest.Redis(t)
	for _, n := range []int{1, 3} {
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			limitstest.RunConcurrency(t, func(t *testing.T) (all []limitstest.Gateway) {
				for i := range n {
					g := started(t, e, string(rune('a'+i)), nil)
					all = append(all, limitstest.Gateway{Limiter: g.limiter, Rates: g})
				}
				return all
			})
		})
	}
}
