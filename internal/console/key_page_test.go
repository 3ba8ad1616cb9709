package console

import (
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/keys"
)

// keyAnswers are the answers for the page of a key that is used, by the name that rows have of it.
func keyAnswers(id string) map[string]string {
	limit := func(kind, more string) string {
		return `{"subject":"` + kind + `","tenant":"acme","type":"budget","configured":"10usd/day","unit":"usd","limit":10,"remaining":2.5,"used_ratio":0.75,"exhausted":false,"resets_at":"2026-11-24T00:00:00Z","period":"day","spent":7.5,"reserved":0` + more + `}`
	}
	return map[string]string{
		"GET /v1/about": newKeys,
		"GET /api/v1/activity/series": `200 {"by":"code","step":"day","from":"2026-10-24T00:00:00Z","to":"2026-11-24T00:00:00Z","complete":true,"data":[
			{"name":"","points":[{"at":"2026-11-01T00:00:00Z","requests":7,"cost":4}]},
			{"name":"rate_limit_exceeded","points":[{"at":"2026-11-02T00:00:00Z","requests":9,"errors":9},{"at":"2026-11-20T00:00:00Z","requests":1,"errors":1}]},
			{"name":"budget_exceeded","points":[{"at":"2026-11-23T00:00:00Z","requests":2,"errors":2}]}],
			"total":{"points":[{"at":"2026-11-01T00:00:00Z","requests":7,"cost":4},{"at":"2026-11-20T00:00:00Z","requests":10,"errors":1,"cost":1},{"at":"2026-11-23T00:00:00Z","requests":1200,"errors":2,"unpriced":4}]}}`,
		"GET /api/v1/activity/series?step=hour":          `200 {"complete":true,"step":"hour","total":{"points":[{"at":"2026-11-23T01:00:00Z","requests":3},{"at":"2026-11-23T02:00:00Z","requests":30}]}}`,
		"GET /api/v1/activity":                           `200 {"data":[]}`,
		"GET /api/v1/activity?from=2026-11-23T02:00:00Z": `200 {"data":[{"id":"gen-1","key":"` + id + `","tenant":"acme","model":"test/echo","status":200,"created_at":"2026-11-23T02:00:00Z"}]}`,
		"GET /api/v1/limits?subject=key:" + id:           `200 {"data":[` + limit("key:"+id, "") + `,{"subject":"key:` + id + `","type":"concurrency","configured":"4","limit":4,"remaining":2,"used_ratio":0.5,"in_use":2,"queued":0}]}`,
		"GET /api/v1/limits?subject=tenant:acme":         `200 {"data":[` + limit("tenant:acme", "") + `]}`,
		"GET /api/v1/limits?subject=gateway":             `200 {"data":[]}`,
		"GET /v1/mcp":                                    `200 {"data":[{"id":"demo","status":"failing"}]}`,
		"GET /v1/workstations":                           `200 {"data":[{"workstation_id":"desk1","tenant":"acme","state":"available"},{"workstation_id":"gone","tenant":"acme","state":"released"},{"workstation_id":"other","tenant":"lab","state":"available"}]}`,
		"GET /v1/sessions":                               `200 {"data":[{"workstation_id":"desk1","tenant":"acme","key":"` + id + `","user":"<b>ann</b>","started_at":"2026-11-23T01:20:00Z"},{"workstation_id":"desk1","key":"` + id + `","role":"guest","started_at":"2026-11-23T02:18:00Z"}]}`,
	}
}

