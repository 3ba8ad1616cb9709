package tests

import (
	"os/exec"
	"strings"
	"testing"
)

func TestTheCommandShowsTheProvidersOfTheRunningCaddy(t *testing.T) {
	h := vacant(t)
	admin := "unix//" + h.dir + "/admin"
	c := h.run(setup{global: "admin " + admin})
	show := exec.CommandContext(t.Context(), c.cmd.Path)
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
