package handlers

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestAnOperatorUsesTheRoutesOfCallersForAllTenants(t *testing.T) {
	g := startGateway(t, setup{Workstations: true})
	ask := func(o Operator, method, path, query, body string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		o.Serve(g, path, w, httptest.NewRequestWithContext(t.Context(), method, "/gatehouse/x?"+query, strings.NewReader(body)))
		return w
	}
	lab := Operator{Tenant: "lab", Name: "desk9"}
	if w := ask(lab, "PUT", "/v1/workstations/{id}", "", `{"address":"10.0.0.9:5900"}`); w.Code != http.StatusCreated {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	for query, want := range map[string]string{"": "default/desk1 lab/desk9 ", "tenant=lab": "lab/desk9 "} {
		var list struct {
			Data []struct {
				ID     string `json:"workstation_id"`
				Tenant string
			}
		}
		w := ask(Operator{}, "GET", "/v1/workstations", query, "")
		must(t, json.Unmarshal(w.Body.Bytes(), &list))
		got := ""
		for _, one := range list.Data {
			got += one.Tenant + "/" + one.ID + " "
		}
		if w.Code != http.StatusOK || got != want {
			t.Errorf("%q: %d %q, want %q", query, w.Code, got, want)
		}
	}
	if w := ask(Operator{Name: "desk9"}, "DELETE", "/v1/workstations/{id}", "", ""); w.Code != http.StatusNotFound {
		t.Errorf("of the default tenant: %d %s", w.Code, w.Body)
	}
	if w := ask(lab, "DELETE", "/v1/workstations/{id}", "", ""); w.Code != http.StatusNoContent {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	left := rowsOf(t, g, "lab")
	if len(left) != 2 || left[0].Key != "operator" || left[0].Route != "DELETE /v1/workstations/{id}" || left[0].Workstation != "desk9" {
		t.Errorf("the changes have left %+v", left)
	}
}

func TestARefusalToAnOperatorIsAText(t *testing.T) {
	g := startGateway(t, setup{})
	for _, c := range []struct {
		method, path, query string
		status              int
		code, message       string
	}{
		{"GET", "/api/v1/activity", "keys=dev", 400, "unsupported_parameter", `unknown parameter "keys"; this route takes `},
		{"GET", "/v1/sessions", "", 404, "unknown_url", "the running configuration has no workstations: the option vnc is missing"},
		{"PATCH", "/api/v1/limits", "", 405, "method_not_allowed", "use GET"},
		{"GET", "/v1/not-built-in", "", 404, "unknown_url", "/gatehouse/x"},
	} {
		w := httptest.NewRecorder()
		Operator{}.Serve(g, c.path, w, httptest.NewRequestWithContext(t.Context(), c.method, "/gatehouse/x?"+c.query, http.NoBody))
		var got struct{ Error, Code string }
		must(t, json.Unmarshal(w.Body.Bytes(), &got))
		if w.Code != c.status || got.Code != c.code || !strings.Contains(got.Error, c.message) {
			t.Errorf("%s %s: %d %+v", c.method, c.path, w.Code, got)
		}
	}
}
