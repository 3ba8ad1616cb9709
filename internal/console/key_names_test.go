package console

import (
	"strconv"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/keys"
)

// ofAda are answers about a key that was made at run time.
var ofAda = map[string]string{
	"GET /api/v1/keys/" + adaHash: `200 {"data":{"hash":"` + adaHash + `","name":"Ada"}}`,
	"GET /api/v1/limits":          `200 {"data":[{"subject":"key:` + adaHash + `","type":"budget","configured":"1usd/total","unit":"usd","limit":1,"used_ratio":0.5,"spent":0.5,"reserved":0}],"next_cursor":null}`,
	"GET /api/v1/key":             `200 {"data":{}}`,
	"GET /v1/providers":           `200 {"data":[]}`,
	"GET /v1/workstations":        `200 {"data":[]}`,
	"GET /v1/sessions":            `200 {"data":[{"session_id":"vnc-1","workstation_id":"desk1","key":"` + adaHash + `","started_at":"2026-11-23T00:20:00Z"}]}`,
	"GET /api/v1/activity":        `200 {"data":[{"id":"gen-1","created_at":"2026-11-23T02:00:00Z","key":"` + adaHash + `","model":"acme/large","status":402,"code":"budget_exceeded","refused_by":"key ` + adaHash + `: budget 1usd/total"}]}`,
	"GET /api/v1/activity/series": `200 {"by":"key","step":"hour","from":"2026-11-22T03:00:00Z","to":"2026-11-23T03:00:00Z","complete":true,"total":{"total":{"requests":1,"cost":1,"duration_ms":{"count":1,"p50":1,"p95":1,"p99":1}},"points":[{"at":"2026-11-23T02:00:00Z","requests":1,"cost":1}]},
		"data":[{"name":"` + adaHash + `","total":{"requests":1,"cost":1,"duration_ms":{"count":1,"p50":1,"p95":1,"p99":1}},"points":[{"at":"2026-11-23T02:00:00Z","requests":1,"cost":1}]}]}`,
}

// People know a key by its name. Whoever may not manage keys sees the beginning of its hash.
// Somebody with a token of an identity provider has a name in rows, and no page.
func TestAPersonIsShownByTheNameInTheToken(t *testing.T) {
	row := func(key string) string {
		return `{"id":"gen-1","created_at":"2026-11-23T01:00:00Z","key":"` + key + `","user":"ann@example.com"}`
	}
	for key, want := range map[string]string{
		"idp-ca7cd27bd3b1fcf2eef8": `<bdi title="idp-ca7cd27bd3b1fcf2eef8">ann@example.com</bdi>`,
		"idp":                      `<a href="/console/keys/idp"><bdi title="idp">idp</bdi></a>`,
		"ca7cd27bd3b1fcf2eef8":     `<bdi title="ca7cd27bd3b1fcf2eef8">ca7cd27bd3b1fcf2eef8</bdi>`,
	} {
		a := withRows("", row(key))
		a.key.Scopes |= keys.KeysManage
		if page := a.visit(t, "/console/activity").Body.String(); !strings.Contains(page, want) {
			t.Errorf("%s: no %s", key, want)
		}
	}
}

func TestAKeyMadeAtRunTimeIsShownByItsName(t *testing.T) {
	const unnamed = "111111111111…"
	for path, want := range map[string]string{
		"/console/":                              "KEY 1usd/total",
		"/console/activity":                      "acme/large KEY",
		"/console/activity?key=" + adaHash:       "Key KEY ×",
		"/console/activity/gen-1":                "Option that decided it key KEY: budget 1usd/total",
		"/console/usage?by=key":                  "KEY $1.0000",
		"/console/usage?by=model&key=" + adaHash: "key KEY ×",
		"/console/latency?by=key":                "KEY 1 1.0 ms",
		"/console/limits":                        "key KEY budget",
		"/console/sessions":                      "desk1 KEY",
		"/console/sessions/vnc-1/end":            "The session of key KEY,",
	} {
		a := newManageAPI(t, ofAda)
		a.shows(a.visit(path, nil), 200, strings.ReplaceAll(want, "KEY", "Ada"))
		a.key.Scopes &^= keys.KeysManage
		a.asked = nil
		a.shows(a.visit(path, nil), 200, strings.ReplaceAll(want, "KEY", unnamed), "!Ada")
		for _, s := range a.asked {
			if strings.Contains(s.route, "/keys/") {
				t.Errorf("%s: a key without keys:manage asked %s", path, s.route)
			}
		}
	}
}

func TestNamesOfKeysAreAskedForOnceAndOfSoManyKeysOnly(t *testing.T) {
	var limits []string
	for i := range 2 * maxLabels {
		hash := strconv.Itoa(10_000+i%(maxLabels+20)) + strings.Repeat("0", 59)
		limits = append(limits, `{"subject":"key:`+hash+`","type":"rate","configured":"3/h","unit":"requests","limit":3,"remaining":0,"used_ratio":1}`)
	}
	a := newManageAPI(t, map[string]string{"GET /api/v1/limits": `200 {"data":[` + strings.Join(limits, ",") + `]}`})
	a.shows(a.visit("/console/limits", nil), 200, "100190000000…")
	asked := 0
	for _, s := range a.asked {
		if strings.HasPrefix(s.route, "GET /api/v1/keys/") {
			asked++
		}
	}
	if asked != maxLabels {
		t.Errorf("asked for %d names, want %d", asked, maxLabels)
	}
}
