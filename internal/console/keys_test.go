package console

import (
	"encoding/json"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/keys"
)

const adaHash = "1111111111111111111111111111111111111111111111111111111111111111"

const ada = `{"hash":"` + adaHash + `","name":"Ada","label":"gh-abc...xyz","tenant":"acme","disabled":false,"limit":10,"limit_remaining":2.5,"limit_reset":"daily","usage":30,"usage_daily":7.5,
	"usage_monthly":20,"created_at":"2026-11-20T02:20:00.000Z","updated_at":"2026-11-22T02:20:00.500Z","expires_at":"2026-12-23T02:20:00.000Z","previous_key_expires_at":null,
	"scopes":["chat:write"],"models":["test/*"],"mcp":["demo/echo"],"rates":[],"budgets":[],"concurrency":null,"max_output_tokens":null}`

const noConfigured = `200 {"data":[]}`

func TestKeysOfTheCaddyfileAreShownWithWhatTheyUsed(t *testing.T) {
	a := newManageAPI(t, map[string]string{
		"GET /api/v1/keys": `200 {"data":[]}`,
		"GET /api/v1/keys?source=configuration": `200 {"data":[{"name":"ci","tenant":"acme","source":"configuration","disabled":false,"expires_at":"2026-11-22T00:00:00Z","scopes":["chat:write","models:read"]},
			{"name":"web","tenant":"lab","disabled":true,"expires_at":null,"scopes":["chat:write"]},
			{"name":"batch","tenant":"lab","scopes":["chat:write"]},{"name":"mixed","tenant":"lab","scopes":["chat:write"]}]}`,
		"GET /api/v1/activity/series": `200 {"data":[{"name":"ci","total":{"requests":1200,"errors":1,"cost":2.5},"points":[{"at":"2026-11-03T00:00:00Z","requests":1100},{"at":"2026-11-21T00:00:00Z","requests":100}]},
			{"name":"batch","total":{"requests":7,"unpriced":7},"points":[{"at":"2026-11-02T00:00:00Z","requests":7}]},{"name":"mixed","total":{"requests":3,"unpriced":2,"cost":1},"points":[{"at":"2026-11-02T00:00:00Z","requests":3}]}]}`,
	})
	a.shows(a.visit("/console/keys", nil), 200, "Keys of the Caddyfile", "ci expired chat:write models:read 1,200 $2.50 2026-11-21", "web disabled chat:write none $0.00 not this month never", "batch active chat:write 7 — 7 calls of unknown price 2026-11-02", "mixed active chat:write 3 $1.00 without 2 calls of unknown price 2026-11-02")
	if q := a.asked[len(a.asked)-1].query; q.Get("from") != "2026-11-01T00:00:00Z" || q.Get("to") != "2026-11-24T00:00:00Z" || q.Get("by") != "key" {
		t.Errorf("asked %v", q)
	}
	a.shows(a.visit("/console/keys?search=x", nil), 200, "No key is like that", "!Keys of the Caddyfile")
	a.key.Scopes &^= keys.ActivityRead
	a.shows(a.visit("/console/keys", nil), 200, "ci expired chat:write models:read now", "!Spent")
}

func TestKeysAreListedAndSearched(t *testing.T) {
	a := newManageAPI(t, map[string]string{"GET /api/v1/keys?source=configuration": noConfigured, "GET /api/v1/activity/series": `200 {"data":[]}`, "GET /api/v1/keys": `200 {"data":[` + ada + `,{"hash":"22","name":"Old","disabled":true,"usage":0,"created_at":"2026-11-01T00:00:00.000Z"},{"hash":"33","name":"Tokens","budgets":["10000 tokens/day"],"created_at":"2026-11-01T00:00:00.000Z"}]}`})
	a.shows(a.visit("/console/keys?search=a&disabled=no&offset=200", nil), 200, "Ada 111111111111… active 75 $10.00 daily $7.50 $30.00 3 days ago in 30 days", "Old 22 disabled none of its own",
		"Tokens 33 active 10000 tokens/day", "Keys 201 to 203", "Newer", "!Older")
	if q := a.asked[0].query; q.Get("search") != "a" || q.Get("include_disabled") != "false" || q.Get("offset") != "200" {
		t.Errorf("asked %v", q)
	}
	a.answers["GET /api/v1/keys"] = `200 {"data":[` + strings.Repeat(ada+",", 99) + ada + `]}`
	a.shows(a.visit("/console/keys", nil), 200, "Keys 1 to 100", "Older", "!Newer")
	a.shows(a.visit("/console/keys?offset=-7", nil), 200, "Keys 1 to 100", "Older", "!Newer")
	a.answers["GET /api/v1/keys"] = `200 {"data":[]}`
	a.shows(a.visit("/console/keys", nil), 200, "No key was made at run time yet", "Issue a key")
	a.shows(a.visit("/console/keys?search=x", nil), 200, "No key is like that")
	a.shows(a.visit("/console/keys?offset=100", nil), 200, "There are no older keys")
	a.answers["GET /api/v1/keys"] = `404 {"error":{"code":404,"message":"this gateway makes no keys at run time","metadata":{"error_type":"not_found"}}}`
	a.shows(a.visit("/console/keys", nil), 200, "Add a runtime_keys block", "!Issue a key")
}

