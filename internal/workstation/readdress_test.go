package workstation_test

import (
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/workstation"
)

func TestAnotherAddressIsAskedThoughTheOldOneRefusedTheLogin(t *testing.T) {
	d := open(t, nil)
	register(t, d, "default", "run", "10.0.0.1:5901")
	id := workstation.ID{Tenant: "default", Name: "run"}
	d.BackOff(id, "wrong", time.Hour)
	if _, spared := d.Backoff(id); !spared {
		t.Fatal("it is not left alone")
	}
	register(t, d, "default", "run", "10.0.0.2:5901")
	if why, spared := d.Backoff(id); spared {
		t.Errorf("it is left alone: %q", why)
	}
}
