package desktop_test

import (
	"testing"

	"github.com/caddyserver/certmagic"

	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
)

// The interface is certmagic's, and so is the behaviour that is relied on: what
// an empty folder is, what List returns.
func TestCertmagicsFileStorage(t *testing.T) {
	storage := &certmagic.FileStorage{Path: t.TempDir()}
	boot := func() *desktop.Service {
		return open(t, func(c *desktop.Config) { c.Storage = storage })
	}
	d := boot()
	register(t, d, "default", "run", "10.0.0.1:5900")
	if err := d.Release(t.Context(), "default", "desk1", desktop.Releaser{}); err != nil {
		t.Fatal(err)
	}
	d = boot()
	if v, err := d.Get("default", "desk1"); err != nil || v.State != desktop.StateReleased {
		t.Errorf("%+v, %v", v, err)
	}
	mustIssue(t, d, "run")
}
