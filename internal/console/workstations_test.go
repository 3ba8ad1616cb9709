package console

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/keys"
)

const threeWorkstations = `200 {"object":"list","data":[
	{"workstation_id":"desk1","tenant":"acme","source":"declared","state":"available","sessions":1,"tokens":2},
	{"workstation_id":"desk2","tenant":"acme","source":"declared","state":"released","sessions":0,"tokens":0,"released_at":"2026-11-23T02:10:00Z"},
	{"workstation_id":"lab","tenant":"acme","source":"registered","state":"released","sessions":0,"tokens":0,"address":"10.0.0.9:5901","registered_at":"2026-11-20T00:00:00Z","released_at":"2026-11-23T02:10:00Z"}]}`

func TestWorkstationsAreShownWithWhatCanBeDone(t *testing.T) {
	a := newManageAPI(t, map[string]string{"GET /v1/workstations": threeWorkstations})
	w := a.visit("/console/workstations?done=released", nil)
	a.shows(w, 200, "The workstation is released", "desk1 in use 1 in the Caddyfile Open desktop Release…", "desk2 released 10 minutes ago 0 in the Caddyfile Put in service again",
		"lab released 10 minutes ago 0 10.0.0.9:5901 Register again", "Register a workstation", "!the key needs")
	for _, want := range []string{
		`href="/console/workstations/desk1/desktop"`, `href="/console/workstations/desk1/release"`, `action="/console/workstations/desk2/restore"`,
		`href="/console/workstations?address=10.0.0.9%3A5901&amp;name=lab#register"`, `href="/console/sessions?workstation=desk1"`,
	} {
		if !strings.Contains(w.Body.String(), want) {
			t.Errorf("no %s", want)
		}
	}
	a.key.Scopes = keys.WorkstationsConnect
	a.shows(a.visit("/console/workstations", nil), 200, "the key needs workstations:manage", "Open desktop", "!Release…", "!Put in service", "!Register a")
	a.key.Scopes = keys.WorkstationsManage
	a.shows(a.visit("/console/workstations", nil), 200, "To open a desktop, the key needs workstations:connect", "!Open desktop", "Release…")
	a.key = keys.Key{Name: "ops", Tenant: "other", Scopes: 1<<16 - 1, AllTenants: true}
	a.shows(a.visit("/console/workstations", nil), 200, "acme", "of another tenant", "!Open desktop", "!Release…")
}

func TestWithoutWorkstationsThePageSaysWhatToDo(t *testing.T) {
	a := newManageAPI(t, map[string]string{"GET /v1/workstations": `404 {"error":{"message":"this gateway has no workstations","code":"unknown_url"}}`})
	a.shows(a.visit("/console/workstations", nil), 200, "This gateway has no workstations", "test_card", "!Register a workstation")
	a.answers["GET /v1/workstations"] = `200 {"object":"list","data":[]}`
	a.shows(a.visit("/console/workstations", nil), 200, "There is no workstation for this tenant", "Register a workstation")
	a.answers["GET /v1/workstations"] = `503 {"error":{"message":"the records have not been read yet","code":"storage_unavailable"}}`
	a.shows(a.visit("/console/workstations", nil), 503, "the records have not been read yet")
}

func TestAWorkstationIsRegistered(t *testing.T) {
	a := newManageAPI(t, map[string]string{"GET /v1/workstations": threeWorkstations, "PUT /v1/workstations/lab 7": `201 {}`})
	form := url.Values{"name": {"lab 7"}, "address": {"10.0.0.7:5901"}, "credential": {"lab"}}
	a.wantRedirect(a.visit("/console/workstations", form), "/console/workstations?done=registered")
	if a.last().body != `{"address":"10.0.0.7:5901","credential":"lab"}` {
		t.Errorf("sent %s", a.last().body)
	}
	for param, message := range map[string]string{"address": "address: want host:port", "credential": "there is no such credential", "workstation_id": "a name is 1 to 128 letters", "other": "no"} {
		a.answers["PUT /v1/workstations/lab 7"] = refusalOf(param, message)
		w := a.visit("/console/workstations", form)
		a.shows(w, 400, message)
		body := w.Body.String()
		if marked := strings.Contains(body, `aria-invalid="true" aria-describedby="`+param+`-wrong `); marked != (param != "other") || !strings.Contains(body, `value="10.0.0.7:5901"`) {
			t.Errorf("%s: %s", param, body)
		}
	}
	delete(form, "name")
	a.shows(a.visit("/console/workstations", form), 400, "the name is missing")
}

func TestWorkstationsOfASourceAreShownWithIt(t *testing.T) {
	a := newManageAPI(t, map[string]string{
		"GET /v1/workstations": `200 {"object":"list","data":[{"workstation_id":"lab1","tenant":"acme","source":"lab","state":"available"}],"sources":[{"tenant":"acme","source":"lab","list":"complete"}]}`,
	})
	a.shows(a.visit("/console/workstations", nil), 200, "from lab", "!has no list", "!Change…", "!cannot be read now")
	a.answers["GET /v1/workstations"] = `200 {"object":"list","data":[],"sources":[{"tenant":"acme","source":"lab","list":"missing"},{"tenant":"b","source":"far","list":"unavailable"}]}`
	a.shows(a.visit("/console/workstations", nil), 200, "The source lab has no list", "The list of the source far cannot be read now")
}

