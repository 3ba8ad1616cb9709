package tests

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

const consoleSite = "gatehouse_console\n" + defaultSite

// atConsole sends a request to the console, with header fields in pairs.
func (h *harness) atConsole(method, path string, form url.Values, header ...string) answer {
	h.t.Helper()
	r, err := http.NewRequestWithContext(h.t.Context(), method, h.origin+path, strings.NewReader(form.Encode()))
	if err != nil {
		h.t.Fatal(err)
	}
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", h.origin)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	return h.send(r)
}

// signIn signs in with a key and returns the cookie.
func (h *harness) signIn(key string) string {
	h.t.Helper()
	a := h.atConsole(http.MethodPost, "/console/sign-in", url.Values{"key": {secretOf(key)}})
	cookie, _, _ := strings.Cut(a.header.Get("Set-Cookie"), ";")
	if a.status != http.StatusSeeOther || !strings.HasPrefix(cookie, "gatehouse=") {
		h.t.Fatalf("sign-in: %d %v", a.status, a.header)
	}
	return cookie
}

func TestASessionOfTheConsoleOutlivesAReloadAndNotItsKey(t *testing.T) {
	h := start(t, setup{site: consoleSite})
	cookie := h.signIn("full")
	want := func(what string, status int) {
		t.Helper()
		if a := h.atConsole(http.MethodGet, "/console/about", nil, "Cookie", cookie); a.status != status {
			t.Errorf("%s: %d", what, a.status)
		}
	}
	want("signed in", http.StatusOK)
	h.change(h.caddyfile(setup{site: consoleSite, options: "body_memory 64MiB\n"}))
	want("after a reload", http.StatusOK)
	dropped := strings.Replace(defaultKeys, "key full {", "key renamed {", 1)
	h.change(h.caddyfile(setup{site: consoleSite, keys: dropped}))
	want("without the key", http.StatusSeeOther)
	h.change(h.caddyfile(setup{site: consoleSite}))
	want("when the key is back", http.StatusSeeOther)
}

func TestTheConsoleAndTheAPIKnowCallersByOtherThings(t *testing.T) {
	h := start(t, setup{site: consoleSite})
	cookie := h.signIn("full")
	for _, path := range []string{"/v1/models", "/api/v1/activity", "/api/v1/key"} {
		if a := h.atConsole(http.MethodGet, path, nil, "Cookie", cookie); a.status != http.StatusUnauthorized {
			t.Errorf("%s with the cookie: %d", path, a.status)
		}
	}
	for _, header := range [][]string{{"Authorization", "Bearer " + secretOf("full")}, {"X-Api-Key", secretOf("full")}} {
		if a := h.atConsole(http.MethodGet, "/console/about", nil, header...); a.status != http.StatusSeeOther {
			t.Errorf("the console with %s: %d", header[0], a.status)
		}
	}
}

func TestTheConsoleKeepsSecrets(t *testing.T) {
	h := start(t, setup{site: consoleSite})
	cookie := h.signIn("full")
	if a := h.atConsole(http.MethodPost, "/console/sign-in", url.Values{"key": {secretOf("nobody")}}); a.status != http.StatusForbidden {
		t.Errorf("a wrong key: %d", a.status)
	}
	h.get("/v1/models", "full")
	var seen strings.Builder
	for _, path := range []string{"/", "/activity", "/usage", "/latency", "/refusals", "/about"} {
		a := h.atConsole(http.MethodGet, "/console"+path, nil, "Cookie", cookie)
		if a.status != http.StatusOK {
			t.Errorf("%s: %d %s", path, a.status, a.body)
		}
		seen.Write(a.body)
	}
	metrics := string(h.get("/metrics", "").body)
	for _, line := range []string{`gatehouse_console_sign_ins_total{result="ok"} 1`, `gatehouse_console_sign_ins_total{result="invalid_key"} 1`, "gatehouse_console_sessions 1"} {
		if !strings.Contains(metrics, line) {
			t.Errorf("the metrics lack %s", line)
		}
	}
	h.atConsole(http.MethodPost, "/console/sign-out", url.Values{}, "Cookie", cookie)
	h.stop()
	log := logs.text()
	if !strings.Contains(log, "console sign-in refused") || !strings.Contains(log, `"remote":"127.0.0.1"`) {
		t.Error("the log does not say who was refused")
	}
	for where, text := range map[string]string{"a page": seen.String(), "the metrics": metrics, "the log": log, "the files": h.files()} {
		for what, canary := range map[string]string{"the key": secretOf("full"), "a wrong key": secretOf("nobody"), "the ID of the session": strings.TrimPrefix(cookie, "gatehouse=")} {
			if strings.Contains(text, canary) {
				t.Errorf("%s holds %s", where, what)
			}
		}
	}
}

// What another system says of the user comes from that system, whatever the client sends.
func TestAClientCannotSayWhichUserItIs(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c, err := r.Cookie("sso"); err == nil && c.Value != "nameless" {
			w.Header().Set("Remote-User", c.Value)
		}
		_, _ = io.WriteString(w, "ok")
	}))
	defer other.Close()
	const users = " {\nalice as full\nbob as models\n* refuse\n}\n}\n"
	h := start(t, setup{site: "forward_auth " + other.URL + " {\nuri /\ncopy_headers Remote-User\n}\n" +
		"gatehouse_console {\nsign_in user {http.request.header.Remote-User}" + users + defaultSite})
	want := func(what string, status int, text string, header ...string) {
		t.Helper()
		a := h.atConsole(http.MethodGet, "/console/about", nil, header...)
		if a.status != status || !strings.Contains(string(a.body), text) {
			t.Errorf("%s: %d, without %q: %s", what, a.status, text, a.body)
		}
	}
	want("alice", http.StatusOK, "alice as <b>full</b>", "Cookie", "sso=alice")
	want("bob who says he is alice", http.StatusOK, "bob as <b>models</b>", "Cookie", "sso=bob", "Remote-User", "alice")
	want("mallory who says he is alice", http.StatusForbidden, "mallory may not use", "Cookie", "sso=mallory", "Remote-User", "alice")
	want("nobody who says he is alice", http.StatusForbidden, "names nobody", "Cookie", "sso=nameless", "Remote-User", "alice")
	want("in another spelling", http.StatusForbidden, "names nobody", "Cookie", "sso=nameless", "remote-user", "alice", "Remote_User", "alice")

	sessions := func(n string) {
		t.Helper()
		if metrics := string(h.get("/metrics", "").body); !strings.Contains(metrics, "\ngatehouse_console_sessions "+n+"\n") {
			t.Errorf("there are not %s sessions of the console", n)
		}
	}
	sessions("2")
	const behind = "forward_auth %s {\nuri /\ncopy_headers Remote-User\n}\ngatehouse_console {\nsign_in user {http.request.header.Remote-User} {\nbob as models\n}\n}\n"
	h.change(h.caddyfile(setup{site: fmt.Sprintf(behind, other.URL) + defaultSite}))
	sessions("1") // alice is not there any more

	h.change(h.caddyfile(setup{site: "gatehouse_console {\nsign_in user {http.auth.user.id}" + users + defaultSite}))
	want("a header without any authentication", http.StatusForbidden, "names nobody", "Remote-User", "alice", "X-Auth-User-Id", "alice", "Authorization", "Basic YWxpY2U6eA==")
}
