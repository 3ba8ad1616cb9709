package api

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/identitytest"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"
	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

func TestAPersonSignsInToAProgramAndCalls(t *testing.T) {
	t.Setenv("SIGN_IN_CLIENT", identitytest.ClientSecret)
	t.Setenv("SIGN_IN_SECRET", strings.Repeat("s", 32))
	issuer := identitytest.Start(t)
	h := harness.Prepare(t)
	setup := harness.Setup{Options: signInOptions(issuer.URL, h.Ports.Origin(), "")}
	if err := h.Reload(setup); err != nil {
		t.Fatal(err)
	}
	p := newProgram(t, h.Ports.Origin())
	issuer.SignIn("ann", map[string]any{"groups": []string{"ai-users"}, "email": "ann@example.com", "email_verified": true})
	access, refresh := p.signIn()
	call := func() harness.Answer { return bearer(h, harness.ChatV1, access, harness.Chat("fake/echo", "")) }
	a := call()
	if a.Status != 200 {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	row := h.Records.Row(a.Header.Get("X-Request-Id"))
	if key, _ := harness.At(row, "key").(string); !strings.HasPrefix(key, "idp-") || harness.At(row, "user") != "ann@example.com" {
		t.Errorf("row %v", row)
	}
	// The role's rights, but none of operators.
	harness.WantRefusal(t, "/api/v1/activity", bearer(h, "/api/v1/activity", access, ""), 403, "insufficient_scope")
	harness.WantRefusal(t, harness.ChatV1, bearer(h, harness.ChatV1, access, harness.Chat("fake/crlf", "")), 404, "model_not_found")
	harness.WantRefusal(t, harness.ChatV1, bearer(h, harness.ChatV1, refresh, harness.Chat("fake/echo", "")), 401, "invalid_api_key")
	// A reload signs nobody out.
	h.Become(setup)
	if a := call(); a.Status != 200 {
		t.Fatalf("after a reload: %d %s", a.Status, a.Body)
	}
	status, again := p.renew(refresh)
	if status != 200 {
		t.Fatalf("%d %v", status, again)
	}
	access, refresh = again["access_token"].(string), again["refresh_token"].(string)
	if a := call(); a.Status != 200 {
		t.Fatalf("with the next token: %d %s", a.Status, a.Body)
	}
	// Who has left is out.
	issuer.End("ann")
	if status, again = p.renew(refresh); status != 401 || again["error"] != "invalid_grant" {
		t.Errorf("%d %v", status, again)
	}
	gone := call()
	harness.WantRefusal(t, harness.ChatV1, gone, 401, "invalid_api_key")
	if gone.Header.Get("X-Should-Retry") != "false" {
		t.Errorf("the client tries again: %v", gone.Header)
	}
	// A role that a reload drops.
	issuer.SignIn("bob", map[string]any{"groups": []string{"ai-users"}})
	access, _ = p.signIn()
	if a := call(); a.Status != 200 {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	// What the role is by the rules of a reload counts at the next call.
	setup.Options = strings.ReplaceAll(setup.Options, "role developer", "role renamed")
	h.Become(setup)
	if a := call(); a.Status != 200 {
		t.Fatalf("another role: %d %s", a.Status, a.Body)
	}
	setup.Options = strings.Replace(setup.Options, "groups ai-users", "groups others", 1)
	h.Become(setup)
	harness.WantRefusal(t, harness.ChatV1, call(), 401, "invalid_api_key")
	// A client that a reload drops, and its max_life.
	setup.Options = strings.Replace(setup.Options, "groups others", "groups ai-users", 1)
	h.Become(setup)
	access, _ = p.signIn()
	short := setup
	short.Options = strings.Replace(setup.Options, "client "+identitytest.ClientID, "max_life 1ns\nclient "+identitytest.ClientID, 1)
	h.Become(short)
	harness.WantRefusal(t, harness.ChatV1, call(), 401, "invalid_api_key")
	h.Become(setup)
	if a := call(); a.Status != 200 {
		t.Fatalf("with a longer life: %d %s", a.Status, a.Body)
	}
	other := identitytest.Start(t)
	setup.Options += "\n" + strings.NewReplacer(issuer.URL, other.URL, "identity idp", "identity second").Replace(setup.Options[strings.Index(setup.Options, "identity idp"):strings.Index(setup.Options, "authorization_server")])
	setup.Options = strings.Replace(setup.Options, "client "+identitytest.ClientID+" {env.SIGN_IN_CLIENT}", "audience gatehouse", 1)
	h.Become(setup)
	harness.WantRefusal(t, harness.ChatV1, call(), 401, "invalid_api_key")
}

// An operator ends sign-ins at once, and keeps a person out, also with a JWT.
func TestAnOperatorEndsSignIns(t *testing.T) {
	t.Setenv("SIGN_IN_CLIENT", identitytest.ClientSecret)
	t.Setenv("SIGN_IN_SECRET", strings.Repeat("s", 32))
	issuer := identitytest.Start(t)
	h := harness.Prepare(t)
	options := strings.Replace(signInOptions(issuer.URL, h.Ports.Origin(), ""), "client "+identitytest.ClientID, "audience gatehouse\nclient "+identitytest.ClientID, 1)
	if err := h.Reload(harness.Setup{Options: options}); err != nil {
		t.Fatal(err)
	}
	p := newProgram(t, h.Ports.Origin())
	ann := map[string]any{"groups": []string{"ai-users"}, "email": "ann@example.com", "email_verified": true}
	issuer.SignIn("ann", ann)
	works := func(token string) int { return bearer(h, harness.ChatV1, token, harness.Chat("fake/echo", "")).Status }
	access, refresh := p.signIn()
	var listed struct {
		Data    []struct{ User, Role, Client string }
		Blocked []struct{ Key string }
	}
	list := func() {
		t.Helper()
		status, body := operate(t, "GET", "/gatehouse/sign-ins")
		if err := json.Unmarshal([]byte(body), &listed); err != nil || status != 200 {
			t.Fatalf("%d %s", status, body)
		}
	}
	if list(); len(listed.Data) != 1 || listed.Data[0].User != "ann@example.com" || listed.Data[0].Role != "developer" || listed.Data[0].Client != "claude_code" {
		t.Errorf("%+v", listed)
	}
	if status, body := operate(t, "DELETE", "/gatehouse/sign-ins/ann@example.com"); status != 200 || !jsontest.Has(t, body, `{"ended":1}`) {
		t.Errorf("%d %s", status, body)
	}
	if status := works(access); status != 401 {
		t.Errorf("an ended sign-in: %d", status)
	}
	if status, _ := p.renew(refresh); status != 401 {
		t.Errorf("the refresh token of an ended sign-in: %d", status)
	}
	jwt := issuer.Token("ann", "gatehouse", ann)
	if status := works(jwt); status != 200 {
		t.Errorf("a JWT: %d", status)
	}
	access, _ = p.signIn()
	if status, body := operate(t, "PUT", "/gatehouse/sign-ins/ann@example.com/block"); status != 200 {
		t.Errorf("%d %s", status, body)
	}
	if a, b := works(access), works(jwt); a != 401 || b != 401 {
		t.Errorf("who is blocked: %d, with a JWT %d", a, b)
	}
	if list(); len(listed.Data) != 0 || len(listed.Blocked) != 1 {
		t.Fatalf("%+v", listed)
	}
	if status, body := operate(t, "DELETE", "/gatehouse/sign-ins/"+listed.Blocked[0].Key+"/block"); status != 204 {
		t.Errorf("%d %s", status, body)
	}
	if status := works(jwt); status != 200 {
		t.Errorf("who is not blocked any more: %d", status)
	}
	if status, _ := operate(t, "DELETE", "/gatehouse/sign-ins/nobody"); status != 404 {
		t.Errorf("nobody: %d", status)
	}
}

func TestWhatClaudeCodeAsksForWithItsToken(t *testing.T) {
	t.Setenv("SIGN_IN_CLIENT", identitytest.ClientSecret)
	t.Setenv("SIGN_IN_SECRET", strings.Repeat("s", 32))
	issuer, collected := identitytest.Start(t), make(chan string, 1)
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		collected <- r.URL.Path + " " + r.Header.Get("Content-Type") + " " + string(body) + r.Header.Get("Authorization")
	}))
	t.Cleanup(collector.Close)
	h := harness.Prepare(t)
	file := filepath.Join(h.Dir, "managed.json")
	if err := os.WriteFile(file, []byte(`{ "env": {"B": "<2>", "A": "1"}, "apiKeyHelper": null }`), 0o600); err != nil {
		t.Fatal(err)
	}
	more := "managed_settings developer " + file + "\ntelemetry " + collector.URL
	if err := h.Reload(harness.Setup{Options: signInOptions(issuer.URL, h.Ports.Origin(), more)}); err != nil {
		t.Fatal(err)
	}
	p := newProgram(t, h.Ports.Origin())
	issuer.SignIn("ann", map[string]any{"groups": []string{"ai-users"}})
	access, _ := p.signIn()
	// The checksum is that of the settings with sorted keys and without spaces.
	settings := `{"apiKeyHelper":null,"env":{"A":"1","B":"<2>"}}`
	tag := fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(settings)))
	a := bearer(h, "/managed/settings", access, "")
	if a.Status != 200 || a.Header.Get("ETag") != `"`+tag+`"` || jsontest.String(t, string(a.Body), "checksum") != tag || !jsontest.Has(t, string(a.Body), `{"settings":`+settings+`}`) {
		t.Errorf("%d %v %s", a.Status, a.Header, a.Body)
	}
	again := func(match string) harness.Answer {
		r := h.Client.Request("/managed/settings", "", "")
		r.Header.Set("Authorization", "Bearer "+access)
		r.Header.Set("If-None-Match", match)
		return h.Client.Send(r)
	}
	if a := again(`"` + tag + `"`); a.Status != 304 || len(a.Body) != 0 {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	if a := again("*"); a.Status != 200 {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	if a := h.Client.Get("/managed/settings", "full"); a.Status != 404 {
		t.Errorf("a key gets managed settings: %d", a.Status)
	}
	r := h.Client.Request("/v1/metrics", "", `{"resourceMetrics":[]}`)
	r.Header.Set("Authorization", "Bearer "+access)
	r.Header.Set("Content-Type", "application/json")
	if a := h.Client.Send(r); a.Status != 200 || string(a.Body) != "{}" {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	if got := <-collected; got != `/v1/metrics application/json {"resourceMetrics":[]}` {
		t.Errorf("the collector got %q", got)
	}
	if a := h.Client.Post("/v1/logs", "full", "{}"); a.Status != 404 {
		t.Errorf("telemetry of a key: %d", a.Status)
	}
	// It is for nobody who has only registered.
	client := p.register()
	for scope, want := range map[string]int{"chat:write": 403, "limits:read": 200} {
		_, got := p.exchange(client, p.agree(authorize(client, "", "scope", scope)).Get("code"))
		token, _ := got["access_token"].(string)
		for path, want := range map[string]int{"/managed/settings": 404, "/v1/logs": 404, "/api/oauth/usage": want} {
			body := ""
			if path == "/v1/logs" {
				body = "{}"
			}
			if a := bearer(h, path, token, body); a.Status != want {
				t.Errorf("%s with %s: %d %s", path, scope, a.Status, a.Body)
			}
		}
	}
}

func TestWhoHasNoRoleIsToldAtThePage(t *testing.T) {
	t.Setenv("SIGN_IN_CLIENT", identitytest.ClientSecret)
	t.Setenv("SIGN_IN_SECRET", strings.Repeat("s", 32))
	issuer := identitytest.Start(t)
	h := harness.Prepare(t)
	if err := h.Reload(harness.Setup{Options: signInOptions(issuer.URL, h.Ports.Origin(), "")}); err != nil {
		t.Fatal(err)
	}
	p := newProgram(t, h.Ports.Origin())
	issuer.SignIn("eve", map[string]any{"groups": []string{"visitors"}})
	_, begun := p.post("/oauth/device_authorization", nil)
	if page := p.approve(begun["verification_uri_complete"].(string)); !strings.Contains(page, "no role of this gateway") || strings.Contains(page, "visitors") {
		t.Errorf("%s", page)
	}
	status, got := p.post("/oauth/token", url.Values{"grant_type": {"urn:ietf:params:oauth:grant-type:device_code"}, "device_code": {begun["device_code"].(string)}})
	if status != 400 || got["error"] != "access_denied" {
		t.Errorf("%d %v", status, got)
	}
}