func TestTheSecretOfANewKeyIsShownOnce(t *testing.T) {
	a := newManageAPI(t, map[string]string{"POST /api/v1/keys": `201 {"data":` + ada + `,"key":"gh-secret"}`, "GET /v1/about": newKeys})
	page := a.visit("/console/keys/new", nil)
	a.shows(page, 200, "Issue a key")
	id := regexp.MustCompile(`name="form" value="([0-9a-f]{32})"`).FindStringSubmatch(page.Body.String())
	if id == nil {
		t.Fatal("the form has no id")
	}
	form := url.Values{
		"form": {id[1]}, "name": {" Ada "}, "limit": {"2.5"}, "limit_reset": {"daily"}, "expires": {"720h"}, "scopes": {"chat:write", "models:read"},
		"models": {"test/*\r\nopenai/*\r\n"}, "mcp": {"demo/*"}, "rates": {"60/min"}, "concurrency": {"4"}, "max_output_tokens": {"1000"},
	}
	a.shows(a.visit("/console/keys/new", form), 201, "The key Ada is issued", "Copy the secret now.", "gh-secret", "http://example.com/v1")
	var got map[string]any
	if err := json.Unmarshal([]byte(a.last().body), &got); err != nil {
		t.Fatal(err)
	}
	want := `{"concurrency":"4","expires_at":"2026-12-23T02:20:00Z","limit":2.5,"limit_reset":"daily","max_output_tokens":1000,"mcp":["demo/*"],"models":["test/*","openai/*"],"name":"Ada","rates":["60/min"],"scopes":["chat:write","models:read"]}`
	if again, _ := json.Marshal(got); string(again) != want || a.last().header.Get("Idempotency-Key") != id[1] {
		t.Errorf("sent %s with %v", again, a.last().header)
	}
	a.answers["POST /api/v1/keys"] = refusalOf("Idempotency-Key", "this Idempotency-Key has made the key with the hash "+adaHash+" already")
	w := a.visit("/console/keys/new", form) // a reload
	a.shows(w, 200, "This key is issued already", "!gh-secret")
	if !strings.Contains(w.Body.String(), `href="/console/keys/`+adaHash+`"`) {
		t.Error("no link to the key")
	}
}

// newKeys is what the gateway allows keys that are made at run time.
const newKeys = `200 {"runtime_keys":true,"new_keys":{"scopes":["chat:write","models:read"],"models":[],"rates":[],"budgets":[],"concurrency":null,"max_output_tokens":null}}`

func TestTheFormOfANewKeyOffersWhatIsAllowed(t *testing.T) {
	a := newManageAPI(t, map[string]string{"GET /v1/about": newKeys})
	w := a.visit("/console/keys/new", nil)
	a.shows(w, 200, "One pattern a line, such as openai/*", "The block runtime_keys allows none.", "!At most", "Scopes chat:write models:read None chosen")
	if n := strings.Count(w.Body.String(), `name="scopes"`); n != 2 {
		t.Errorf("%d scopes are offered", n)
	}
	a.answers["GET /v1/about"] = `200 {"runtime_keys":true,"new_keys":{"scopes":["chat:write"],"models":["openai/*","test/<i>"],"mcp":["demo/*","crm/<i>"],"rates":["60/min","5 tokens/min"],
		"budgets":["10usd/day","5000000 tokens/month"],"concurrency":"4 queue 2 10s","max_output_tokens":4096}}`
	w = a.visit("/console/keys/new", nil)
	a.shows(w, 200, "within openai/*, test/<i>. Empty: all of them.", "within demo/*, crm/<i>. Empty: none.", "empty: no limit of its own. At most 10usd/day.", "tokens/min. At most 60/min, 5 tokens/min.",
		"tokens/month. At most 10usd/day, 5000000 tokens/month.", "such as 4. At most 4 queue 2 10s.", "Of one answer. At most 4096.")
	if n := strings.Count(w.Body.String(), `name="scopes"`); n != 1 || strings.Contains(w.Body.String(), "<i>") {
		t.Errorf("%d scopes are offered in %s", n, w.Body)
	}
	a.answers["GET /v1/about"] = `200 {"runtime_keys":false}`
	a.shows(a.visit("/console/keys/new", nil), 404, "no block runtime_keys", "!Issue the key")
}

