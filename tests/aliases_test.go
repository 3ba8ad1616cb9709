package tests

import (
	"strings"
	"testing"
)

func TestAKeyCallsAnAliasAndNotItsTargets(t *testing.T) {
	h := start(t, setup{
		keys:    "key full {\nsecret " + secretOf("full") + "\nscopes chat:write models:read activity:read\nmodels fast team/*\n}",
		options: "alias fast test/echo\nalias team/fast {\ngroup {\ntarget test/echo\n}\n}",
	})
	for _, name := range []string{"fast", "team/fast"} {
		a := h.post(chatV1, "full", chat(name, ""))
		if a.status != 200 {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
		for _, path := range []string{"/v1/models/", "/api/v1/model/"} {
			if a := h.get(path+name, "full"); a.status != 200 || !strings.Contains(string(a.body), `"id":"`+name+`"`) {
				t.Errorf("%s%s: %d %s", path, name, a.status, a.body)
			}
		}
		a = h.get("/api/v1/models/"+name+"/endpoints", "full")
		if data := at(parse(t, a.body), "data"); at(data, "id") != name || at(data, "endpoints", 0, "model_id") != "test/echo" {
			t.Errorf("the endpoints of %s: %d %s", name, a.status, a.body)
		}
	}
	const targets = "/api/v1/models/test/echo/endpoints"
	wantRefusal(t, targets, h.get(targets, "full"), 404, "model_not_found")
	wantRefusal(t, "a target", h.post(chatV1, "full", chat("test/echo", "")), 404, "model_not_found")
	for _, path := range []string{"/v1/models", "/api/v1/models"} {
		data, _ := at(parse(t, h.get(path, "full").body), "data").([]any)
		var names []string
		for _, m := range data {
			name, _ := at(m, "id").(string)
			names = append(names, name)
		}
		if strings.Join(names, " ") != "fast team/fast" {
			t.Errorf("%s lists %q", path, names)
		}
	}
}
