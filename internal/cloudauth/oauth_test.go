package cloudauth

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// issuer is an authorization server without a network.
type issuer struct {
	status int
	answer string        // "%d" in it is the number of the request
	takes  time.Duration // for an answer

	mu     sync.Mutex // guards the following
	asked  []*http.Request
	forms  []url.Values
	atOnce int // requests under way
	most   int // of them
}

func (i *issuer) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	form, err := url.ParseQuery(string(body))
	i.mu.Lock()
	i.asked, i.forms, i.atOnce = append(i.asked, r), append(i.forms, form), i.atOnce+1
	i.most = max(i.most, i.atOnce)
	answer := strings.ReplaceAll(i.answer, "%d", fmt.Sprint(len(i.asked)))
	i.mu.Unlock()
	select {
	case <-time.After(i.takes):
	case <-r.Context().Done():
		err = r.Context().Err()
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.atOnce--
	return &http.Response{StatusCode: i.status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(answer))}, err
}

func (i *issuer) requests() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return len(i.asked)
}

const hourly = `{"access_token":"token-%d","token_type":"Bearer","expires_in":3600}`

func usualOAuth() OAuth {
	return OAuth{TokenURL: "https://login.example.com/token?tenant=a", ClientID: "gate house", Secret: text("s:e+c%ret")}
}

func TestTheSecretOfAClientIsSentInBothWays(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*OAuth)
		basic  string // user and password, as RFC 6749 encodes them
		form   url.Values
	}{
		"basic": {nil, "gate+house:s%3Ae%2Bc%25ret", url.Values{"grant_type": {"client_credentials"}}},
		"post": {func(o *OAuth) { o.Method = SecretPost }, "", url.Values{
			"grant_type": {"client_credentials"}, "client_id": {"gate house"}, "client_secret": {"s:e+c%ret"},
		}},
		"all parameters": {func(o *OAuth) {
			o.Method, o.Scope, o.Audience, o.Resource = SecretBasic, "tools:read tools:call", "tools", "https://tools.example.com/mcp"
		}, "gate+house:s%3Ae%2Bc%25ret", url.Values{
			"grant_type": {"client_credentials"}, "scope": {"tools:read tools:call"}, "audience": {"tools"}, "resource": {"https://tools.example.com/mcp"},
		}},
	} {
		i, o := &issuer{status: http.StatusOK, answer: hourly}, usualOAuth()
		if c.change != nil {
			c.change(&o)
		}
		made, err := NewOAuth(t.Context(), o, Client(i), time.Now)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if h, err := sign(t, made); err != nil || h.Get("Authorization") != "Bearer token-1" {
			t.Errorf("%s: %v %v", name, h, err)
		}
		user, password, _ := i.asked[0].BasicAuth()
		if sent := user + ":" + password; c.basic != "" && sent != c.basic || c.basic == "" && i.asked[0].Header["Authorization"] != nil {
			t.Errorf("%s: authorized by %q", name, sent)
		}
		if i.asked[0].URL.String() != o.TokenURL || i.forms[0].Encode() != c.form.Encode() {
			t.Errorf("%s: asked %s %v", name, i.asked[0].URL, i.forms[0])
		}
	}
}

