package desktop_test

import (
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
)

func TestAnotherAddressIsAskedThoughTheOldOneRefusedTheLogin(t *testing.T) {
	d := open(t, nil)
	register(t, d, "default", "run", "10.0.0.1:5901")
	id := desktop.ID{Tenant: "default", Name: "run"}
	done, _, _ := d.Login(t.Context(), id)
	done(desktop.WorkstationPassword)
	if _, why, _ := d.Login(t.Context(), id); why != desktop.WorkstationPassword {
		t.Fatalf("asked again: %q", why)
	}
	register(t, d, "default", "run", "10.0.0.2:5901")
	if _, why, _ := d.Login(t.Context(), id); why != "" {
		t.Errorf("it is left alone: %q", why)
	}
}
