package console

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/request"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/keys"
)

// visiting returns a visit whose public routes are served by api.
func visiting(t *testing.T, api http.HandlerFunc) *visit {
	t.Helper()
	caller := request.Caller{Credential: keys.Credential{Key: &keys.Key{Name: "dev", Tenant: "acme"}}}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, Prefix+"/about", nil)
	r.Header.Set("Cookie", "secret=1")
	console := &Console{config: Config{
		API: func(c request.Caller) http.Handler {
			if c.Name != "dev" {
				t.Errorf("the caller is %q", c.Name)
			}
			return api
		},
		Logger: zap.NewNop(), Now: time.Now,
	}}
	return &visit{w: httptest.NewRecorder(), r: r, console: console, page: &page{title: "Test"}, caller: caller, now: time.Unix(0, 0), query: r.URL.Query()}
}

func TestAPageReadsAPublicRoute(t *testing.T) {
	v := visiting(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet || r.URL.Path != "/v1/things" || r.URL.Query().Get("name") != "a&b" || r.Header.Get("Cookie") != "" {
			t.Errorf("%s %s %v", r.Method, r.URL, r.Header)
		}
		_, _ = io.WriteString(w, `{"answer":42}`)
	})
	var into struct{ Answer int }
	if err := v.get("/v1/things", url.Values{"name": {"a&b"}}, &into); err != nil || into.Answer != 42 {
		t.Errorf("%+v, %v", into, err)
	}
}

func TestAPageSendsToAPublicRoute(t *testing.T) {
	v := visiting(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.Method != http.MethodPut || string(body) != `{"address":"host"}` || r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s %s", r.Method, body)
		}
		w.WriteHeader(http.StatusNoContent)
	})
	if err := v.send(http.MethodPut, "/v1/things/1", map[string]string{"address": "host"}, nil); err != nil {
		t.Error(err)
	}
}

func TestARefusalOfARouteKeepsItsReason(t *testing.T) {
	for body, want := range map[string]Failure{
		`{"error":{"message":"no","type":"x","param":"name","code":"invalid_value"}}`:                       {400, "invalid_value", "no", "name", ""},
		`{"error":{"code":400,"message":"no","metadata":{"error_type":"invalid_request","param":"limit"}}}`: {400, "invalid_request", "no", "limit", ""},
		`{"error":{"message":"no","code":"workstation_occupied","details":{"joinable":true}}}`:              {400, "workstation_occupied", "no", "", `{"joinable":true}`},
	} {
		v := visiting(t, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, body)
		})
		var got *Failure
		if err := v.get("/v1/things", nil, nil); !errors.As(err, &got) || *got != want {
			t.Errorf("%v, want %+v", err, want)
		}
	}
}

func TestAnAnswerWithoutAReasonIsAFailureOfOurs(t *testing.T) {
	v := visiting(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) })
	var refusal *Failure
	if err := v.get("/v1/things", nil, nil); err == nil || errors.As(err, &refusal) {
		t.Errorf("%v", err)
	}
}

func TestTheAnswerOfARouteIsBounded(t *testing.T) {
	piece := bytes.Repeat([]byte(" "), 1<<20)
	v := visiting(t, func(w http.ResponseWriter, _ *http.Request) {
		for range maxAnswer>>20 + 1 {
			_, _ = w.Write(piece)
		}
	})
	if err := v.get("/v1/things", nil, nil); err == nil || !strings.Contains(err.Error(), "more than") {
		t.Errorf("%v", err)
	}
}

func TestAFailedPageTellsNothingOfOurs(t *testing.T) {
	v := visiting(t, nil)
	v.fail(errors.New("secret cause"))
	w := v.w.(*httptest.ResponseRecorder)
	if body := w.Body.String(); w.Code != http.StatusInternalServerError || strings.Contains(body, "secret cause") || !strings.Contains(body, "its log has the cause") {
		t.Errorf("%d %s", w.Code, body)
	}
}

func TestAPageNeedsOneOfItsScopes(t *testing.T) {
	v := visiting(t, nil)
	v.page = &page{title: "Keys", scopes: []keys.Scope{keys.KeysManage, keys.ActivityRead}, serve: func(*visit) error {
		t.Error("the page was served")
		return nil
	}}
	v.serve()
	if w := v.w.(*httptest.ResponseRecorder); w.Code != http.StatusForbidden || !strings.Contains(w.Body.String(), "the key needs keys:manage or activity:read") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	v.caller.Key.Scopes = keys.ActivityRead
	served := false
	v.page.serve = func(*visit) error { served = true; return nil }
	if v.serve(); !served {
		t.Error("a key with one of the scopes was refused")
	}
}
