package operator

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// cloud is the token endpoint of a cloud, and a provider that knows only its tokens: all tokens since the
// last one that was revoked, and signatures.
type cloud struct {
	*httptest.Server
	t *testing.T

	mu       sync.Mutex // guards the following
	given    int        // tokens
	revoked  int        // the tokens up to this one are refused
	status   int        // of the token endpoint
	forms    []url.Values
	calls    []string // method, address and the beginning of Authorization of each request to the provider
	deployed string   // the list of deployments
}

func startCloud(t *testing.T) *cloud {
	c := &cloud{t: t, status: http.StatusOK, deployed: `{"data":[]}`}
	mux := http.NewServeMux()
	mux.HandleFunc("/{tenant}/oauth2/v2.0/token", c.token)
	mux.HandleFunc("/token", c.token)
	mux.HandleFunc("/", c.serve)
	c.Server = httptest.NewServer(mux)
	t.Cleanup(c.Close)
	return c
}

func (c *cloud) token(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	form, _ := url.ParseQuery(string(body))
	c.mu.Lock()
	defer c.mu.Unlock()
	c.forms = append(c.forms, form)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(c.status)
	if c.status != http.StatusOK {
		_, _ = io.WriteString(w, `{"error":"invalid_client","error_description":"AADSTS7000215: the secret canary-in-answer is wrong"}`)
		return
	}
	c.given++
	_, _ = fmt.Fprintf(w, `{"access_token":"token-canary-%d","token_type":"Bearer","expires_in":3599}`, c.given)
}

func (c *cloud) serve(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	authorized := r.Header.Get("Authorization")
	n := 0
	_, err := fmt.Sscanf(authorized, "Bearer token-canary-%d", &n)
	if isToken := err == nil; isToken && n <= c.revoked || !isToken && !strings.HasPrefix(authorized, "AWS4-HMAC-SHA256 ") {
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = io.WriteString(w, `{"error":{"code":"401","message":"Access denied to `+authorized+`"}}`)
		return
	}
	c.calls = append(c.calls, r.Method+" "+r.URL.String()+" "+authorized[:min(len(authorized), 80)])
	w.Header().Set("Content-Type", "application/json")
	if r.Method == http.MethodGet {
		_, _ = io.WriteString(w, c.deployed)
		return
	}
	_, _ = io.WriteString(w, `{"id":"chatcmpl-1","object":"chat.completion","created":1700000000,"model":"m",`+
		`"choices":[{"index":0,"message":{"role":"assistant","content":"hello"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}`)
}

// asked returns how often the token endpoint was asked, and the last request to the provider.
func (c *cloud) asked() (tokens int, call string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.calls) > 0 {
		call = c.calls[len(c.calls)-1]
	}
	return len(c.forms), call
}

func (c *cloud) set(change func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change()
}

// serviceAccount is the file of a service account that gets its tokens here.
func (c *cloud) serviceAccount() (path string) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	der, failed := x509.MarshalPKCS8PrivateKey(key)
	text, _ := json.Marshal(map[string]string{
		"type": "service_account", "project_id": "p", "private_key_id": "k", "client_email": "gateway@p.iam.gserviceaccount.com",
		"private_key": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})), "token_uri": c.URL + "/token",
	})
	path = filepath.Join(c.t.TempDir(), "account.json")
	if err := errors.Join(err, failed, os.WriteFile(path, text, 0o600)); err != nil {
		c.t.Fatal(err)
	}
	return path
}

// entra is an auth block with a client secret.
func (c *cloud) entra() string {
	return "auth azure {\ntenant t-1\nclient_id c-1\nclient_secret {env.CLIENT_SECRET}\nauthority " + c.URL + "\n}\n"
}

