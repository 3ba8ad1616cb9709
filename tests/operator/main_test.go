// Package operator tests what an operator does and sees: configuration, commands, reloads, restarts, the
// database, secrets, logs, metrics and traces.
package operator

import (
	"testing"

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }
