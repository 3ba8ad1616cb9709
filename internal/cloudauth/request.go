package cloudauth

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"
)

const (
	// maxTokenAnswer bounds the answer of a token endpoint, in bytes; tokens have some KB.
	maxTokenAnswer = 64 << 10
	// longestLife bounds what a token endpoint says of a token's life.
	longestLife = 24 * time.Hour
)

// Client returns the client for token endpoints: it follows no redirect, which would get the secret.
func Client(transport http.RoundTripper) *http.Client {
	return &http.Client{
		Transport: transport, Timeout: fetchTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// askToken asks an OAuth token endpoint (RFC 6749, 5.1), or a metadata server that answers like one. A
// token of which it does not say how long it lives has the usual life; with 0 that is an error.
func askToken(client *http.Client, r *http.Request, now func() time.Time, usualLife time.Duration) (value string, expires time.Time, err error) {
	asked := now()
	resp, err := client.Do(r)
	if err != nil {
		var u *url.Error
		if errors.As(err, &u) {
			err = u.Err // without the address
		}
		return "", expires, fmt.Errorf("the token endpoint %s cannot be reached: %w", r.URL.Host, err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxTokenAnswer))
	if err != nil {
		return "", expires, fmt.Errorf("reading the answer of the token endpoint %s: %w", r.URL.Host, err)
	}
	var answer struct {
		Token string `json:"access_token"`
		Type  string `json:"token_type"`
		tokenLife
	}
	_ = json.Unmarshal(body, &answer) // an answer that is something else has no token
	if resp.StatusCode != http.StatusOK || answer.Token == "" {
		return "", expires, refusal(r, resp.StatusCode, body)
	}
	if strings.ContainsFunc(answer.Token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", expires, fmt.Errorf("the token endpoint %s gave a token that no header can carry", r.URL.Host)
	}
	if answer.Type != "" && !strings.EqualFold(answer.Type, "bearer") { // it would need a proof that is not made
		return "", expires, fmt.Errorf("the token endpoint %s gave a token that is not a bearer token", r.URL.Host)
	}
	life := answer.left(asked)
	if life == 0 && !answer.given() {
		life = usualLife
	}
	if life <= 0 {
		return "", expires, fmt.Errorf("the token endpoint %s does not say how long its token lives", r.URL.Host)
	}
	return answer.Token, asked.Add(min(life, longestLife)), nil
}

// tokenLife is what an answer says of a token's life. Microsoft sends either as a number or as a text,
// and App Service only the second.
type tokenLife struct {
	In json.RawMessage `json:"expires_in"` // seconds
	On json.RawMessage `json:"expires_on"` // seconds since 1970
}

func (l tokenLife) given() bool { return present(l.In) || present(l.On) }

func present(field json.RawMessage) bool { return len(field) > 0 && string(field) != "null" }

// left returns how long the token lives, 0 if that cannot be read.
func (l tokenLife) left(asked time.Time) time.Duration {
	field, since := l.In, int64(0)
	if !present(l.In) {
		field, since = l.On, asked.Unix()
	}
	seconds, err := strconv.ParseInt(strings.Trim(string(field), `"`), 10, 64)
	if err != nil || seconds <= since {
		return 0
	}
	return time.Duration(min(seconds-since, int64(longestLife/time.Second))) * time.Second
}

// readFile reads a small file.
func readFile(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	text, err := io.ReadAll(io.LimitReader(f, maxCredentialFile+1))
	if err == nil && len(text) > maxCredentialFile {
		err = fmt.Errorf("%s has more than %d bytes", name, maxCredentialFile)
	}
	return text, err
}
