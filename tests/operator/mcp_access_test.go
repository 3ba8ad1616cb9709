package operator

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// guarded is an MCP server that takes tokens of its own authorization server, and a key.
type guarded struct {
	*httptest.Server

	mu     sync.Mutex // guards the following
	status int        // of the token endpoint
	given  int        // tokens
	grants []string   // the client and the form of each request for a token
	calls  []http.Header
	answer int // status of calls; 0: by the token
}

func startGuarded(t *testing.T) *guarded {
	g := &guarded{status: http.StatusOK}
	mux := http.NewServeMux()
	mux.HandleFunc("/token", g.token)
	mux.HandleFunc("/mcp", g.serve)
	g.Server = httptest.NewServer(mux)
	t.Cleanup(g.Close)
	return g
}

func (g *guarded) token(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	user, password, _ := r.BasicAuth()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.grants = append(g.grants, user+":"+password+" "+string(body))
	if w.WriteHeader(g.status); g.status != http.StatusOK {
		_, _ = io.WriteString(w, `{"error":"invalid_client","error_description":"secret-canary"}`)
		return
	}
	g.given++
	_, _ = fmt.Fprintf(w, `{"access_token":"token-canary-%d","token_type":"Bearer","expires_in":3600}`, g.given)
}

func (g *guarded) serve(w http.ResponseWriter, r *http.Request) {
	var message struct{ ID json.RawMessage }
	_ = json.NewDecoder(r.Body).Decode(&message)
	g.mu.Lock()
	g.calls = append(g.calls, r.Header.Clone())
	answer := g.answer
	g.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	authorized := r.Header.Get("Authorization")
	if answer != 0 || !strings.HasPrefix(authorized, "Bearer token-canary-") && authorized != "Bearer key-canary-2" && authorized != "Bearer key-canary-1" {
		w.WriteHeader(max(answer, http.StatusUnauthorized))
		_, _ = io.WriteString(w, `{"error":"no access with `+authorized+`"}`)
		return
	}
	_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"done"}]}}`, message.ID)
}

func (g *guarded) set(change func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	change()
}

// last returns the header of the last call, and what tokens were asked with.
func (g *guarded) last() (http.Header, []string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.calls) == 0 {
		return nil, g.grants
	}
	return g.calls[len(g.calls)-1], g.grants
}

const guardedKey = "key full {\nsecret {env.KEY_FULL}\nscopes mcp:call keys:manage providers:read\nmcp crm\n}\n"

// call calls a tool, and returns the code of an error that the gateway made.
func callTool(h *harness.Gateway, tool string, change func(*http.Request)) (a harness.Answer, code string) {
	r := h.Client.Request("/mcp/crm", "full", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"`+tool+`","arguments":{}}}`)
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("Mcp-Protocol-Version", "2025-06-18")
	if change != nil {
		change(r)
	}
	a = h.Client.Send(r)
	var parsed struct {
		Error struct{ Data struct{ Code string } }
	}
	_ = json.Unmarshal(a.Body, &parsed)
	return a, parsed.Error.Data.Code
}

