// Package vnc tests desktops from outside: addresses, sessions, and what viewers and workstations see,
// byte by byte.
package vnc

import (
	"testing"

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }
