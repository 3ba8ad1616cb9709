package faults_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/faults"
)

func TestErrorStatuses(t *testing.T) {
	_, addr := start(t)
	for _, tc := range []struct {
		model      string
		status     int
		kind, code string // code "" is null
	}{
		{"err-400", 400, "invalid_request_error", ""},
		{"err-400-context_length_exceeded", 400, "invalid_request_error", "context_length_exceeded"},
		{"err-401", 401, "invalid_request_error", ""},
		{"err-429", 429, "requests", "rate_limit_exceeded"},
		{"err-429-insufficient_quota", 429, "insufficient_quota", "insufficient_quota"},
		{"err-503", 503, "server_error", ""},
		{"err-599", 599, "server_error", ""},
	} {
		for _, path := range []string{chatV1, respV1, chatRouter} {
			r := post(t, addr, path, `{"model":"`+tc.model+`","messages":[],"input":"x","stream":true}`)
			o := decode(t, r.body)
			message, _ := at(o, "error", "message").(string)
			if r.status != tc.status || !strings.Contains(message, "Bearer canary-key") || !strings.Contains(message, faults.SecretText) {
				t.Errorf("%s at %s: %d %q", tc.model, path, r.status, message)
			}
			if wait := r.header.Get("Retry-After"); (wait != "") != (tc.status == 429 || tc.status == 503) {
				t.Errorf("%s: Retry-After %q", tc.model, wait)
			}
			if path == chatRouter {
				if at(o, "error", "code") != json.Number(fmt.Sprint(tc.status)) {
					t.Errorf("%s at %s: code %v", tc.model, path, at(o, "error", "code"))
				}
				continue
			}
			code, _ := at(o, "error", "code").(string)
			if at(o, "error", "type") != tc.kind || code != tc.code || !has(o, "error", "param") {
				t.Errorf("%s at %s: %s", tc.model, path, r.body)
			}
		}
	}
}

func TestPagesInsteadOfJSON(t *testing.T) {
	_, addr := start(t)
	for model, status := range map[string]int{"html-502": 502, "not-json-200": 200} {
		r := post(t, addr, chatV1, chatBody(model, ""))
		if r.status != status || !strings.HasPrefix(r.header.Get("Content-Type"), "text/html") || json.Valid(r.body) {
			t.Errorf("%s: %+v", model, r)
		}
	}
	r := post(t, addr, chatV1, chatBody("error-200", ""))
	if r.status != 200 || at(decode(t, r.body), "error", "message") == nil {
		t.Errorf("error-200: %+v", r)
	}
}

func TestRequestsThatAreWrong(t *testing.T) {
	_, addr := start(t)
	for body, status := range map[string]int{
		`{"model":`:               400,
		`{"model":7}`:             400,
		`{"model":"nobody"}`:      404,
		`{"model":"err-399"}`:     404,
		`{"messages":[]}`:         404,
		`{"model":"burst-20000"}`: 404,
	} {
		r := post(t, addr, chatV1, body)
		if r.status != status || at(decode(t, r.body), "error", "message") == nil {
			t.Errorf("%s: %d %s", body, r.status, r.body)
		}
	}
	if r := post(t, addr, "/v1/nothing", "{}"); r.status != 404 || !strings.Contains(string(r.body), "Invalid URL (POST /v1/nothing)") {
		t.Errorf("unknown URL: %d %s", r.status, r.body)
	}
}

func TestLeakyHeaders(t *testing.T) {
	_, addr := start(t)
	for _, extra := range []string{"", streaming} {
		r := post(t, addr, chatV1, chatBody("leaky-headers", extra))
		for _, name := range []string{"Set-Cookie", "Openai-Organization", "X-Ratelimit-Limit-Requests", "Via", "Server", "Alt-Svc", "X-Request-Id"} {
			if r.header.Get(name) == "" {
				t.Errorf("%q lacks %s", extra, name)
			}
		}
	}
	if r := post(t, addr, chatV1, chatBody("echo", "")); r.header.Get("Set-Cookie") != "" {
		t.Error("echo leaks too")
	}
}

func TestRedirectIsAnsweredAndRecordedWhenFollowed(t *testing.T) {
	p, addr := start(t)
	r := post(t, addr, chatV1, chatBody("redirect-307", ""))
	location := r.header.Get("Location")
	if r.status != 307 || location == "" || len(p.Requests()) != 1 {
		t.Fatalf("%+v", r)
	}
	req, err := http.NewRequest("POST", "http://"+addr+chatV1, strings.NewReader(chatBody("redirect-307", "")))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer canary-key")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	list := p.Requests()
	last := list[len(list)-1]
	if resp.StatusCode != 200 || "http://"+addr+last.Path != location || last.Header("authorization")[0] != "Bearer canary-key" {
		t.Errorf("status %d, %+v", resp.StatusCode, last)
	}
}
