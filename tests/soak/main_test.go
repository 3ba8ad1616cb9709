// Package soak runs all kinds of calls and desktops at once, breaks what can break, and then checks that
// nothing was lost and nothing is held.
package soak

import (
	"testing"

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }
