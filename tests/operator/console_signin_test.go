package operator

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"
	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

const consoleSite = "gatehouse_console\n" + harness.DefaultSite

// atConsole sends a request to the console, with header fields in pairs.
func atConsole(h *harness.Gateway, method, path string, form url.Values, header ...string) harness.Answer {
	h.T.Helper()
	r, err := http.NewRequestWithContext(h.T.Context(), method, h.Client.Origin+path, strings.NewReader(form.Encode()))
	if err != nil {
		h.T.Fatal(err)
	}
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", h.Client.Origin)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	return h.Client.Send(r)
}

// signIn signs in with a key and returns the cookie.
func signIn(h *harness.Gateway, key string) string {
	h.T.Helper()
	a := atConsole(h, http.MethodPost, "/console/sign-in", url.Values{"key": {harness.Secret(key)}})
	cookie, _, _ := strings.Cut(a.Header.Get("Set-Cookie"), ";")
	if a.Status != http.StatusSeeOther || !strings.HasPrefix(cookie, "gatehouse=") {
		h.T.Fatalf("sign-in: %d %v", a.Status, a.Header)
	}
	return cookie
}

func TestASessionOfTheConsoleOutlivesAReloadAndNotItsKey(t *testing.T) {
	h := harness.Start(t, harness.Setup{Site: consoleSite})
	cookie := signIn(h, "full")
	want := func(what string, status int) {
		t.Helper()
		if a := atConsole(h, http.MethodGet, "/console/about", nil, "Cookie", cookie); a.Status != status {
			t.Errorf("%s: %d", what, a.Status)
		}
	}
	want("signed in", http.StatusOK)
	h.Become(harness.Setup{Site: consoleSite, Options: "body_memory 64MiB\n"})
	want("after a reload", http.StatusOK)
	dropped := strings.Replace(harness.DefaultKeys, "key full {", "key renamed {", 1)
	h.Become(harness.Setup{Site: consoleSite, Keys: dropped})
	want("without the key", http.StatusSeeOther)
	h.Become(harness.Setup{Site: consoleSite})
	want("when the key is back", http.StatusSeeOther)
}

func TestTheConsoleAndTheAPIKnowCallersByOtherThings(t *testing.T) {
	h := harness.Start(t, harness.Setup{Site: consoleSite})
	cookie := signIn(h, "full")
	for _, path := range []string{"/v1/models", "/api/v1/activity", "/api/v1/key"} {
		if a := atConsole(h, http.MethodGet, path, nil, "Cookie", cookie); a.Status != http.StatusUnauthorized {
			t.Errorf("%s with the cookie: %d", path, a.Status)
		}
	}
	for _, header := range [][]string{{"Authorization", "Bearer " + harness.Secret("full")}, {"X-Api-Key", harness.Secret("full")}} {
		if a := atConsole(h, http.MethodGet, "/console/about", nil, header...); a.Status != http.StatusSeeOther {
			t.Errorf("the console with %s: %d", header[0], a.Status)
		}
	}
}

func TestTheConsoleKeepsSecrets(t *testing.T) {
	h := harness.Start(t, harness.Setup{Site: consoleSite})
	cookie := signIn(h, "full")
	if a := atConsole(h, http.MethodPost, "/console/sign-in", url.Values{"key": {harness.Secret("nobody")}}); a.Status != http.StatusForbidden {
		t.Errorf("a wrong key: %d", a.Status)
	}
	h.Client.Get("/v1/models", "full")
	var seen strings.Builder
	for _, path := range []string{"/", "/activity", "/usage", "/latency", "/refusals", "/about"} {
		a := atConsole(h, http.MethodGet, "/console"+path, nil, "Cookie", cookie)
		if a.Status != http.StatusOK {
			t.Errorf("%s: %d %s", path, a.Status, a.Body)
		}
		seen.Write(a.Body)
	}
	metrics := string(h.Client.Get("/metrics", "").Body)
	for _, line := range []string{`gatehouse_console_sign_ins_total{result="ok"} 1`, `gatehouse_console_sign_ins_total{result="invalid_key"} 1`, "gatehouse_console_sessions 1"} {
		if !strings.Contains(metrics, line) {
			t.Errorf("the metrics lack %s", line)
		}
	}
	atConsole(h, http.MethodPost, "/console/sign-out", url.Values{}, "Cookie", cookie)
	h.Stop()
	log := harness.Log.Text()
	if !strings.Contains(log, "console sign-in refused") || !jsontest.Has(t, log, `{"remote":"127.0.0.1"}`) {
		t.Error("the log does not say who was refused")
	}
	for where, text := range map[string]string{"a page": seen.String(), "the metrics": metrics, "the log": log, "the files": harness.DataFiles(h)} {
		for what, canary := range map[string]string{"the key": harness.Secret("full"), "a wrong key": harness.Secret("nobody"), "the ID of the session": strings.TrimPrefix(cookie, "gatehouse=")} {
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
	h := harness.Start(t, harness.Setup{Site: "forward_auth " + other.URL + " {\nuri /\ncopy_headers Remote-User\n}\n" +
		"gatehouse_console {\nsign_in user {http.request.header.Remote-User}" + users + harness.DefaultSite})
	want := func(what string, status int, text string, header ...string) {
		t.Helper()
		a := atConsole(h, http.MethodGet, "/console/about", nil, header...)
		if a.Status != status || !strings.Contains(string(a.Body), text) {
			t.Errorf("%s: %d, without %q: %s", what, a.Status, text, a.Body)
		}
	}
	want("alice", http.StatusOK, "alice as <b>full</b>", "Cookie", "sso=alice")
	want("bob who says he is alice", http.StatusOK, "bob as <b>models</b>", "Cookie", "sso=bob", "Remote-User", "alice")
	want("mallory who says he is alice", http.StatusForbidden, "mallory may not use", "Cookie", "sso=mallory", "Remote-User", "alice")
	want("nobody who says he is alice", http.StatusForbidden, "names nobody", "Cookie", "sso=nameless", "Remote-User", "alice")
	want("in another spelling", http.StatusForbidden, "names nobody", "Cookie", "sso=nameless", "remote-user", "alice", "Remote_User", "alice")

	sessions := func(n string) {
		t.Helper()
		if metrics := string(h.Client.Get("/metrics", "").Body); !strings.Contains(metrics, "\ngatehouse_console_sessions "+n+"\n") {
			t.Errorf("there are not %s sessions of the console", n)
		}
	}
	sessions("2")
	const behind = "forward_auth %s {\nuri /\ncopy_headers Remote-User\n}\ngatehouse_console {\nsign_in user {http.request.header.Remote-User} {\nbob as models\n}\n}\n"
	h.Become(harness.Setup{Site: fmt.Sprintf(behind, other.URL) + harness.DefaultSite})
	sessions("1") // alice is not there any more

	h.Become(harness.Setup{Site: "gatehouse_console {\nsign_in user {http.auth.user.id}" + users + harness.DefaultSite})
	want("a header without any authentication", http.StatusForbidden, "names nobody", "Remote-User", "alice", "X-Auth-User-Id", "alice", "Authorization", "Basic YWxpY2U6eA==")
}

// Whom an identity names by a placeholder is signed in to the console by the role; others sign in
// with a key.
func TestWhomAnIdentityNamesIsSignedInToTheConsole(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c, err := r.Cookie("sso"); err == nil {
			w.Header().Set("Remote-User", c.Value)
		}
	}))
	defer other.Close()
	setup := harness.Setup{
		Options: "role ops {\nscopes activity:read\n}\nidentity sso {\nuser {http.reverse_proxy.header.Remote-User}\nrole ops {\nuser alice bob\n}\n}\n",
		Site:    "forward_auth " + other.URL + " {\nuri /\n}\ngatehouse_console\n" + harness.DefaultSite,
	}
	h := harness.Start(t, setup)
	want := func(what string, status int, text string, header ...string) harness.Answer {
		t.Helper()
		a := atConsole(h, http.MethodGet, "/console/you", nil, header...)
		if a.Status != status || !strings.Contains(string(a.Body)+a.Header.Get("Location"), text) {
			t.Errorf("%s: %d, without %q: %v %s", what, a.Status, text, a.Header, a.Body)
		}
		return a
	}
	session, _, _ := strings.Cut(want("alice", http.StatusOK, "alice", "Cookie", "sso=alice").Header.Get("Set-Cookie"), ";")
	if session == "" {
		t.Fatal("no session")
	}
	want("mallory", http.StatusForbidden, "mallory may not use this console", "Cookie", "sso=mallory")
	want("nobody", http.StatusSeeOther, "/console/sign-in", "Remote-User", "alice")
	want("bob with the session of alice", http.StatusOK, "bob", "Cookie", "sso=bob; "+session)
	want("alice's session is over", http.StatusSeeOther, "/console/sign-in", "Cookie", session)
	session, _, _ = strings.Cut(want("alice", http.StatusOK, "alice", "Cookie", "sso=alice").Header.Get("Set-Cookie"), ";")
	want("a session without a name", http.StatusSeeOther, "/console/sign-in", "Cookie", session)
	for _, header := range [][]string{{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Dest", "image"}} {
		want("a page of another site", http.StatusForbidden, "another site", append(header, "Cookie", "sso=alice")...)
	}
	a := atConsole(h, http.MethodGet, "/console/sign-in", nil)
	if a.Status != http.StatusOK || !strings.Contains(string(a.Body), `name="key"`) {
		t.Errorf("the sign-in with a key: %d %s", a.Status, a.Body)
	}
	session, _, _ = strings.Cut(want("alice", http.StatusOK, "alice", "Cookie", "sso=alice").Header.Get("Set-Cookie"), ";")
	h.Become(setup)
	if a := want("after a reload", http.StatusOK, "alice", "Cookie", "sso=alice; "+session); a.Header.Get("Set-Cookie") != "" {
		t.Error("a reload has ended the session")
	}
	setup.Options = strings.Replace(setup.Options, "alice bob", "bob", 1)
	h.Become(setup)
	want("who has no role any more", http.StatusForbidden, "alice may not use this console", "Cookie", "sso=alice; "+session)
}
