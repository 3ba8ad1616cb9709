package api

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/identitytest"
	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// toolsOptions let people of an issuer use tools.
func toolsOptions(issuer, origin, more string) string {
	return strings.Replace(signInOptions(issuer, origin, more), "scopes chat:write models:read", "mcp demo\nmcp other\nscopes mcp:call chat:write models:read", 1) + `
		mcp demo {
			demo
		}
		mcp other {
			demo
		}`
}

const (
	verifier = "a-verifier-of-at-least-forty-three-characters-0"
	callback = "http://127.0.0.1:9/callback"
	callTool = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"hello"}}}`
)

// tool calls a tool of a server.
func tool(h *harness.Gateway, server, token string) harness.Answer {
	r := h.Client.Request("/mcp/"+server, "", callTool)
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("MCP-Protocol-Version", "2025-06-18")
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	return h.Client.Send(r)
}

// json asks for a JSON object.
func (p *program) json(method, link string, body []byte) (status int, answer map[string]any) {
	p.t.Helper()
	r, err := http.NewRequestWithContext(p.t.Context(), method, link, bytes.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	resp, err := p.http.Do(r)
	if err != nil {
		p.t.Fatal(err)
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		p.t.Fatal(err)
	}
	return resp.StatusCode, answer
}

// register registers the program.
func (p *program) register() (id string) {
	p.t.Helper()
	status, answer := p.json("POST", p.origin+"/oauth/register", []byte(`{"client_name":"A test","redirect_uris":["http://127.0.0.1/callback"]}`))
	if status != 201 {
		p.t.Fatalf("%d %v", status, answer)
	}
	return answer["client_id"].(string)
}

// authorize is the query of an authorization request.
func authorize(client, resource string, more ...string) url.Values {
	sum := sha256.Sum256([]byte(verifier))
	q := url.Values{
		"response_type": {"code"}, "client_id": {client}, "redirect_uri": {callback}, "state": {"the state"},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(sum[:])}, "code_challenge_method": {"S256"},
	}
	if resource != "" {
		q.Set("resource", resource)
	}
	for i := 0; i < len(more); i += 2 {
		q.Set(more[i], more[i+1])
	}
	return q
}

var requestField = regexp.MustCompile(`name="request" value="([^"]+)"`)

// agree is what the person does in the browser at the page of a request. It returns what the
// browser brings back.
func (p *program) agree(q url.Values) url.Values {
	p.t.Helper()
	page := p.browse(http.MethodGet, p.origin+"/oauth/authorize?"+q.Encode(), nil)
	request := requestField.FindStringSubmatch(page)
	if request == nil {
		p.t.Fatalf("nothing to agree to: %s", page)
	}
	page = p.browse(http.MethodPost, p.origin+"/oauth/authorize", url.Values{"request": {html.UnescapeString(request[1])}, "do": {"idp"}})
	next := goOn.FindStringSubmatch(page)
	if next == nil {
		p.t.Fatalf("nowhere to go: %s", page)
	}
	var back *url.URL
	p.person.CheckRedirect = func(r *http.Request, _ []*http.Request) error {
		if r.URL.Path == "/callback" {
			back = r.URL
			return http.ErrUseLastResponse
		}
		return nil
	}
	defer func() { p.person.CheckRedirect = nil }()
	page = p.browse(http.MethodGet, html.UnescapeString(next[1]), nil)
	if back == nil {
		p.t.Fatalf("the browser does not come back: %s", page)
	}
	return back.Query()
}

// exchange gets tokens for a code.
func (p *program) exchange(client, code string, more ...string) (status int, answer map[string]any) {
	p.t.Helper()
	form := url.Values{"grant_type": {"authorization_code"}, "client_id": {client}, "code": {code}, "code_verifier": {verifier}, "redirect_uri": {callback}}
	for i := 0; i < len(more); i += 2 {
		form.Set(more[i], more[i+1])
	}
	return p.post("/oauth/token", form)
}

