// Package tests tests Gatehouse from outside: it boots the real Caddy with the real modules in front of
// a fake provider, and checks what a client, a provider and an operator see.
package tests

import (
	"testing"

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }
