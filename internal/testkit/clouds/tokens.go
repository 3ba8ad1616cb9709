package clouds

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Tokens are the endpoints at which clouds give tokens and keys. The SDKs of the vendors read the same
// answers (tests/sdk/python/tokens_suite.py).
//
//	POST /{tenant}/oauth2/v2.0/token               Microsoft Entra ID
//	GET  /metadata/identity/oauth2/token           the managed identity of a VM of Azure
//	GET  /msi/token                                that of App Service, Functions and Container Apps
//	POST /token                                    Google: service accounts, refresh tokens
//	POST /sts/token                                Google: workload identity federation
//	GET  /computeMetadata/v1/…/default/token       Google: the metadata server
//	GET  /aws/credentials                          AWS: the credentials of a container
//
// A request that the service would refuse gets the refusal that the service is known to send.
type Tokens struct {
	mux *http.ServeMux

	mu    sync.Mutex // guards the following
	given int
	asked []Request
}

// What the endpoints know. Any tenant and any other client is known, too.
const (
	EntraSecret    = "entra-secret-0123456789"
	IdentityHeader = "identity-header-0123456789"
	ContainerToken = "container-token-0123456789"
	// UnknownAccount is an account of Google that was deleted.
	UnknownAccount = "gone@p.iam.gserviceaccount.com"
	// TokenLife is how long all tokens live, in seconds.
	TokenLife = 3599
)

// NewTokens returns endpoints that have given no token.
func NewTokens() *Tokens {
	t := &Tokens{mux: http.NewServeMux()}
	t.mux.HandleFunc("POST /{tenant}/oauth2/v2.0/token", t.entra)
	t.mux.HandleFunc("GET /metadata/identity/oauth2/token", t.virtualMachine)
	t.mux.HandleFunc("GET /msi/token", t.appService)
	t.mux.HandleFunc("POST /token", t.google)
	t.mux.HandleFunc("POST /sts/token", t.googleFederation)
	t.mux.HandleFunc("GET /computeMetadata/v1/instance/service-accounts/default/token", t.googleMetadata)
	t.mux.HandleFunc("GET /aws/credentials", t.container)
	return t
}

// ServeHTTP implements [http.Handler].
func (t *Tokens) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody))
	if err != nil {
		return
	}
	t.mu.Lock()
	t.asked = append(t.asked, Request{r.URL.RequestURI(), r.Header.Clone(), body})
	t.mu.Unlock()
	r.Body = io.NopCloser(strings.NewReader(string(body)))
	w.Header().Set("Content-Type", "application/json")
	t.mux.ServeHTTP(w, r)
}

// Requests returns what arrived, oldest first.
func (t *Tokens) Requests() []Request {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]Request(nil), t.asked...)
}

// next is a new token.
func (t *Tokens) next() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.given++
	return fmt.Sprintf("token-%d", t.given)
}

func answerJSON(w http.ResponseWriter, status int, answer map[string]any) {
	text, _ := json.Marshal(answer) // of strings and numbers
	w.WriteHeader(status)
	_, _ = w.Write(text)
}

// entra answers as Microsoft Entra ID (v2.0 token endpoint, client credentials).
func (t *Tokens) entra(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	refuse := func(status, code int, word, text string) {
		answerJSON(w, status, map[string]any{
			"error": word, "error_codes": []int{code}, "timestamp": "2026-11-28 12:00:00Z", "trace_id": "1", "correlation_id": "2",
			"error_description": fmt.Sprintf("AADSTS%d: %s Trace ID: 1 Correlation ID: 2 Timestamp: 2026-11-28 12:00:00Z", code, text),
			"error_uri":         fmt.Sprintf("https://login.microsoftonline.com/error?code=%d", code),
		})
	}
	form := r.PostForm
	asserted := form.Get("client_assertion_type") == "urn:ietf:params:oauth:client-assertion-type:jwt-bearer" && form.Get("client_assertion") != ""
	switch {
	case form.Get("grant_type") != "client_credentials":
		refuse(400, 70003, "unsupported_grant_type", "The app requested an unsupported grant type.")
	case form.Get("client_id") == "":
		refuse(400, 900144, "invalid_request", "The request body must contain the following parameter: 'client_id'.")
	case !strings.HasSuffix(form.Get("scope"), "/.default"):
		refuse(400, 1002012, "invalid_scope", "The provided value for scope is not valid. Client credential flows must have a scope value with /.default.")
	case form.Get("client_secret") == "" && !asserted:
		refuse(401, 7000218, "invalid_client", "The request body must contain the following parameter: 'client_assertion' or 'client_secret'.")
	case form.Get("client_secret") != "" && form.Get("client_secret") != EntraSecret:
		refuse(401, 7000215, "invalid_client", "Invalid client secret provided. Ensure the secret being sent in the request is the client secret value.")
	default:
		answerJSON(w, 200, map[string]any{"token_type": "Bearer", "expires_in": TokenLife, "ext_expires_in": TokenLife, "access_token": t.next()})
	}
}

// virtualMachine answers as the metadata service of a VM of Azure (version 2018-02-01): all numbers are
// texts.
func (t *Tokens) virtualMachine(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	switch {
	case r.Header.Get("Metadata") != "true":
		answerJSON(w, 400, map[string]any{"error": "invalid_request", "error_description": "Required metadata header not specified"})
	case q.Get("api-version") != "2018-02-01" || q.Get("resource") == "":
		answerJSON(w, 400, map[string]any{"error": "invalid_request", "error_description": "Required query variable 'resource' is missing"})
	case q.Get("client_id") == "unknown":
		answerJSON(w, 400, map[string]any{"error": "invalid_request", "error_description": "Identity not found"})
	default:
		now := time.Now().Unix()
		answerJSON(w, 200, map[string]any{
			"access_token": t.next(), "client_id": "c-1", "expires_in": strconv.Itoa(TokenLife), "expires_on": strconv.FormatInt(now+TokenLife, 10),
			"ext_expires_in": strconv.Itoa(TokenLife), "not_before": strconv.FormatInt(now, 10), "resource": q.Get("resource"), "token_type": "Bearer",
		})
	}
}

// appService answers as App Service (version 2019-08-01), Functions and Container Apps: there is no
// expires_in.
func (t *Tokens) appService(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	switch {
	case r.Header.Get("X-Identity-Header") != IdentityHeader:
		answerJSON(w, 401, map[string]any{"statusCode": 401, "message": "Unauthorized", "correlationId": "1"})
	case q.Get("api-version") != "2019-08-01" || q.Get("resource") == "":
		answerJSON(w, 400, map[string]any{"statusCode": 400, "message": "Bad request", "correlationId": "1"})
	case q.Get("client_id") == "unknown":
		answerJSON(w, 400, map[string]any{"statusCode": 400, "message": "No User Assigned or Delegated Managed Identity found for specified ClientId/ResourceId/PrincipalId.", "correlationId": "1"})
	default:
		answerJSON(w, 200, map[string]any{
			"access_token": t.next(), "client_id": "c-1", "expires_on": strconv.FormatInt(time.Now().Unix()+TokenLife, 10), "resource": q.Get("resource"), "token_type": "Bearer",
		})
	}
}

const (
	jwtBearer     = "urn:ietf:params:oauth:grant-type:jwt-bearer"
	tokenExchange = "urn:ietf:params:oauth:grant-type:token-exchange"
)

// google answers as Google's token endpoint.
func (t *Tokens) google(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	refuse := func(word, text string) {
		answerJSON(w, 400, map[string]any{"error": word, "error_description": text})
	}
	answer := map[string]any{"expires_in": TokenLife, "token_type": "Bearer"}
	switch r.PostForm.Get("grant_type") {
	case jwtBearer:
		account, scoped := assertedBy(r.PostForm)
		switch {
		case account == "":
			refuse("invalid_grant", "Invalid JWT Signature.")
			return
		case account == UnknownAccount:
			refuse("invalid_grant", "Invalid grant: account not found")
			return
		case !scoped:
			refuse("invalid_scope", "Invalid OAuth scope or ID token audience provided.")
			return
		}
	case "refresh_token":
		if r.PostForm.Get("refresh_token") == "revoked-0123456789" {
			refuse("invalid_grant", "Token has been expired or revoked.")
			return
		}
		answer["scope"] = "https://www.googleapis.com/auth/cloud-platform"
	default:
		refuse("unsupported_grant_type", "Invalid grant_type: "+r.PostForm.Get("grant_type"))
		return
	}
	answer["access_token"] = t.next()
	answerJSON(w, 200, answer)
}

// assertedBy returns the account of an assertion, "" if that is none, and whether it names a scope.
func assertedBy(form url.Values) (account string, scoped bool) {
	parts := strings.Split(form.Get("assertion"), ".")
	if len(parts) != 3 {
		return "", false
	}
	var claims struct{ Iss, Aud, Scope string }
	text, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(parts[1], "="))
	if err != nil || json.Unmarshal(text, &claims) != nil || claims.Aud == "" {
		return "", false
	}
	return claims.Iss, claims.Scope != ""
}

// googleFederation answers as Google's Security Token Service.
func (t *Tokens) googleFederation(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	form := r.PostForm
	switch {
	case form.Get("grant_type") != tokenExchange || form.Get("requested_token_type") == "" || form.Get("audience") == "":
		answerJSON(w, 400, map[string]any{"error": "invalid_request", "error_description": "Invalid value for \"grant_type\"."})
	case form.Get("subject_token") == "expired-0123456789":
		answerJSON(w, 400, map[string]any{"error": "invalid_grant", "error_description": "ID Token issued at 1700000000 is stale to sign-in."})
	default:
		answerJSON(w, 200, map[string]any{
			"access_token": t.next(), "issued_token_type": "urn:ietf:params:oauth:token-type:access_token", "token_type": "Bearer", "expires_in": TokenLife,
		})
	}
}

// googleMetadata answers as the metadata server of Google's machines.
func (t *Tokens) googleMetadata(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Metadata-Flavor", "Google")
	if r.Header.Get("Metadata-Flavor") != "Google" {
		w.Header().Set("Content-Type", "text/html; charset=UTF-8")
		w.WriteHeader(http.StatusForbidden)
		return
	}
	answerJSON(w, 200, map[string]any{"access_token": t.next(), "expires_in": TokenLife, "token_type": "Bearer"})
}

// container answers as the agents of ECS and of EKS Pod Identity.
func (t *Tokens) container(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Authorization") != ContainerToken {
		answerJSON(w, 401, map[string]any{"code": "AccessDeniedException", "message": "invalid token"})
		return
	}
	answerJSON(w, 200, map[string]any{
		"AccessKeyId": "ASIAEXAMPLE", "SecretAccessKey": "secret-of-a-container", "Token": t.next(), "AccountId": "123456789012",
		"Expiration": time.Now().Add(TokenLife * time.Second).UTC().Format(time.RFC3339),
	})
}
