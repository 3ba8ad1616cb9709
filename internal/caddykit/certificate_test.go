package caddykit_test

import (
	"crypto/x509"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/caddykit"
)

// What Caddy renews in time is never late: it looks every ten minutes, from a third of the lifetime on.
func TestRenewBy(t *testing.T) {
	const day = 24 * time.Hour
	for name, c := range map[string]struct {
		lifetime, want time.Duration // want is before the end
		window         float64
	}{
		"of the internal CA":      {12 * time.Hour, 3 * time.Hour, 0},
		"of a public CA":          {90 * day, 21 * day, 0},
		"of six days":             {6 * day, 36 * time.Hour, 0},
		"of a year, loaded":       {365 * day, 21 * day, 0},
		"renewed in the last 8 %": {90 * day, 129*time.Hour + 36*time.Minute, 0.08},
	} {
		begins := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		ends := begins.Add(c.lifetime)
		if left := ends.Sub(caddykit.RenewBy(&x509.Certificate{NotBefore: begins, NotAfter: ends}, c.window)); (left - c.want).Abs() > time.Second {
			t.Errorf("a certificate %s is late %v before its end, want %v", name, left, c.want)
		}
	}
}