func TestAClientOfToolsSignsItsPersonIn(t *testing.T) {
	t.Setenv("SIGN_IN_CLIENT", identitytest.ClientSecret)
	t.Setenv("SIGN_IN_SECRET", strings.Repeat("s", 32))
	issuer := identitytest.Start(t)
	h := harness.Prepare(t)
	origin := h.Ports.Origin()
	if err := h.Reload(harness.Setup{Options: toolsOptions(issuer.URL, origin, "")}); err != nil {
		t.Fatal(err)
	}
	p := newProgram(t, origin)
	// The client knows the URL of the server alone.
	a := tool(h, "demo", "")
	harness.WantRefusal(t, "/mcp/demo", a, 401, "invalid_api_key")
	about := origin + "/.well-known/oauth-protected-resource/mcp/demo"
	if got := a.Header.Get("WWW-Authenticate"); got != `Bearer resource_metadata="`+about+`", scope="mcp:call"` {
		t.Errorf("WWW-Authenticate: %s", got)
	}
	status, resource := p.json("GET", about, nil)
	if status != 200 || resource["resource"] != origin+"/mcp/demo" || harness.At(resource, "authorization_servers", 0) != origin {
		t.Errorf("%d %v", status, resource)
	}
	_, server := p.json("GET", origin+"/.well-known/oauth-authorization-server", nil)
	if server["issuer"] != origin || harness.At(server, "code_challenge_methods_supported", 0) != "S256" || server["client_id_metadata_document_supported"] != true {
		t.Errorf("%v", server)
	}
	issuer.SignIn("ann", map[string]any{"groups": []string{"ai-users"}, "email": "ann@example.com", "email_verified": true})
	client := p.register()
	back := p.agree(authorize(client, origin+"/mcp/demo"))
	if back.Get("state") != "the state" || back.Get("iss") != origin || back.Get("code") == "" {
		t.Fatalf("%v", back)
	}
	status, got := p.exchange(client, back.Get("code"), "resource", origin+"/mcp/demo")
	if status != 200 || got["scope"] != "mcp:call" || got["email"] != nil {
		t.Fatalf("%d %v", status, got)
	}
	access, refresh := got["access_token"].(string), got["refresh_token"].(string)
	if a := tool(h, "demo", access); a.Status != 200 || !strings.Contains(string(a.Body), "hello") {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	// It is good at this server alone.
	a = tool(h, "other", access)
	harness.WantRefusal(t, "/mcp/other", a, 401, "invalid_api_key")
	if got := a.Header.Get("WWW-Authenticate"); !strings.HasSuffix(got, `, error="invalid_token"`) {
		t.Errorf("WWW-Authenticate: %s", got)
	}
	harness.WantRefusal(t, harness.ChatV1, bearer(h, harness.ChatV1, access, harness.Chat("fake/echo", "")), 401, "invalid_api_key")
	for _, path := range []string{"/v1/mcp", "/v1/models", "/v1/about", "/api/v1/key", "/v1/workstations"} {
		harness.WantRefusal(t, path, bearer(h, path, access, ""), 401, "invalid_api_key")
	}
	// The next tokens, for the same client.
	if status, got = p.post("/oauth/token", url.Values{"grant_type": {"refresh_token"}, "refresh_token": {refresh}}); status != 400 || got["error"] != "invalid_grant" {
		t.Errorf("without the client: %d %v", status, got)
	}
	renew := url.Values{"grant_type": {"refresh_token"}, "refresh_token": {refresh}, "client_id": {client}, "resource": {origin + "/mcp/demo"}}
	if status, got = p.post("/oauth/token", renew); status != 200 || got["scope"] != "mcp:call" {
		t.Fatalf("%d %v", status, got)
	}
	if a := tool(h, "demo", got["access_token"].(string)); a.Status != 200 {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	// An operator ends it.
	if status, body := operate(t, "GET", "/gatehouse/sign-ins"); status != 200 || harness.At(harness.Parse(t, []byte(body)), "data", 0, "client") != `"A test"` {
		t.Errorf("%d %s", status, body)
	}
	if status, body := operate(t, "DELETE", "/gatehouse/sign-ins/ann@example.com"); status != 200 {
		t.Errorf("%d %s", status, body)
	}
	harness.WantRefusal(t, "/mcp/demo", tool(h, "demo", got["access_token"].(string)), 401, "invalid_api_key")
}

func TestAProgramSignsItsPersonInForModels(t *testing.T) {
	t.Setenv("SIGN_IN_CLIENT", identitytest.ClientSecret)
	t.Setenv("SIGN_IN_SECRET", strings.Repeat("s", 32))
	issuer := identitytest.Start(t)
	h := harness.Prepare(t)
	origin := h.Ports.Origin()
	if err := h.Reload(harness.Setup{Options: toolsOptions(issuer.URL, origin, "client studio studio://signed-in "+callback)}); err != nil {
		t.Fatal(err)
	}
	p := newProgram(t, origin)
	issuer.SignIn("ann", map[string]any{"groups": []string{"ai-users"}})
	sign := func(scope string) string {
		t.Helper()
		status, got := p.exchange("studio", p.agree(authorize("studio", "", "scope", scope)).Get("code"))
		if status != 200 {
			t.Fatalf("%d %v", status, got)
		}
		return got["access_token"].(string)
	}
	access := sign("chat:write openid")
	if a := bearer(h, harness.ChatV1, access, harness.Chat("fake/echo", "")); a.Status != 200 {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	harness.WantRefusal(t, "/v1/models", bearer(h, "/v1/models", access, ""), 403, "insufficient_scope")
	a := tool(h, "demo", access)
	harness.WantRefusal(t, "/mcp/demo", a, 403, "insufficient_scope")
	if got := a.Header.Get("WWW-Authenticate"); !strings.Contains(got, `error="insufficient_scope"`) || !strings.Contains(got, `scope="mcp:call"`) {
		t.Errorf("WWW-Authenticate: %s", got)
	}
	// Who may not use tools is not asked to sign in for them.
	issuer.SignIn("bob", map[string]any{"groups": []string{"ops"}})
	a = tool(h, "demo", sign("limits:read"))
	harness.WantRefusal(t, "/mcp/demo", a, 403, "insufficient_scope")
	if got := a.Header.Get("WWW-Authenticate"); got != "" {
		t.Errorf("WWW-Authenticate: %s", got)
	}
	issuer.SignIn("ann", map[string]any{"groups": []string{"ai-users"}})
	access = sign("")
	if a := tool(h, "demo", access); a.Status != 200 {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	harness.WantRefusal(t, "/api/v1/activity", bearer(h, "/api/v1/activity", access, ""), 403, "insufficient_scope")
}