func TestWhatIsWrongWithANewKeyStandsBesideItsField(t *testing.T) {
	a := newManageAPI(t, nil)
	for _, field := range []string{"name", "limit", "limit_reset", "expires_at", "scopes", "models", "mcp", "rates", "budgets", "concurrency", "max_output_tokens"} {
		a.answers = map[string]string{"GET /v1/about": newKeys, "POST /api/v1/keys": refusalOf(field, field+": is wrong")}
		w := a.visit("/console/keys/new", url.Values{"form": {"0123"}, "name": {"Ada"}, "limit": {"many"}})
		a.shows(w, 400, field+": is wrong")
		if body := w.Body.String(); !strings.Contains(body, `id="`+field+`-wrong"`) || !strings.Contains(body, `aria-describedby="`+field+`-wrong `) ||
			!strings.Contains(body, `value="many"`) || !strings.Contains(body, `name="form" value="0123"`) {
			t.Errorf("%s: %s", field, body)
		}
	}
	if a.last().body != `{"limit":"many","name":"Ada"}` {
		t.Errorf("sent %s", a.last().body)
	}
	a.answers = map[string]string{"GET /v1/about": newKeys, "POST /api/v1/keys": `403 {"error":{"code":403,"message":"the gateway has 10 keys","metadata":{"error_type":"permission_denied"}}}`}
	a.shows(a.visit("/console/keys/new", url.Values{"name": {"Ada"}}), 403, "the gateway has 10 keys", "Issue the key")
}

func TestAKeyIsDisabledEnabledAndDeleted(t *testing.T) {
	path := "/console/keys/" + adaHash
	a := newManageAPI(t, map[string]string{
		"GET /api/v1/keys/" + adaHash: `200 {"data":` + ada + `}`, "PATCH /api/v1/keys/" + adaHash: `200 {"data":` + ada + `}`, "DELETE /api/v1/keys/" + adaHash: `200 {"deleted":true}`,
	})
	a.shows(a.visit(path+"/disable", nil), 200, "Disable Ada?", "Its next request is refused (401) until it is enabled again, and what is open with it ends at once.")
	a.shows(a.visit(path+"/delete", nil), 200, "Delete Ada?", "This cannot be undone", "The key 111111111111… with its secret", "What it has spent ($30.00) and its rows stay")
	for _, s := range a.asked {
		if !strings.HasPrefix(s.route, "GET ") {
			t.Errorf("%s before it was confirmed", s.route)
		}
	}
	a.wantRedirect(a.visit(path+"/disable", url.Values{}), path+"?done=disabled")
	if a.last().body != `{"disabled":true}` {
		t.Errorf("sent %s", a.last().body)
	}
	a.wantRedirect(a.visit(path+"/enable", url.Values{}), path+"?done=enabled")
	if a.last().body != `{"disabled":false}` {
		t.Errorf("sent %s", a.last().body)
	}
	a.wantRedirect(a.visit(path+"/delete", url.Values{}), "/console/keys?done=deleted")
	refused := `503 {"error":{"code":503,"message":"nothing was changed","metadata":{"error_type":"provider_overloaded"}}}`
	a.answers["PATCH /api/v1/keys/"+adaHash], a.answers["DELETE /api/v1/keys/"+adaHash] = refused, refused
	for page, title := range map[string]string{"/disable": "Disable Ada?", "/delete": "Delete Ada?", "/enable": "Not available now"} {
		a.shows(a.visit(path+page, url.Values{}), 503, "nothing was changed", title)
	}
}