func TestAChangedSecretIsUsedForTheNextToken(t *testing.T) {
	i, o, current := &issuer{status: http.StatusOK, answer: hourly}, usualOAuth(), "first"
	o.Method, o.Secret = SecretPost, func() string { return current }
	made, err := NewOAuth(t.Context(), o, Client(i), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	for _, current = range []string{"first", "second"} {
		if err := made.Fetch(t.Context()); err != nil {
			t.Fatal(err)
		}
		if sent := i.forms[len(i.forms)-1].Get("client_secret"); sent != current {
			t.Errorf("%q was sent, want %q", sent, current)
		}
	}
}

func TestBadAnswersOfAnAuthorizationServerAreErrorsWithoutSecrets(t *testing.T) {
	for want, i := range map[string]*issuer{
		"answered with status 401: invalid_client": {status: 401, answer: `{"error":"invalid_client","error_description":"s:e+c%ret is wrong"}`},
		"answered with status 400":                 {status: 400, answer: `{"error":"the secret s:e+c%ret is wrong"}`},
		"answered with status 302":                 {status: 302, answer: hourly},
		"answered with status 200":                 {status: 200, answer: `{"access_token":"` + strings.Repeat("x", maxTokenAnswer) + `"}`},
		"a token that is not a bearer token":       {status: 200, answer: `{"access_token":"s:e+c%ret","token_type":"DPoP","expires_in":60}`},
		"a token that no header can carry":         {status: 200, answer: `{"access_token":"s:e+c%ret\n","expires_in":60}`},
		"does not say how long its token lives":    {status: 200, answer: `{"access_token":"a","expires_in":-1}`},
	} {
		o := usualOAuth()
		made, err := NewOAuth(t.Context(), o, Client(i), time.Now)
		if err != nil {
			t.Fatal(err)
		}
		if _, err = sign(t, made); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "e+c") || strings.Contains(err.Error(), "tenant=a") {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func TestBadClientsAreRefused(t *testing.T) {
	for want, change := range map[string]func(*OAuth){
		`token_url ""`:                                 func(o *OAuth) { o.TokenURL = "" },
		`token_url "login.example.com/token"`:          func(o *OAuth) { o.TokenURL = "login.example.com/token" },
		"no user and no fragment":                      func(o *OAuth) { o.TokenURL = "https://a:b@login.example.com/token" },
		"a secret is not sent over plain http":         func(o *OAuth) { o.TokenURL = "http://login.example.com/token" },
		"client_id is missing":                         func(o *OAuth) { o.ClientID = "" },
		"client_secret is missing":                     func(o *OAuth) { o.Secret = nil },
		`auth_method "private_key_jwt": want`:          func(o *OAuth) { o.Method = "private_key_jwt" },
		`resource "tools": want an absolute URI`:       func(o *OAuth) { o.Resource = "tools" },
		`resource "https://a.example/#b": want an abs`: func(o *OAuth) { o.Resource = "https://a.example/#b" },
		"it has characters that OAuth does not allow":  func(o *OAuth) { o.Scope = "a\nb" },
	} {
		o := usualOAuth()
		change(&o)
		if _, err := NewOAuth(t.Context(), o, Client(&issuer{}), time.Now); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	o := usualOAuth()
	o.TokenURL = "http://127.0.0.1:8080/token"
	if _, err := NewOAuth(t.Context(), o, Client(&issuer{}), time.Now); err != nil {
		t.Errorf("on this machine: %v", err)
	}
}

// Many requests use a token for hours. It is asked for by one of them at a time, before it ends, and no
// request waits for it but the first ones.
func TestManyRequestsShareATokenThatIsRenewed(t *testing.T) {
	for name, c := range map[string]struct {
		answer string
		tokens int // in two hours
	}{
		"an hour":   {hourly, 3},
		"not known": {`{"access_token":"token-%d"}`, 16}, // of ten minutes, renewed two before their end
		"as a text": {`{"access_token":"token-%d","token_type":"bearer","expires_in":"3600"}`, 3},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(context.Background())
			i := &issuer{status: http.StatusOK, answer: c.answer, takes: time.Second}
			made, err := NewOAuth(ctx, usualOAuth(), Client(i), time.Now)
			if err != nil {
				t.Fatal(err)
			}
			var calls sync.WaitGroup
			for n := range 100 {
				calls.Go(func() {
					time.Sleep(time.Duration(n) * time.Millisecond)
					for round := range 240 {
						began := time.Now()
						if h, err := sign(t, made); err != nil || !strings.HasPrefix(h.Get("Authorization"), "Bearer token-") {
							t.Errorf("%v %v", h, err)
						}
						if waited := time.Since(began); round > 0 && waited > 0 {
							t.Errorf("a request waited %s", waited)
						}
						time.Sleep(30 * time.Second)
					}
				})
			}
			calls.Wait()
			cancel()
			synctest.Wait()
			if n := i.requests(); i.most != 1 || n != c.tokens {
				t.Errorf("%s: %d tokens, %d requests at once", name, n, i.most)
			}
			if s := made.Status(); s.Kind != "oauth" || s.Err != nil {
				t.Errorf("%s: %+v", name, s)
			}
		})
	}
}
