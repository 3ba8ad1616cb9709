package operator

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

func TestTheCommandShowsTheProvidersOfTheRunningCaddy(t *testing.T) {
	h := harness.Vacant(t)
	admin := "unix//" + h.Dir + "/admin"
	c := h.Run(harness.Setup{Global: "admin " + admin})
	show := exec.CommandContext(t.Context(), c.Cmd.Path)
	show.Args = []string{"caddy", "gatehouse", "providers", "--address", admin}
	out, err := show.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	text := string(out)
	if !strings.HasPrefix(text, "PROVIDER") || !strings.Contains(text, "\nfake ") || !strings.Contains(text, "no recent calls") {
		t.Errorf("%s", out)
	}
}
