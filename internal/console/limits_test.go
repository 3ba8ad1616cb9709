package console

import (
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/keys"
)

const manyLimits = `200 {"data":[
	{"subject":"gateway","tenant":null,"type":"budget","configured":"200usd/month","unit":"usd","limit":200,"remaining":null,"used_ratio":null,"exhausted":false,
	 "resets_at":"2026-12-01T00:00:00.000Z","period":"month","soft":false,"spent":null,"reserved":null},
	{"subject":"key:dev","tenant":"acme","type":"budget","configured":"10usd/day","unit":"usd","limit":10,"remaining":1.5,"used_ratio":0.85,"exhausted":false,
	 "resets_at":"2026-11-24T00:00:00.000Z","period":"day","soft":false,"spent":5.5,"reserved":3},
	{"subject":"key:1111111111111111111111111111111111111111111111111111111111111111","tenant":"acme","type":"rate","configured":"3/h","unit":"requests","limit":3,"remaining":0,"used_ratio":1,"exhausted":true,
	 "resets_at":"2026-11-23T03:20:00.000Z","window_seconds":3600,"used":3},
	{"subject":"tenant:acme","tenant":"acme","type":"concurrency","configured":"4","unit":"calls","limit":4,"remaining":2,"used_ratio":0.5,"exhausted":false,
	 "resets_at":null,"in_use":2,"queued":1,"queue":8,"max_wait_ms":1000}],"next_cursor":"more"}`

func TestLimitsAreShownWithWhatIsUsedOfThem(t *testing.T) {
	a := newManageAPI(t, map[string]string{
		"GET /api/v1/limits":          manyLimits,
		"GET /api/v1/keys/" + adaHash: `200 {"data":{"name":"Ada"}}`,
	})
	a.shows(a.visit("/console/limits?subject=dev&type=budget&min_used=0.8", nil), 200,
		"1 limit is used up: the next call is refused, or waits. Used to 80 % or more: 1 limit.",
		"gateway budget 200usd/month shared by all tenants: not shown — in 8 days",
		"key dev budget 10usd/day 85 % 85 % $5.50 spent, $3.00 reserved $1.50 in 22 hours",
		"key Ada rate 3/h 100 % 100 % 3 requests nothing in 1 hour",
		"tenant acme concurrency 4 50 % 50 % 2 under way, 1 waiting 2 —",
		"Next page", "!With the scope limits:read")
	if q := a.asked[0].query; q.Get("subject") != "key:dev" || q.Get("type") != "budget" || q.Get("min_used") != "0.8" || q.Get("tenant") != "" {
		t.Errorf("asked %v", q)
	}
}

func TestLimitsOfAKeyWithoutTheScope(t *testing.T) {
	a := newManageAPI(t, map[string]string{"GET /api/v1/limits": `200 {"data":[],"next_cursor":null}`})
	a.key.Scopes = keys.ChatWrite
	a.shows(a.visit("/console/limits", nil), 200, "Only the limits of this key. With the scope limits:read", "There is no limit yet", "docs/limits.md")
	a.shows(a.visit("/console/limits?subject=tenant:x", nil), 200, "No limit is like that", "Show all")
}

func TestAWrongFilterOfLimitsIsSaid(t *testing.T) {
	a := newManageAPI(t, map[string]string{"GET /api/v1/limits": refusalOf("subject", "subject: want key:NAME")})
	a.shows(a.visit("/console/limits?subject=x:y", nil), 400, "subject: want key:NAME")
}
