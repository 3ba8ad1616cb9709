package console

import (
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/keys"
)

const twoProviders = `200 {"object":"list","data":[
	{"object":"provider","id":"acme","endpoints":[{"name":"eu","host":"eu.acme.invalid","credential":{"cloud":"azure","valid":false,"remaining_seconds":null,"failure":"status 401"}},{"name":"us","host":"us.acme.invalid"}],"targets":[
	 {"id":"acme/large@eu","model":"acme/large","endpoint":"eu","state":"healthy","cooldown_until":null,"attempts":40,"failures":1,"last_failure_class":"failure","last_failure_at":"2026-11-23T02:00:00Z","last_success_at":"2026-11-23T02:19:00Z"},
	 {"id":"acme/large@us","model":"acme/large","endpoint":"us","state":"cooling","cooldown_until":"2026-11-23T02:30:00Z","attempts":0,"failures":0,"last_failure_class":"lasting","last_failure_at":"2026-11-23T02:10:00Z","last_success_at":null}]},
	{"object":"provider","id":"idle","endpoints":[{"name":null,"host":"idle.invalid"}],"targets":[],"list_missing":true}]}`

func TestProvidersAreShownAsCallsHaveFoundThem(t *testing.T) {
	a := newManageAPI(t, map[string]string{
		"GET /v1/providers":                         twoProviders,
		"GET /api/v1/activity/series":               `200 {"data":[{"name":"acme","total":{"requests":200,"errors":5}},{"name":"acme/large","total":{"requests":150,"errors":3}}]}`,
		"GET /api/v1/activity/series?code=upstream": `200 {"data":[{"name":"acme","total":{"requests":2,"errors":2}},{"name":"acme/large","total":{"requests":1,"errors":1}}]}`,
		"GET /api/v1/activity": `200 {"data":[{"model":"idle/new","code":"model_not_found","refused_by":"provider idle does not list it: write x"},{"model":"idle/<new>","code":"model_not_found","refused_by":"provider idle does not list it: write x"},
			{"model":"idle/new","code":"model_not_found","refused_by":"provider idle does not list it: write x"},{"model":"idler/old","code":"model_not_found","refused_by":"provider idler does not list it: write x"},{"model":"m","code":"model_not_found"}]}`,
	})
	a.shows(a.visit("/console/providers", nil), 200,
		"This page asks no provider.",
		"acme cooling down eu: eu.acme.invalid, us: us.acme.invalid In the last 24 hours 2 of 197 calls failed at it (1.0 %). 3 more were refused, or ended by the caller. azure gives the gateway no credential for eu, so calls fail: status 401.",
		"acme/large at eu healthy 1 minute ago 20 minutes ago . It gave no answer, a broken or late one, or an error of its own. 1 of 40 2.5 % 1 of 148 0.7 %",
		"acme/large at us cooling down again in 10 minutes never 10 minutes ago . It refused the gateway's credential, its quota is used up, or it has no such model. Somebody must act. no calls",
		"idle not known idle.invalid Its list of models has never come, so only models that the configuration or a catalog names can be called. The log has the cause. Until it comes, models NAME or discover off in its block lets calls through. "+
			"Its list of models does not have idle/new , idle/<new> , so calls of the last hour were refused. models NAME or discover off in its block lets them through. This gateway has called no model of it in the last hour, or since it started, so the health of its models is not known.")
}

func TestProvidersWithoutTheActivity(t *testing.T) {
	a := newManageAPI(t, map[string]string{"GET /v1/providers": twoProviders})
	a.key.Scopes = keys.ProvidersRead
	a.shows(a.visit("/console/providers", nil), 200, "With the scope activity:read this page shows the last 24 hours too.", "!24 hours failed")
	if len(a.asked) != 1 {
		t.Errorf("asked %v", a.asked)
	}
	a.answers["GET /v1/providers"] = `200 {"object":"list","data":[]}`
	a.shows(a.visit("/console/providers", nil), 200, "There is no provider yet", "docs/providers.md")
}