func TestAKeyIsShownWithAllThatItDoesAndMayDo(t *testing.T) {
	a := newManageAPI(t, keyAnswers(adaHash))
	a.answers["GET /api/v1/keys/"+adaHash] = `200 {"data":` + ada + `}`
	w := a.visit("/console/keys/"+adaHash, nil)
	a.shows(w, 200, "Ada All keys Change limits… Rotate the secret… Disable… Delete…", "active expires in 30 days ; made at run time 3 days ago", "!Enable", "!Caddyfile",
		"Calls today 1,200 cost unknown; 2 refused or failed", "Calls in 7 days 1,210 $1.00 without 4 calls of unknown price; 3 refused or failed", "Calls this month 1,217 $5.00", "Last used 20 minutes ago",
		"Scopes chat:write Models test/* Tools demo/echo failing Rates none of its own Budgets none of its own Calls at once no limit Longest output no limit of its own",
		"desk1 by <b>ann</b> opened 1 hour ago desk1 guest opened 2 minutes ago", "May nothing at desktops", "Limit $10.00 daily, $2.50 left Spent $7.50 today, $20.00 this month, $30.00 in all",
		"key Ada budget 10usd/day 75 % 75 % $7.50 spent $2.50", "key Ada concurrency 4 50 % 50 % 2 under way 2", "tenant acme budget 10usd/day",
		"Refused or failed in 7 days (3 of 1,210)", "budget_exceeded 402 2", "rate_limit_exceeded 429 1", "Newest calls All of 30 days", "test/echo")
	if !strings.Contains(w.Body.String(), `<svg class="chart strip"`) {
		t.Error("no chart of its requests")
	}
	if strings.Contains(w.Body.String(), "<b>ann") {
		t.Error("a name has become an element")
	}
	for _, link := range []string{
		`/console/activity?from=2026-11-23&amp;key=` + adaHash + `&amp;range=custom`, `/console/activity?code=rate_limit_exceeded&amp;from=2026-11-17&amp;key=` + adaHash, `/console/tools/demo`,
		`/console/limits?subject=key:` + adaHash, `/console/sessions?key=` + adaHash, `/console/activity/gen-1`,
	} {
		if !strings.Contains(w.Body.String(), `href="`+link) {
			t.Errorf("no link %s in %s", link, w.Body)
		}
	}
	var asked []string
	for _, s := range a.asked {
		if strings.Contains(s.route, "activity") || strings.Contains(s.route, "sessions") {
			asked = append(asked, s.route[len("GET /"):]+"?"+s.query.Encode())
		}
	}
	want := strings.ReplaceAll(`api/v1/activity/series?by=code&from=2026-10-24T00%3A00%3A00Z&key=ID&step=day&to=2026-11-24T00%3A00%3A00Z&top=50
api/v1/activity/series?by=code&from=2026-11-23T00%3A00%3A00Z&key=ID&step=hour&to=2026-11-24T00%3A00%3A00Z&top=50
api/v1/activity?from=2026-11-23T02%3A00%3A00Z&key=ID&limit=20&to=2026-11-23T03%3A00%3A00Z
api/v1/activity?from=2026-11-23T01%3A00%3A00Z&key=ID&limit=19&to=2026-11-23T02%3A00%3A00Z
v1/sessions?key=ID`, "ID", adaHash)
	if got := strings.Join(asked, "\n"); got != want {
		t.Errorf("asked\n%s\nwant\n%s", got, want)
	}
	for was, shown := range map[[2]string]string{
		{`"disabled":false`, `"disabled":true`}:                                                "Ada All keys Change limits… Rotate the secret… Enable Delete… disabled expires in 30 days",
		{"2026-12-23T02:20:00", "2026-11-22T02:20:00"}:                                         "expired 1 day ago",
		{`"previous_key_expires_at":null`, `"previous_key_expires_at":"2026-11-24T02:20:00Z"`}: "the secret before this one is good until 24 Nov 2026 02:20:00 UTC",
	} {
		a.answers["GET /api/v1/keys/"+adaHash] = `200 {"data":` + strings.Replace(ada, was[0], was[1], 1) + `}`
		a.shows(a.visit("/console/keys/"+adaHash, nil), 200, shown)
	}
}

const ci = `{"name":"ci","tenant":"acme","source":"configuration","disabled":false,"expires_at":null,"scopes":["chat:write","workstations:connect"],"models":[],"mcp":[],"hosted_tools":true,"all_tenants":false}`

func TestAKeyOfTheCaddyfileIsShownWithTheLinesThatChangeIt(t *testing.T) {
	a := newManageAPI(t, keyAnswers("ci"))
	a.answers["GET /api/v1/keys/ci?source=configuration"] = `200 {"data":` + ci + `}`
	w := a.visit("/console/keys/ci", nil)
	a.shows(w, 200, "active never expires; of the Caddyfile", "Scopes chat:write, workstations:connect Models all that can be called Tools none Tools of providers yes Sees its tenant",
		"May open the workstations of its tenant Workstations desk1", "!gone", "!other", "key ci { # stopped until taken out disabled", "secret {env.ANOTHER}", "caddy reload", "key ci budget 10usd/day", "Calls today 1,200", "!Rotate the", "!Delete…", "!Hash", "!Spent")
	if strings.Contains(w.Body.String(), "<form method=\"post\" action=\"/console/keys") {
		t.Error("there is a form")
	}
	a.answers["GET /api/v1/keys/ci?source=configuration"] = `200 {"data":` + strings.Replace(ci, `"disabled":false`, `"disabled":true`, 1) + `}`
	a.shows(a.visit("/console/keys/ci", nil), 200, "disabled never expires", "enabled once taken out")
}