func TestAToolServerGetsTheGatewaysTokenAndNeverTheCallers(t *testing.T) {
	t.Setenv("CLIENT_SECRET", "secret-canary")
	g := startGuarded(t)
	setup := harness.Setup{Keys: guardedKey, Options: "mcp crm {\nurl " + g.URL + "/mcp\nheader X-Fixed ours\nforward_header X-Team\n" +
		"oauth client_credentials {\ntoken_url " + g.URL + "/token\nclient_id gate house\nclient_secret {env.CLIENT_SECRET}\nscope a b\n}\n}\n"}
	setup.Options = strings.Replace(setup.Options, "gate house", `"gate house"`, 1)
	h := harness.Start(t, setup)
	a, _ := callTool(h, "search", func(r *http.Request) {
		for name, value := range map[string]string{"X-Team": "core", "X-Other": "o", "Cookie": "c=1", "X-Api-Key": harness.Secret("full"), "X-Fixed": "theirs"} {
			r.Header.Set(name, value)
		}
	})
	if a.Status != 200 || !strings.Contains(string(a.Body), "done") {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	header, grants := g.last()
	for name, want := range map[string]string{
		"Authorization": "Bearer token-canary-1", "X-Team": "core", "X-Fixed": "ours", "X-Other": "", "Cookie": "", "X-Api-Key": "", "User-Agent": "gatehouse",
	} {
		if got := header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	want := "gate+house:secret-canary grant_type=client_credentials&resource=" + strings.NewReplacer(":", "%3A", "/", "%2F").Replace(g.URL+"/mcp") + "&scope=a+b"
	if len(grants) != 1 || grants[0] != want {
		t.Errorf("asked with %q, want %q", grants, want)
	}
	for _, more := range []string{"rate 100/s\n", "rate 200/s\n"} { // a reload loses no token
		next := setup
		next.Options += more
		h.Become(next)
		if status := harness.At(harness.Parse(t, h.Client.Get("/v1/mcp", "full").Body), "data", 0, "status"); status != "ok" {
			t.Errorf("after a reload the server is %v", status)
		}
		if a, _ := callTool(h, "search", nil); a.Status != 200 || strings.Contains(string(a.Body), `"error"`) {
			t.Errorf("%d %s", a.Status, a.Body)
		}
	}
	if _, grants := g.last(); len(grants) != 1 {
		t.Errorf("%d tokens were asked for", len(grants))
	}
	g.set(func() { g.answer = http.StatusForbidden })
	a, code := callTool(h, "search", nil)
	if code == "" || strings.Contains(string(a.Body), "canary") || len(harness.Log.Lines("canary")) != 0 {
		t.Errorf("%q %s\n%q", code, a.Body, harness.Log.Lines("canary"))
	}
}

func TestOperatorsSeeThatAToolServerGetsNoToken(t *testing.T) {
	t.Setenv("CLIENT_SECRET", "secret-canary")
	g := startGuarded(t)
	g.status = http.StatusUnauthorized
	h := harness.Start(t, harness.Setup{Keys: guardedKey, Site: "gatehouse_health\ngatehouse\nmetrics /metrics", Options: "mcp crm {\nurl " + g.URL + "/mcp\n" +
		"oauth client_credentials {\ntoken_url " + g.URL + "/token\nclient_id gatehouse\nclient_secret {env.CLIENT_SECRET}\n}\n}\n"})
	if !harness.Eventually(func() bool { return len(harness.Log.Lines("answered with status 401: invalid_client")) == 1 }) {
		t.Fatalf("logged %q", harness.Log.Lines("credential"))
	}
	if a, code := callTool(h, "search", nil); code != "upstream_error" || !strings.Contains(string(a.Body), "the gateway has no credential") {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	if header, _ := g.last(); header != nil {
		t.Errorf("the server was asked without a token: %v", header)
	}
	if a := h.Client.Get("/readyz", ""); a.Status != 200 || harness.At(harness.Parse(t, a.Body), "parts", "providers") != "degraded" {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	const metric = `gatehouse_provider_credential_remaining_seconds{endpoint="",provider="crm"}`
	if left := h.Records.Metric(metric); left != 0 {
		t.Errorf("%v seconds are left", left)
	}
	g.set(func() { g.status = http.StatusOK })
	if !harness.Eventually(func() bool { return h.Records.Metric(metric) > 3000 }) {
		t.Fatalf("logged %q", harness.Log.Lines("credential"))
	}
	if a, _ := callTool(h, "search", nil); a.Status != 200 || strings.Contains(string(a.Body), `"error"`) {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	if len(harness.Log.Lines("canary")) != 0 {
		t.Errorf("logged %q", harness.Log.Lines("canary"))
	}
}

func TestAChangedKeyFileOfAToolServerIsReadAgain(t *testing.T) {
	g := startGuarded(t)
	file := filepath.Join(t.TempDir(), "key")
	write := func(key string) {
		t.Helper()
		if err := os.WriteFile(file+".new", []byte(key+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(file+".new", file); err != nil {
			t.Fatal(err)
		}
	}
	write("key-canary-1")
	h := harness.Start(t, harness.Setup{Keys: guardedKey, Options: "mcp crm {\nurl " + g.URL + "/mcp\napi_key {file." + file + "}\n}\n"})
	for _, key := range []string{"key-canary-1", "key-canary-2"} {
		write(key)
		if !harness.Eventually(func() bool {
			a, _ := callTool(h, "search", nil)
			header, _ := g.last()
			return a.Status == 200 && header.Get("Authorization") == "Bearer "+key
		}) {
			t.Errorf("%s was never sent", key)
		}
	}
}

func TestCheckAsksToolServersForTheirTools(t *testing.T) {
	g := startGuarded(t)
	config := gatehouseFile(checkKey + "mcp demo\nmcp crm\n}\nmcp demo {\ndemo\n}\nmcp crm {\nurl " + g.URL + "/mcp\napi_key {env.CHECK_KEY}\n}\n")
	if out, _ := check(t, config); strings.Contains(out, "tools") {
		t.Errorf("without --dial: %s", out)
	}
	if header, _ := g.last(); header != nil {
		t.Error("the server was asked without --dial")
	}
	out, status := check(t, config, "--dial") // the key is not one of the server's
	flat := strings.Join(strings.Fields(out), " ")
	for _, want := range []string{"error mcp crm it does not list its tools", "note mcp demo it lists 4 tools: the credential is accepted, or not needed"} {
		if !strings.Contains(flat, want) {
			t.Errorf("no %q", want)
		}
	}
	if header, _ := g.last(); status != 2 || header.Get("Authorization") != "Bearer "+harness.ProviderKey || strings.Contains(out, harness.ProviderKey) {
		t.Errorf("status %d, %v, %s", status, header, out)
	}
}

// What the configuration, the key and a change of either allow holds for the next request.
func TestAKeyMadeAtRunTimeCallsTheToolsThatItNames(t *testing.T) {
	g := startGuarded(t)
	config := func(tools string) harness.Setup {
		return harness.Setup{Keys: guardedKey, Options: "mcp crm {\nurl " + g.URL + "/mcp\napi_key {env.MCP_KEY}\n}\nruntime_keys {\nscopes mcp:call\n" + tools + "\n}\n"}
	}
	t.Setenv("MCP_KEY", "key-canary-1")
	h := harness.Start(t, config("mcp crm tools read_*"))
	create := func(more string) (harness.Answer, string) {
		a := h.Client.Post("/api/v1/keys", "full", `{"name":"agent"`+more+`}`)
		secret, _ := harness.At(harness.Parse(t, a.Body), "key").(string)
		return a, secret
	}
	if a, _ := create(`,"mcp":["crm/*"]`); a.Status != 400 || !strings.Contains(string(a.Body), "is not within what keys made at run time may call here: crm/read_*") {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	a, secret := create(`,"mcp":["crm/read_*"]`)
	if tools, _ := json.Marshal(harness.At(harness.Parse(t, a.Body), "data", "mcp")); a.Status != 201 || string(tools) != `["crm/read_*"]` {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	_, none := create("")
	as := func(secret string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+secret) }
	}
	want := func(secret, tool string, status int, part string) {
		t.Helper()
		if a, _ := callTool(h, tool, as(secret)); a.Status != status || !strings.Contains(string(a.Body), part) {
			t.Errorf("%s: %d %s", tool, a.Status, a.Body)
		}
	}
	want(secret, "read_file", 200, "done")
	want(secret, "write_file", 200, "-32602")
	want(none, "read_file", 404, "not_found")
	h.Become(config("mcp crm tools write_*"))
	want(secret, "read_file", 200, "-32602")
	want(secret, "write_file", 200, "-32602")
	h.Become(config(""))
	want(secret, "read_file", 404, "not_found")
}
