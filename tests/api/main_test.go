// Package api tests what callers of models see: every route, refusals, streams, translations, limits,
// guardrails and failover, through a whole Caddy in front of the fake provider.
package api

import (
	"testing"

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }
