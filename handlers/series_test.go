package handlers

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestSeriesAndCSV(t *testing.T) {
	g := startGateway(t, setup{Provider: answering(200, "application/json", completion)})
	call(t, g, "POST", "/api/v1/chat/completions", "full", hello).Want(t, 200, "", "")
	a := call(t, g, "GET", "/api/v1/activity/series?by=key", "full", "")
	if a.At(t, "data", 0, "name") != "full" || a.At(t, "data", 0, "total", "cost") != 0.00002 || a.At(t, "complete") != true {
		t.Errorf("series: %d %s", a.Code, a.Body)
	}
	call(t, g, "GET", "/api/v1/activity/series", "chat", "").Want(t, 403, "permission_denied", "activity:read")
	call(t, g, "GET", "/api/v1/activity/series?step=week", "full", "").Want(t, 400, "invalid_request", "must be minute, hour or day")
	call(t, g, "GET", "/api/v1/activity/series?limit=1", "full", "").Want(t, 400, "invalid_request", "unknown parameter")
	if a = call(t, g, "GET", "/api/v1/activity/series", "other", ""); a.At(t, "data", 0) != nil {
		t.Errorf("another tenant's series: %s", a.Body)
	}
	if a = call(t, g, "GET", "/api/v1/activity?tenant=default", "other", ""); a.Code != 200 || a.At(t, "data", 0) != nil {
		t.Errorf("another tenant's activity by name: %d %s", a.Code, a.Body)
	}
	old := func(cacheControl string) float64 {
		r := newTestRequest("GET", "/api/v1/activity/series?by=key", "full", "")
		r.Header.Set("Cache-Control", cacheControl)
		return send(t, &Gatehouse{gateway: g}, r).At(t, "total", "total", "requests").(float64)
	}
	first := old("max-age=60")
	call(t, g, "POST", "/api/v1/chat/completions", "full", hello).Want(t, 200, "", "")
	for cacheControl, want := range map[string]float64{"no-transform, Max-Age=60": 0, "max-age=99999999999": 0, "max-age=0": 1, "": 1, "max-age=-1": 1, "no-cache": 1, "max-age=60, no-cache": 1} {
		if got := old(cacheControl) - first; got != want {
			t.Errorf("Cache-Control %q: %v more requests, want %v", cacheControl, got, want)
		}
	}
	for target, head := range map[string]string{
		"/api/v1/activity?format=csv": "created_at,id,", "/api/v1/activity/series?format=csv": "at,series,model,", "/api/v1/activity?format=csv&group_by=day": "date,model,",
	} {
		a := call(t, g, "GET", target, "full", "")
		if lines := strings.Split(a.Body.String(), "\r\n"); a.Code != 200 || !strings.HasPrefix(a.Header().Get("Content-Type"), "text/csv") || len(lines) < 3 || !strings.HasPrefix(lines[0], head) {
			t.Errorf("%s: %d %v %s", target, a.Code, a.Header(), a.Body)
		}
		if a := call(t, g, "HEAD", target, "full", ""); a.Code != 200 || a.Body.Len() > 0 || !strings.HasPrefix(a.Header().Get("Content-Type"), "text/csv") {
			t.Errorf("HEAD %s: %d %s", target, a.Code, a.Body)
		}
	}
}

// cutOff takes the head of an answer and fails then.
type cutOff struct{ *httptest.ResponseRecorder }

func (cutOff) Write([]byte) (int, error) { return 0, errors.New("cut off") }

func TestAPartOfAnExportBreaksTheConnection(t *testing.T) {
	g := startGateway(t, setup{Provider: answering(200, "application/json", completion)})
	call(t, g, "POST", "/api/v1/chat/completions", "full", hello).Want(t, 200, "", "")
	r := httptest.NewRequest("GET", "/api/v1/activity?format=csv", nil)
	r.Header.Set("Authorization", "Bearer "+secretOf("full"))
	defer func() {
		if cause := recover(); cause != http.ErrAbortHandler {
			t.Errorf("the server sees %v", cause)
		}
	}()
	err := (&Gatehouse{gateway: g}).ServeHTTP(cutOff{httptest.NewRecorder()}, r, nil)
	t.Errorf("the answer ended with %v", err)
}