func TestAReleaseIsAskedForFirst(t *testing.T) {
	a := newManageAPI(t, map[string]string{
		"GET /v1/workstations/desk1":    `200 {"workstation_id":"desk1","tenant":"acme","source":"declared","state":"available","sessions":1,"tokens":2}`,
		"DELETE /v1/workstations/desk1": `204 `,
		"PUT /v1/workstations/desk1":    `200 {}`,
	})
	a.shows(a.visit("/console/workstations/desk1/release", nil), 200, "Release desk1?", "What is lost", "1 open session: whoever sits there is disconnected within a second.",
		"can be used again (2)", "The list has a button", "Cancel")
	if len(a.asked) != 1 {
		t.Errorf("asked %v before it was confirmed", a.asked)
	}
	a.wantRedirect(a.visit("/console/workstations/desk1/release", url.Values{}), "/console/workstations?done=released")
	a.wantRedirect(a.visit("/console/workstations/desk1/restore", url.Values{}), "/console/workstations?done=restored")
	if a.last().body != "{}" {
		t.Errorf("sent %s", a.last().body)
	}
	a.answers["DELETE /v1/workstations/desk1"] = `503 {"error":{"message":"the storage does not answer","code":"storage_unavailable"}}`
	a.shows(a.visit("/console/workstations/desk1/release", url.Values{}), 503, "the storage does not answer", "Release desk1?")
	a.answers["GET /v1/workstations/desk1"] = `200 {"workstation_id":"desk1","source":"registered","address":"10.0.0.9:5901"}`
	a.shows(a.visit("/console/workstations/desk1/release", nil), 200, "Nobody has it open now", "register it again", "!What is lost")
	a.answers["GET /v1/workstations/desk1"] = `200 {"workstation_id":"desk1","source":"lab"}`
	a.shows(a.visit("/console/workstations/desk1/release", nil), 200, "Its source is asked who gets it next", "The source lab still has the workstation", "!register it again")
	a.shows(a.visit("/console/workstations/gone/release", nil), 404, "there is no such thing")
}

// Each picture is a connection to a desktop, and takes one of those that agents may have.
func TestTheListShowsDesktopsWhereSomebodyIs(t *testing.T) {
	var rows []string
	for i, row := range []string{
		`"tenant":"acme","automation":"view","sessions":1,"state":"available"`, `"tenant":"acme","automation":"control","sessions":2,"state":"available"`,
		`"tenant":"acme","sessions":1,"state":"available"`, `"tenant":"acme","automation":"view","sessions":0,"state":"available"`,
		`"tenant":"acme","automation":"view","sessions":1,"state":"released"`, `"tenant":"other","automation":"view","sessions":1,"state":"available"`,
	} {
		rows = append(rows, fmt.Sprintf(`{"workstation_id":"d%d",%s}`, i, row))
	}
	a := newManageAPI(t, map[string]string{"GET /v1/workstations": `200 {"data":[` + strings.Join(rows, ",") + `]}`})
	body := a.visit("/console/workstations", nil).Body.String()
	for i := range rows {
		if has := strings.Contains(body, fmt.Sprintf(`<img class="thumbnail" src="/console/workstations/d%d/screenshot" alt="" loading="lazy"`, i)); has != (i < 2) {
			t.Errorf("d%d has a picture: %v", i, has)
		}
	}
	a.key.Scopes = keys.WorkstationsConnect | keys.WorkstationsManage
	if body := a.visit("/console/workstations", nil).Body.String(); strings.Contains(body, "<img class=\"thumbnail\"") {
		t.Error("a key that may not automate gets pictures")
	}
	a.key.Scopes |= keys.WorkstationsAutomate
	a.answers["GET /v1/workstations"] = `200 {"data":[` + strings.TrimSuffix(strings.Repeat(rows[0]+",", 50), ",") + `]}`
	if n := strings.Count(a.visit("/console/workstations", nil).Body.String(), "<img class=\"thumbnail\""); n != 12 {
		t.Errorf("%d pictures", n)
	}
}

func TestAPictureOfADesktopComesFromThePublicRoute(t *testing.T) {
	a := newManageAPI(t, map[string]string{"GET /v1/workstations/d1/screenshot": "200 PNG"})
	a.known = `"abc"`
	w := a.visit("/console/workstations/d1/screenshot", nil)
	if w.Code != 200 || w.Body.String() != "PNG" || w.Header().Get("Content-Disposition") != "" {
		t.Errorf("%d %v %s", w.Code, w.Header(), w.Body)
	}
	if q := a.asked[0]; q.query.Get("max_width") != "320" || q.header.Get("If-None-Match") != `"abc"` {
		t.Errorf("asked %v", q)
	}
	a.answers["GET /v1/workstations/d1/screenshot"] = "304 "
	if w := a.visit("/console/workstations/d1/screenshot", nil); w.Code != 304 {
		t.Errorf("%d", w.Code)
	}
	a.answers["GET /v1/workstations/d1/screenshot"] = `429 {"error":{"message":"agents have 64 desktops open","code":"automation_busy"}}`
	a.shows(a.visit("/console/workstations/d1/screenshot", nil), 429, "agents have 64 desktops open")
}
