package console

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
)

func TestTheFileHasTheFiltersOfTheList(t *testing.T) {
	a := newFakeAPI()
	a.always("/api/v1/activity", "id,model\r\n")
	w := a.visit(t, "/console/activity.csv?model=m&from=2026-11-20&range=7d&live=off&cursor=C")
	asked := a.queries("/api/v1/activity")[0]
	if want := (url.Values{"format": {"csv"}, "model": {"m"}, "from": {"2026-11-20"}}); asked.Encode() != want.Encode() {
		t.Errorf("asked for %v", asked)
	}
	if got := w.Header().Get("Content-Disposition"); w.Body.String() != "id,model\r\n" || got != `attachment; filename="gatehouse-activity.csv"` {
		t.Errorf("%s %s", got, w.Body)
	}
}

func TestARefusalIsNotSavedAsAFile(t *testing.T) {
	a := newFakeAPI()
	a.refusal = `{"error":{"code":400,"message":"from: must be an instant","metadata":{"error_type":"invalid_request"}}}`
	w := a.visit(t, "/console/activity.csv?from=x")
	if w.Code != http.StatusBadRequest || w.Header().Get("Content-Disposition") != "" || w.Header().Get("Content-Type") != "text/html; charset=utf-8" {
		t.Errorf("%d %v", w.Code, w.Header())
	}
	contains(t, w.Body.String(), "from: must be an instant")
}

func TestMoreRowsThanAFileMayHaveAreNoLink(t *testing.T) {
	a := withRows("", callJSON)
	a.always("/api/v1/activity/series", `{"by":"code","step":"hour","from":"2026-11-22T03:00:00Z","to":"2026-11-23T03:00:00Z","data":[],"total":{"total":{"requests":1000001}}}`)
	contains(t, a.visit(t, "/console/activity").Body.String(), "These are 1,000,001 rows, and an export has at most a million")
}

func TestAFileCanHaveItsOwnTime(t *testing.T) {
	w := httptest.NewRecorder()
	if (&file{ResponseWriter: w}).Unwrap() != http.ResponseWriter(w) {
		t.Error("the controller of the response does not find it")
	}
}
