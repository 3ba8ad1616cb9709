package identitytest

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// The gateway as a client of the issuer.
const (
	ClientID     = "gatehouse-client"
	ClientSecret = "the secret of the client: 40% + 2/3"
)

// Quirks are what an issuer does in its own way, or wrong.
type Quirks struct {
	// Thin ID tokens have no claims but those that they must have; the userinfo has the rest.
	Thin bool
	// SecretInBody takes the secret of the client in the form only.
	SecretInBody bool
	// NoRefresh gives no refresh tokens, and one of before stays good. NoIDTokenAgain gives no ID
	// token for one.
	NoRefresh, NoIDTokenAgain bool
	// NamesItself sends iss with each browser (RFC 9207).
	NamesItself bool
	// ReturnsAs is the iss that it sends instead of its own.
	ReturnsAs string
	// Claims replace those of ID tokens; nil takes one out.
	Claims map[string]any
	// UserInfoOf is the subject of the userinfo.
	UserInfoOf string
	// Token answers instead of the token endpoint.
	Token func(w http.ResponseWriter, r *http.Request)
}

// people are those who sign in at an issuer.
type people struct {
	quirks  Quirks
	subject string // who sits at the browser
	claims  map[string]map[string]any
	ended   map[string]bool
	codes   map[string]grant // once
	tokens  map[string]grant // refresh tokens once, access tokens
	made    int
	asked   int // for tokens
}

// grant is what a code or a token stands for.
type grant struct {
	subject, nonce, challenge, redirect string
}

func (p *people) start() {
	p.claims, p.ended = map[string]map[string]any{}, map[string]bool{}
	p.codes, p.tokens = map[string]grant{}, map[string]grant{}
}

// SignIn says who sits at the browser from now on, and with which claims.
func (i *Issuer) SignIn(subject string, claims map[string]any) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.people.subject, i.people.claims[subject] = subject, claims
}

// End lets somebody in no longer.
func (i *Issuer) End(subject string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.people.ended[subject] = true
}

// Behave sets the quirks.
func (i *Issuer) Behave(q Quirks) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.people.quirks = q
}

// Asked is how often tokens were asked for.
func (i *Issuer) Asked() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.people.asked
}

// The endpoints; mu is held.

func (i *Issuer) discover(w http.ResponseWriter, _ *http.Request) {
	method := "client_secret_basic"
	if i.people.quirks.SecretInBody {
		method = "client_secret_post"
	}
	_ = json.NewEncoder(w).Encode(map[string]any{
		"issuer": i.URL, "jwks_uri": i.URL + "/keys", "authorization_endpoint": i.URL + "/authorize?tenant=1", "token_endpoint": i.URL + "/token",
		"userinfo_endpoint": i.URL + "/userinfo", "token_endpoint_auth_methods_supported": []string{method},
		"authorization_response_iss_parameter_supported": i.people.quirks.NamesItself,
	})
}

func (i *Issuer) authorize(w http.ResponseWriter, r *http.Request) {
	p, q := &i.people, r.URL.Query()
	back, err := url.Parse(q.Get("redirect_uri"))
	if err != nil || q.Get("client_id") != ClientID || q.Get("response_type") != "code" || q.Get("code_challenge_method") != "S256" ||
		!strings.Contains(q.Get("scope"), "openid") || q.Get("tenant") != "1" {
		http.Error(w, "invalid_request", http.StatusBadRequest)
		return
	}
	answer := url.Values{"state": q["state"]}
	if p.quirks.NamesItself {
		answer.Set("iss", i.URL)
	}
	if p.quirks.ReturnsAs != "" {
		answer.Set("iss", p.quirks.ReturnsAs)
	}
	if p.subject == "" || p.ended[p.subject] {
		answer.Set("error", "access_denied")
	} else {
		code := p.name("code")
		p.codes[code] = grant{p.subject, q.Get("nonce"), q.Get("code_challenge"), q.Get("redirect_uri")}
		answer.Set("code", code)
	}
	back.RawQuery = answer.Encode()
	http.Redirect(w, r, back.String(), http.StatusFound)
}

func (p *people) name(kind string) string {
	p.made++
	return fmt.Sprintf("%s-%d", kind, p.made)
}

func (i *Issuer) token(w http.ResponseWriter, r *http.Request) {
	p := &i.people
	p.asked++
	if slow := p.quirks.Token; slow != nil { // it may be changed while it answers
		i.mu.Unlock()
		defer i.mu.Lock()
		slow(w, r)
		return
	}
	user, secret, _ := r.BasicAuth()
	user, _ = url.QueryUnescape(user)
	secret, _ = url.QueryUnescape(secret) // RFC 6749, 2.3.1
	if p.quirks.SecretInBody {
		user, secret = r.PostFormValue("client_id"), r.PostFormValue("client_secret")
	}
	if user != ClientID || secret != ClientSecret {
		refuse(w, http.StatusUnauthorized, "invalid_client")
		return
	}
	kind, from, name := r.PostFormValue("grant_type"), p.codes, "code"
	if kind == "refresh_token" {
		from, name = p.tokens, "refresh_token"
	}
	value := r.PostFormValue(name)
	g, ok := from[value]
	if name == "code" || !p.quirks.NoRefresh {
		delete(from, value)
	}
	challenge := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
	if !ok || p.ended[g.subject] || kind == "authorization_code" &&
		(base64.RawURLEncoding.EncodeToString(challenge[:]) != g.challenge || r.PostFormValue("redirect_uri") != g.redirect) {
		refuse(w, http.StatusBadRequest, "invalid_grant")
		return
	}
	i.give(w, g, kind == "refresh_token")
}

func refuse(w http.ResponseWriter, status int, code string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"error": code, "error_description": "secret words of the issuer"})
}

func (i *Issuer) give(w http.ResponseWriter, g grant, again bool) {
	p, now := &i.people, time.Now()
	claims := map[string]any{"iss": i.URL, "sub": g.subject, "aud": ClientID, "iat": now.Unix(), "exp": now.Add(5 * time.Minute).Unix()}
	if !again {
		claims["nonce"] = g.nonce
	}
	if !p.quirks.Thin {
		maps.Copy(claims, p.claims[g.subject])
	}
	for name, value := range p.quirks.Claims {
		if claims[name] = value; value == nil {
			delete(claims, name)
		}
	}
	payload, _ := json.Marshal(claims) // of a test
	signed, err := i.sign(payload)
	if err != nil {
		refuse(w, http.StatusInternalServerError, "server_error")
		return
	}
	answer := map[string]any{"access_token": p.name("access"), "token_type": "Bearer", "expires_in": 300}
	p.tokens[answer["access_token"].(string)] = g
	if !again || !p.quirks.NoIDTokenAgain {
		answer["id_token"] = signed
	}
	if !p.quirks.NoRefresh {
		refresh := p.name("refresh")
		p.tokens[refresh], answer["refresh_token"] = g, refresh
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer)
}

func (i *Issuer) userinfo(w http.ResponseWriter, r *http.Request) {
	p := &i.people
	g, ok := p.tokens[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")]
	if !ok || p.ended[g.subject] {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	claims := map[string]any{"sub": g.subject}
	maps.Copy(claims, p.claims[g.subject])
	if p.quirks.UserInfoOf != "" {
		claims["sub"] = p.quirks.UserInfoOf
	}
	_ = json.NewEncoder(w).Encode(claims)
}
