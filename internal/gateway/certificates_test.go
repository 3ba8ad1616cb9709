package gateway_test

import (
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
	"github.com/gatehouse-proxy/gatehouse/internal/report"
)

// A gateway goes on with a certificate that was not renewed, and operators read which one and its end.
func TestTheConditionNamesCertificatesThatWereNotRenewed(t *testing.T) {
	now := time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)
	in := func(name string, renewBy, expires time.Duration) report.Certificate {
		return report.Certificate{Name: name, RenewBy: now.Add(renewBy), Expires: now.Add(expires)}
	}
	fresh, late, over := in("a.test", time.Hour, 4*time.Hour), in("b.test", -time.Hour, 2*time.Hour), in("c.test", -3*time.Hour, -time.Minute)
	for _, c := range []struct {
		shown []report.Certificate
		want  string // of the part; "" for no part
		since time.Time
	}{
		{nil, "", time.Time{}},
		{[]report.Certificate{fresh}, "ok ", time.Time{}},
		{[]report.Certificate{fresh, late}, "degraded not renewed in time, and the log of Caddy's tls app says why: b.test ends 2026-11-24 14:00 UTC", late.RenewBy},
		{[]report.Certificate{late, over}, "degraded not renewed in time, and the log of Caddy's tls app says why: b.test ends 2026-11-24 14:00 UTC, c.test ended 2026-11-24 11:59 UTC", over.RenewBy},
	} {
		r := newRig(t, gateway.Config{Now: func() time.Time { return now }, Certificates: func() []report.Certificate { return c.shown }})
		r.start(t, t.Context())
		condition, got := gateway.ReadCondition(r.Gateway), ""
		var since time.Time
		for _, p := range condition.Parts {
			if p.Name == "certificates" {
				if got = p.State + " " + p.Detail; p.Since != nil {
					since = *p.Since
				}
			}
		}
		if got != c.want || !since.Equal(c.since) || !condition.Ready() {
			t.Errorf("%+v: %q since %v, %s; want %q since %v", c.shown, got, since, condition.State, c.want, c.since)
		}
	}
}