func TestCloudsAuthorizeTheRequestsToTheirProviders(t *testing.T) {
	t.Setenv("CLIENT_SECRET", "entra-canary-0123456789")
	t.Setenv("SECRET_KEY", "aws-canary-0123456789")
	c := startCloud(t)
	h := harness.Start(t, harness.Setup{Providers: strings.NewReplacer("CLOUD", c.URL, "FILE", c.serviceAccount()).Replace(`
		provider azure {
			` + c.entra() + `
			resource acme
			base_url CLOUD/openai/v1
			models m
		}
		provider google {
			auth google {
				file FILE
			}
			base_url CLOUD/v1/endpoints/openapi
			models m
		}
		provider aws {
			auth aws {
				access_key AKIDEXAMPLE
				secret_key {env.SECRET_KEY}
			}
			dialect openai
			region us-east-1
			base_url CLOUD/openai/v1
			models m
		}`)})
	for provider, want := range map[string]string{
		"azure":  "POST /openai/v1/chat/completions Bearer token-canary-",
		"google": "POST /v1/endpoints/openapi/chat/completions Bearer token-canary-",
		"aws":    "POST /openai/v1/chat/completions AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/",
	} {
		a := h.Client.Post(harness.ChatV1, "full", harness.Chat(provider+"/m", ""))
		if _, call := c.asked(); a.Status != 200 || !strings.HasPrefix(call, want) {
			t.Errorf("%s: %d %s; asked %q, want %q", provider, a.Status, a.Body, call, want)
		}
	}
	if tokens, _ := c.asked(); tokens != 2 {
		t.Errorf("the token endpoints were asked %d times, want once each", tokens)
	}
	if text := harness.Log.Text(); strings.Contains(text, "canary") {
		t.Errorf("the log shows a secret: %s", harness.Log.Lines("canary"))
	}
}

