package handlers

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"
)

func TestARegistrationHasAMachine(t *testing.T) {
	g := startGateway(t, setup{Workstations: true})
	put := func(body string, tags ...string) *answer {
		t.Helper()
		r := newTestRequest("PUT", "/v1/workstations/lab1", "manage", body)
		r.Header["If-None-Match"] = tags
		return send(t, &Gatehouse{gateway: g}, r)
	}
	first := put(`{"address":"10.0.0.5:5900","generation":"vm-1","source":"ctl-a","labels":{"course":"cs101"},"expires_in":60}`, "*")
	if first.Code != 201 || first.At(t, "generation") != "vm-1" || first.At(t, "source") != "ctl-a" || first.At(t, "labels", "course") != "cs101" ||
		first.At(t, "expires_at") != "2026-03-18T12:01:00Z" || first.Header().Get("ETag") == "" {
		t.Errorf("%d %v %s", first.Code, first.Header(), first.Body)
	}
	put(address, "*").Want(t, 412, "workstation_exists", "lab1")
	put(address, `"a"`).Want(t, 400, "invalid_value", "only *")
	put(address).Want(t, 409, "workstation_conflict", "ctl-a")
	second := put(`{"address":"10.0.0.5:5900","generation":"vm-2","source":"ctl-a"}`)
	shown := call(t, g, "GET", "/v1/workstations/lab1", "manage", "")
	if tag := second.Header().Get("ETag"); second.Code != 200 || tag == first.Header().Get("ETag") || tag != shown.Header().Get("ETag") {
		t.Errorf("%d, tag %q, then %q", second.Code, tag, shown.Header().Get("ETag"))
	}
	call(t, g, "DELETE", "/v1/workstations/lab1?generation=vm-1", "manage", "").Want(t, 409, "workstation_generation", "another machine")
	if a := call(t, g, "DELETE", "/v1/workstations/lab1?generation=vm-2", "manage", ""); a.Code != 204 {
		t.Errorf("%d %s", a.Code, a.Body)
	}
}

func TestTheListHasFiltersAndPages(t *testing.T) {
	g := startGateway(t, setup{Workstations: true})
	for name, label := range map[string]string{"lab1": "cs101", "lab2": "cs=2", "lab3": "cs101"} {
		call(t, g, "PUT", "/v1/workstations/"+name, "manage", `{"address":"10.0.0.5:5900","source":"ctl-a","labels":{"course":"`+label+`"}}`).Want(t, 201, "", "")
	}
	for query, want := range map[string]string{
		"label=course%3Dcs101":                     "lab1 lab3",
		"label=course=cs=2":                        "lab2",
		"source=ctl-a&label=course=cs101":          "lab1 lab3",
		"source=declared":                          "desk1",
		"source=ctl-b":                             "",
		"source=ctl-a&limit=2":                     "lab1 lab2 -> default/lab2",
		"source=ctl-a&limit=2&cursor=default/lab2": "lab3 -> <nil>",
	} {
		a := call(t, g, "GET", "/v1/workstations?"+query, "connect", "")
		var names []string
		for i := range strings.Count(a.Body.String(), `"workstation_id"`) {
			names = append(names, fmt.Sprint(a.At(t, "data", i, "workstation_id")))
		}
		if strings.Contains(query, "limit") {
			names = append(names, "->", fmt.Sprint(a.At(t, "next_cursor")))
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%s: %s", query, a.Body)
		}
	}
	for _, query := range []string{"limit=0", "limit=1001", "limit=x", "label=course"} {
		call(t, g, "GET", "/v1/workstations?"+query, "connect", "").Want(t, 400, "invalid_value", "want ")
	}
}

func TestAListOfAControlPlane(t *testing.T) {
	g := startGateway(t, setup{Workstations: true})
	const path = "/v1/workstations/sync"
	items := `"items":[{"workstation_id":"lab1","address":"10.0.0.5:5900"},{"workstation_id":"desk1","address":"10.0.0.5:5900"}]`
	for _, want := range []string{`{"created":1,"changed":0,"released":0,"unchanged":0}`, `{"created":0,"changed":0,"released":0,"unchanged":1}`} {
		a := call(t, g, "POST", path, "manage", `{"source":"ctl-a","complete":true,`+items+`}`)
		refused := jsontest.Values(t, a.Body.String(), "refused")
		if a.Code != 200 || !jsontest.Has(t, a.Body.String(), want) || len(refused) != 1 || len(refused[0].([]any)) != 1 ||
			!jsontest.Has(t, a.Body.String(), `{"workstation_id":"desk1","code":"workstation_conflict","param":null}`) || jsontest.String(t, a.Body.String(), "message") == "" {
			t.Errorf("%d %s", a.Code, a.Body)
		}
	}
	call(t, g, "POST", path, "connect", `{}`).Want(t, 403, "insufficient_scope", "workstations:manage")
	call(t, g, "POST", path, "manage", ``).Want(t, 400, "missing_required_parameter", "source")
	call(t, g, "POST", path, "manage", `{"sauce":"a"}`).Want(t, 400, "unsupported_parameter", "sauce")
	call(t, g, "POST", path, "manage", `{"source":"`+strings.Repeat("a", 8<<20)+`"}`).Want(t, 413, "request_too_large", "")
	call(t, g, "POST", "/v1/workstations/desk1", "manage", `{}`).Want(t, 405, "method_not_allowed", "GET, PUT, DELETE")
	if found := rows(t, g); found[len(found)-1].Route != "POST "+path {
		t.Errorf("the route is %s", found[len(found)-1].Route)
	}
	// A workstation may have that name.
	call(t, g, "PUT", path, "manage", address).Want(t, 201, "", "")
	if a := call(t, g, "GET", path, "manage", ""); a.At(t, "workstation_id") != "sync" {
		t.Errorf("%s", a.Body)
	}
	call(t, g, "DELETE", path, "manage", "").Want(t, 204, "", "")
	call(t, g, "POST", path+"/vnc", "connect", "").Want(t, 404, "not_found", "was released")
}
