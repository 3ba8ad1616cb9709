package console

import "testing"

func TestAboutShowsWhatTheKeyMayKnow(t *testing.T) {
	const little = `"object":"about","version":"v1.2.3","commit":"0123456789ab","caddy_version":"v2.11.9","go_version":"go1.26","runtime_keys":false`
	a := newManageAPI(t, map[string]string{"GET /v1/about": `200 {` + little + `,"desktops":null,"cluster":null}`})
	a.shows(a.visit("/console/about", nil), 200, "Gatehouse v1.2.3 commit 0123456789ab Caddy v2.11.9 Go go1.26", "none: this gateway is the only one", "none: there is no vnc block", "none: there is no runtime_keys block",
		"The scope activity:read shows how long rows and sums are kept", "!Configuration in use", "!Its parts", "!Certificates")
	a.answers["GET /v1/about"] = `200 {` + little + `,"desktops":{"domain":"vnc.example.com","port":5900},"cluster":{"name":"prod","node":"gw-1"},"configured_at":"2026-11-22T02:20:00Z",
		"keep":{"rows_seconds":2592000,"series_seconds":5400,"size_bytes":10737418240},"store":{"bytes":4096,"rows_bytes":1048576},
		"condition":{"state":"ready","parts":[{"name":"store","state":"ok","since":null,"detail":""},{"name":"providers","state":"degraded","since":"2026-11-23T02:00:00Z","detail":"unhealthy: acme/large"}]},
		"certificates":[{"name":"*.vnc.example.com","expires_at":"2027-01-05T04:12:00Z","renew_by":"2026-12-14T04:12:00Z"}]}`
	a.shows(a.visit("/console/about", nil), 200, "since 22 Nov 2026 02:20:00 UTC ( 1 day ago )", "prod, answered by gw-1", "viewers connect to *.vnc.example.com:5900",
		"Rows of the activity 30 days, or 10.0 GiB", "Sums by hour and day 2 hours", "This gateway's database 4.0 KiB", "Rows of the cluster 1.0 MiB",
		"Its parts ready store ok providers unhealthy: acme/large since 23 Nov 2026 02:00:00 UTC degraded", "Certificates *.vnc.example.com ends 5 Jan 2027 04:12:00 UTC")
}