// A reload of the page with the new secret must not make another one: the one that was copied would end.
func TestAKeyIsRotatedOnceForEachForm(t *testing.T) {
	path := "/console/keys/" + adaHash
	a := newManageAPI(t, map[string]string{
		"GET /api/v1/keys/" + adaHash:              `200 {"data":` + ada + `}`,
		"POST /api/v1/keys/" + adaHash + "/rotate": `201 {"data":` + strings.Replace(ada, `"previous_key_expires_at":null`, `"previous_key_expires_at":"2026-11-24T02:20:00.000Z"`, 1) + `,"key":"gh-other"}`,
	})
	page := a.visit(path+"/rotate", nil)
	a.shows(page, 200, "Rotate the secret of Ada", "stays good for a day")
	updated := regexp.MustCompile(`name="updated" value="([^"]+)"`).FindStringSubmatch(page.Body.String())
	if updated == nil {
		t.Fatal("the form does not say which version of the key it is for")
	}
	form := url.Values{"updated": updated[1:], "grace": {"24h"}}
	a.shows(a.visit(path+"/rotate", form), 201, "has another secret", "gh-other", "stays good until 24 Nov 2026 02:20:00 UTC")
	if a.last().body != `{"grace":"24h"}` {
		t.Errorf("sent %s", a.last().body)
	}
	a.answers["GET /api/v1/keys/"+adaHash] = `200 {"data":` + strings.Replace(ada, "02:20:00.500Z", "02:20:01.000Z", 1) + `}`
	sent := len(a.asked)
	a.shows(a.visit(path+"/rotate", form), 409, "was changed after this form was made", "!gh-other")
	for _, s := range a.asked[sent:] {
		if !strings.HasPrefix(s.route, "GET ") {
			t.Errorf("asked %v", s)
		}
	}
	a.answers["GET /api/v1/keys/"+adaHash] = `200 {"data":` + ada + `}`
	a.answers["POST /api/v1/keys/"+adaHash+"/rotate"] = refusalOf("grace", "grace: want a duration")
	a.shows(a.visit(path+"/rotate", form), 400, "grace: want a duration")
}

func TestTheLimitsOfAKeyAreChanged(t *testing.T) {
	path := "/console/keys/" + adaHash
	a := newManageAPI(t, map[string]string{
		"GET /api/v1/keys/" + adaHash: `200 {"data":` + ada + `}`, "PATCH /api/v1/keys/" + adaHash: `200 {"data":` + ada + `}`, "GET /v1/about": "200 {}",
	})
	page := a.visit(path+"/limits", nil)
	a.shows(page, 200, "Change the limits of Ada", "today", "the next call is refused (402)")
	updated := regexp.MustCompile(`name="updated" value="([^"]+)"`).FindStringSubmatch(page.Body.String())
	if updated == nil {
		t.Fatal("the form does not say which version of the key it is for")
	}
	form := url.Values{"updated": updated[1:], "limit": {"5"}, "limit_reset": {"daily"}, "rates": {"30/min\r\n\r\n"}, "budgets": {""}, "max_output_tokens": {"500"}}
	if w := a.visit(path+"/limits", form); w.Code != 303 || w.Header().Get("Location") != path+"?done=limits" {
		t.Errorf("%d to %s", w.Code, w.Header().Get("Location"))
	}
	if want := `{"budgets":null,"concurrency":null,"limit":5,"limit_reset":"daily","max_output_tokens":500,"rates":["30/min"]}`; a.last().body != want {
		t.Errorf("sent %s, want %s", a.last().body, want)
	}
	a.answers["PATCH /api/v1/keys/"+adaHash] = refusalOf("rates", "rates: want a number")
	form.Set("rates", "many")
	a.shows(a.visit(path+"/limits", form), 400, "rates: want a number", "many")
	form.Set("updated", "2026-01-01T00:00:00Z")
	sent := len(a.asked)
	a.shows(a.visit(path+"/limits", form), 409, "was changed after this form was made", "many")
	for _, s := range a.asked[sent:] {
		if !strings.HasPrefix(s.route, "GET ") {
			t.Errorf("asked %v", s)
		}
	}
}

func TestTheFormOfLimitsHasThoseOfTheKey(t *testing.T) {
	limit, most := 12.5, int64(500)
	f := limitsOf(&keyRow{Limit: &limit, Reset: "weekly", Rates: []string{"60/min", "100 tokens/min"}, Budgets: []string{"1usd/day"}, Concurrency: "4", MaxOutput: &most})
	for field, want := range map[string]string{
		"limit": "12.5", "limit_reset": "weekly", "rates": "60/min\n100 tokens/min", "budgets": "1usd/day", "concurrency": "4", "max_output_tokens": "500",
	} {
		if got := f.Value(field); got != want {
			t.Errorf("%s: %q, want %q", field, got, want)
		}
	}
	if body := literal(limitsBody(f)); body != `{"budgets":["1usd/day"],"concurrency":"4","limit":12.5,"limit_reset":"weekly","max_output_tokens":500,"rates":["60/min","100 tokens/min"]}` {
		t.Errorf("what is not changed is sent as %s", body)
	}
}