// A name of the Caddyfile can be the one of another page, or look like a hash.
func TestEveryNameOfTheCaddyfileHasAPage(t *testing.T) {
	for _, name := range []string{"new", adaHash[:63] + "2"} {
		a := newManageAPI(t, keyAnswers(name))
		a.answers["GET /api/v1/keys?source=configuration"] = `200 {"data":[` + strings.Replace(ci, "ci", name, 1) + `]}`
		a.answers["GET /api/v1/keys"] = `200 {"data":[]}`
		a.answers["GET /api/v1/keys/"+name+"?source=configuration"] = `200 {"data":` + strings.Replace(ci, "ci", name, 1) + `}`
		list := a.visit("/console/keys", nil).Body.String()
		_, link, _ := strings.Cut(list, `<th scope="row" class="wrap"><a href="`)
		link, _, _ = strings.Cut(link, `"`)
		a.shows(a.visit(link, nil), 200, "of the Caddyfile", "key "+name+" {")
	}
}

func TestAKeyOfAnotherTenantOrWithoutARouteIsNotFound(t *testing.T) {
	for _, id := range []string{adaHash, "other", "%3Cimg%20src=x%3E", "a%2Fb"} {
		a := newManageAPI(t, nil)
		a.shows(a.visit("/console/keys/"+id, nil), 404, "Not found", "!Rotate")
		if body := a.visit("/console/keys/"+id, nil).Body.String(); strings.Contains(body, "<img src=x") {
			t.Error("a name has become an element")
		}
		for _, page := range []string{"/rotate", "/disable", "/delete"} {
			a.shows(a.visit("/console/keys/"+id+page, nil), 404, "Not found")
		}
	}
}

func TestAPartOfTheKeysPageSaysWhichScopeItNeeds(t *testing.T) {
	a := newManageAPI(t, keyAnswers(adaHash))
	a.answers["GET /api/v1/keys/"+adaHash] = `200 {"data":` + ada + `}`
	a.key.Scopes = keys.KeysManage
	a.shows(a.visit("/console/keys/"+adaHash, nil), 200, "The scope activity:read shows its calls", "The scope limits:read shows its limits", "The scope workstations:manage shows which workstations",
		"Spent $7.50 today", "Tools demo/echo Rates", "!Newest calls", "!Refused or failed", "!Calls today")
	for _, s := range a.asked {
		if s.route != "GET /api/v1/keys/"+adaHash && s.route != "GET /v1/about" {
			t.Errorf("asked %s", s.route)
		}
	}
	a.shows(a.visit("/console/keys/"+adaHash+"/disable", nil), 200, "Its open desktops and VNC addresses. How many desktops are open, a key with workstations:manage sees.", "Calls under way finish", "!Since")
}

func TestAKeyThatWasNeverUsedHasAPage(t *testing.T) {
	a := newManageAPI(t, map[string]string{
		"GET /api/v1/keys/" + adaHash: `200 {"data":` + strings.Replace(ada, `"scopes":["chat:write"]`, `"scopes":[]`, 1) + `}`, "GET /v1/about": newKeys,
		"GET /api/v1/activity/series": `200 {"complete":true,"data":[],"total":{"points":[]}}`,
		"GET /v1/mcp":                 `200 {"data":[]}`, "GET /v1/workstations": `404 {"error":{"message":"no","code":"unknown_url"}}`,
	})
	for _, subject := range []string{"key:" + adaHash, "tenant:acme", "gateway"} {
		a.answers["GET /api/v1/limits?subject="+subject] = `200 {"data":[]}`
	}
	a.shows(a.visit("/console/keys/"+adaHash, nil), 200, "Scopes chat:write, models:read, as runtime_keys has it", "Calls today 0 no calls", "Last used not in 30 days", "It was not used in the last 30 days.",
		"Neither the key, nor its tenant, nor the gateway has a limit.", "!Desktops May", "!None of its calls")
	for _, s := range a.asked {
		if s.route == "GET /api/v1/activity" {
			t.Error("rows are read although the sums have none")
		}
	}
	a.answers["GET /api/v1/activity/series"] = `200 {"complete":true,"from":"2026-10-24T00:00:00Z","to":"2026-11-24T00:00:00Z","step":"day","data":[],"total":{"points":[{"at":"2026-11-20T00:00:00Z","requests":3}]}}`
	a.answers["GET /api/v1/activity"] = `200 {"data":[]}`
	a.shows(a.visit("/console/keys/"+adaHash, nil), 200, "Last used 2026-11-20", "Their rows are deleted", "None of its calls was refused or failed in 7 days.", "Calls in 7 days 3 $0.00")
	a.answers["GET /api/v1/activity/series"] = `503 {"error":{"message":"the rows cannot be read now","code":"storage_unavailable"}}`
	a.answers["GET /v1/workstations"] = a.answers["GET /api/v1/activity/series"]
	a.answers["GET /api/v1/limits?subject=gateway"] = a.answers["GET /api/v1/activity/series"]
	a.answers["GET /v1/mcp"] = a.answers["GET /api/v1/activity/series"]
	a.shows(a.visit("/console/keys/"+adaHash, nil), 200, "Its calls cannot be read now: the rows cannot be read now.", "Tools demo/echo", "Desktops They cannot be read now", "of its calls Its limits They cannot be read now")
}