// What the provider says of a token is about the gateway, not about the caller.
func TestARefusedTokenIsNotShown(t *testing.T) {
	t.Setenv("CLIENT_SECRET", "entra-canary-0123456789")
	c := startCloud(t)
	h := harness.Start(t, harness.Setup{Providers: "provider azure {\n" + c.entra() + "resource acme\nbase_url " + c.URL + "/openai/v1\nmodels m\n}\n"})
	if a := h.Client.Post(harness.ChatV1, "full", harness.Chat("azure/m", "")); a.Status != 200 {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	c.set(func() { c.revoked = 9 })
	a := h.Client.Post(harness.ChatV1, "full", harness.Chat("azure/m", ""))
	harness.WantRefusal(t, harness.ChatV1, a, 502, "upstream_auth_error")
	if strings.Contains(string(a.Body), "canary") || strings.Contains(harness.Log.Text(), "token-canary") {
		t.Errorf("the token is shown: %s", a.Body)
	}
}

// The list of an Azure resource is that of its deployments, and the token of Kubernetes changes.
func TestAzureListsDeploymentsWithAFederatedToken(t *testing.T) {
	c := startCloud(t)
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte("assertion-1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("AZURE_TENANT_ID", "t-1")
	t.Setenv("AZURE_CLIENT_ID", "c-1")
	t.Setenv("AZURE_FEDERATED_TOKEN_FILE", file)
	c.deployed = `{"data":[{"id":"prod","object":"deployment","model":"gpt-x","status":"succeeded"}],"object":"list"}`
	block := func(more string) harness.Setup {
		return harness.Setup{Providers: "provider azure {\nauth azure {\nauthority " + c.URL + "\n" + more + "}\nresource acme\nbase_url " + c.URL + "/openai/v1\n}"}
	}
	h := harness.Start(t, block(""))
	a := h.Client.Get("/v1/models", "full")
	if got := harness.At(harness.Parse(t, a.Body), "data", 0, "id"); got != "azure/prod" {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	if _, call := c.asked(); call != "GET /openai/deployments?api-version=2023-03-15-preview Bearer token-canary-1" {
		t.Errorf("asked %q", call)
	}
	form := func() string { return c.forms[len(c.forms)-1].Encode() }
	const proof = "&client_assertion_type=urn%3Aietf%3Aparams%3Aoauth%3Aclient-assertion-type%3Ajwt-bearer&client_id=c-1&grant_type=client_credentials&scope="
	if got, want := form(), "client_assertion=assertion-1"+proof+"https%3A%2F%2Fai.azure.com%2F.default"; got != want {
		t.Errorf("form %s, want %s", got, want)
	}
	if err := os.WriteFile(file, []byte("assertion-2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	h.Become(block("scope https://cognitiveservices.azure.com/.default\n"))
	if !harness.Eventually(func() bool { tokens, _ := c.asked(); return tokens == 2 }) {
		t.Fatal("no token was asked for another scope")
	}
	if got, want := form(), "client_assertion=assertion-2"+proof+"https%3A%2F%2Fcognitiveservices.azure.com%2F.default"; got != want {
		t.Errorf("form %s, want %s", got, want)
	}
}

func TestAReloadKeepsTheTokenOfAnAccount(t *testing.T) {
	t.Setenv("CLIENT_SECRET", "entra-canary-0123456789")
	c := startCloud(t)
	setup := harness.Setup{Providers: "provider azure {\n" + c.entra() + "resource acme\nbase_url " + c.URL + "/openai/v1\nmodels m\n}\n"}
	h := harness.Start(t, setup)
	for _, more := range []string{"", "rate 100/s", "rate 200/s"} {
		setup.Options = more
		h.Become(setup)
		if a := h.Client.Post(harness.ChatV1, "full", harness.Chat("azure/m", "")); a.Status != 200 {
			t.Errorf("%d %s", a.Status, a.Body)
		}
	}
	if tokens, _ := c.asked(); tokens != 1 {
		t.Errorf("%d tokens were asked for", tokens)
	}
}

func TestOperatorsSeeThatACloudGivesNoCredential(t *testing.T) {
	t.Setenv("CLIENT_SECRET", "entra-canary-0123456789")
	c := startCloud(t)
	c.status = http.StatusUnauthorized
	t.Setenv("KEY_OPS", harness.Secret("ops"))
	h := harness.Prepare(t)
	if err := h.Reload(harness.Setup{
		Keys: harness.DefaultKeys + "key ops {\nsecret {env.KEY_OPS}\nscopes providers:read\n}\n", Site: "gatehouse_health\ngatehouse\nmetrics /metrics",
		Providers: "provider azure {\n" + c.entra() + "resource acme\nbase_url " + c.URL + "/openai/v1\nmodels m\n}\n",
	}); err != nil {
		t.Fatal(err)
	}
	const cause = "answered with status 401: invalid_client: AADSTS7000215"
	if !harness.Eventually(func() bool { return len(harness.Log.Lines("a cloud gives no credential")) == 1 }) || len(harness.Log.Lines(cause)) == 0 {
		t.Fatalf("logged %q", harness.Log.Lines("credential"))
	}
	a := h.Client.Post(harness.ChatV1, "full", harness.Chat("azure/m", ""))
	harness.WantRefusal(t, harness.ChatV1, a, 502, "upstream_error")
	if !strings.Contains(string(a.Body), `the gateway has no credential for provider \"azure\" at present`) {
		t.Errorf("%s", a.Body)
	}
	if a := h.Client.Get("/readyz", ""); a.Status != 200 || harness.At(harness.Parse(t, a.Body), "parts", "providers") != "degraded" {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	failure := harness.At(harness.Parse(t, h.Client.Get("/v1/providers", "ops").Body), "data", 0, "endpoints", 0, "credential", "failure")
	if text, _ := failure.(string); !strings.Contains(text, cause) {
		t.Errorf("the list of providers shows %v", failure)
	}
	if left := h.Records.Metric(`gatehouse_provider_credential_remaining_seconds{endpoint="",provider="azure"}`); left != 0 {
		t.Errorf("%v seconds are left", left)
	}
	c.set(func() { c.status = http.StatusOK })
	if !harness.Eventually(func() bool { return len(harness.Log.Lines("a cloud gives a credential again")) == 1 }) {
		t.Fatalf("logged %q", harness.Log.Lines("credential"))
	}
	if left := h.Records.Metric(`gatehouse_provider_credential_remaining_seconds{endpoint="",provider="azure"}`); left < 3500 || left > 3600 {
		t.Errorf("%v seconds are left", left)
	}
	if a := h.Client.Post(harness.ChatV1, "full", harness.Chat("azure/m", "")); a.Status != 200 {
		t.Errorf("%d %s", a.Status, a.Body)
	}
}

func TestCheckAsksACloudForACredential(t *testing.T) {
	t.Setenv("CLIENT_SECRET", "entra-canary-0123456789")
	c := startCloud(t)
	config := gatehouseFile(checkKey + "}\nprovider azure {\n" + c.entra() + "resource acme\nbase_url " + c.URL + "/openai/v1\nmodels m\n}\n" +
		"provider claude {\ndialect vertex-anthropic\n" + c.entra() + "base_url " + c.URL + "/v1\nmodels m\n}\n")
	out, status := check(t, config, "--dial")
	tokens, _ := c.asked()
	if status != 0 || tokens != 1 || !strings.Contains(out, "its list of 0 models came in") || !strings.Contains(out, "it has no list of models and was not asked") {
		t.Errorf("status %d, %d tokens, %s", status, tokens, out)
	}
	c.set(func() { c.status = http.StatusBadRequest })
	out, status = check(t, config, "--dial")
	if status != 2 || !strings.Contains(out, "its cloud gives the gateway no credential: ") || !strings.Contains(out, "AADSTS7000215") || strings.Contains(out, "canary") {
		t.Errorf("status %d, %s", status, out)
	}
}
