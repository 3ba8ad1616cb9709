package api

import (
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"
	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

func TestAKeyCallsAnAliasAndNotItsTargets(t *testing.T) {
	h := harness.Start(t, harness.Setup{
		Keys:    "key full {\nsecret " + harness.Secret("full") + "\nscopes chat:write models:read activity:read\nmodels fast team/*\n}",
		Options: "alias fast test/echo\nalias team/fast {\ngroup {\ntarget test/echo\n}\n}",
	})
	for _, name := range []string{"fast", "team/fast"} {
		a := h.Client.Post(harness.ChatV1, "full", harness.Chat(name, ""))
		if a.Status != 200 {
			t.Errorf("%s: %d %s", name, a.Status, a.Body)
		}
		for _, path := range []string{"/v1/models/", "/api/v1/model/"} {
			if a := h.Client.Get(path+name, "full"); a.Status != 200 || !jsontest.Has(t, a.Body, `{"id":"`+name+`"}`) {
				t.Errorf("%s%s: %d %s", path, name, a.Status, a.Body)
			}
		}
		a = h.Client.Get("/api/v1/models/"+name+"/endpoints", "full")
		if data := harness.At(harness.Parse(t, a.Body), "data"); harness.At(data, "id") != name || harness.At(data, "endpoints", 0, "model_id") != "test/echo" {
			t.Errorf("the endpoints of %s: %d %s", name, a.Status, a.Body)
		}
	}
	const targets = "/api/v1/models/test/echo/endpoints"
	harness.WantRefusal(t, targets, h.Client.Get(targets, "full"), 404, "model_not_found")
	harness.WantRefusal(t, "a target", h.Client.Post(harness.ChatV1, "full", harness.Chat("test/echo", "")), 404, "model_not_found")
	for _, path := range []string{"/v1/models", "/api/v1/models"} {
		data, _ := harness.At(harness.Parse(t, h.Client.Get(path, "full").Body), "data").([]any)
		var names []string
		for _, m := range data {
			name, _ := harness.At(m, "id").(string)
			names = append(names, name)
		}
		if strings.Join(names, " ") != "fast team/fast" {
			t.Errorf("%s lists %q", path, names)
		}
	}
}