func TestWhatEndsWithAKeyIsSaidBefore(t *testing.T) {
	path := "/console/keys/" + adaHash
	a := newManageAPI(t, keyAnswers(adaHash))
	a.answers["GET /api/v1/keys/"+adaHash] = `200 {"data":` + ada + `}`
	a.answers["GET /api/v1/activity/series"] = `200 {"by":"code","from":"2026-11-23T01:21:00Z","data":[],"total":{"total":{"requests":1200}}}`
	for _, page := range []string{"/disable", "/delete", "/rotate"} {
		a.shows(a.visit(path+page, nil), 200, "Since 01:21 UTC 1,200 calls came from it.", "2 open desktops (desk1), and its VNC addresses.", "The sign-ins to the console with it", "2 calls under way now: what has begun finishes, and is charged.")
	}
	a.shows(a.visit(path+"/delete", nil), 200, "This cannot be undone")
	a.answers["GET /v1/sessions"] = `200 {"data":[]}`
	a.answers["GET /api/v1/limits?subject=key:"+adaHash] = `200 {"data":[]}`
	a.answers["GET /api/v1/activity/series"] = `200 {"by":"code","from":"2026-11-23T01:21:00Z","data":[],"total":{"total":{"requests":0}}}`
	a.shows(a.visit(path+"/disable", nil), 200, "Since 01:21 UTC no call came from it.", "Its VNC addresses. No desktop is open with it now.", "Calls under way finish, and are charged.")
	a.answers["GET /v1/workstations"] = `404 {"error":{"message":"no","code":"unknown_url"}}`
	a.answers["GET /api/v1/activity/series"] = `503 {"error":{"message":"not now","code":"storage_unavailable"}}`
	a.shows(a.visit(path+"/disable", nil), 200, "Disable Ada?", "!Since", "!VNC")
}

func TestANameOfAKeyLeadsToItsPage(t *testing.T) {
	rows := `200 {"data":[{"id":"gen-1","key":"ci","tenant":"acme","model":"test/echo","status":200,"created_at":"2026-11-23T02:00:00Z"}]}`
	a := newManageAPI(t, map[string]string{
		"GET /api/v1/activity": rows, "GET /api/v1/activity/series": `200 {"step":"hour","data":[],"total":{}}`, "GET /v1/about": newKeys,
		"GET /v1/sessions":   `200 {"data":[{"workstation_id":"desk1","key":"ci"}]}`,
		"GET /api/v1/limits": `200 {"data":[{"subject":"key:ci","type":"rate","configured":"60/min","limit":60},{"subject":"tenant:acme","type":"rate","configured":"60/min","limit":60}]}`,
	})
	pages := []string{"/console/activity", "/console/activity/gen-1", "/console/sessions", "/console/limits"}
	for _, page := range pages {
		if body := a.visit(page, nil).Body.String(); !strings.Contains(body, `href="/console/keys/ci"`) || strings.Contains(body, "keys/acme") {
			t.Errorf("%s: %s", page, body)
		}
	}
	a.key.Scopes &^= keys.KeysManage
	for _, page := range pages {
		if body := a.visit(page, nil).Body.String(); strings.Contains(body, `/console/keys/`) {
			t.Errorf("%s leads to a page that the key may not see", page)
		}
	}
}
