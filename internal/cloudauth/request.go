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
// token of which it does not say how long it lives has the usual life; with 0 that is an error. Errors
// show nothing of the answer but the error's own word.
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
		Token   string          `json:"access_token"`
		Type    string          `json:"token_type"`
		Life    json.RawMessage `json:"expires_in"` // seconds, at Microsoft also as a text
		Error   string          `json:"error"`
		Message string          `json:"error_description"`
	}
	_ = json.Unmarshal(body, &answer) // an answer that is something else has no token
	if resp.StatusCode != http.StatusOK || answer.Token == "" {
		return "", expires, fmt.Errorf("the token endpoint %s answered with status %d%s", r.URL.Host, resp.StatusCode, errorWords(answer.Error, answer.Message))
	}
	if strings.ContainsFunc(answer.Token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", expires, fmt.Errorf("the token endpoint %s gave a token that no header can carry", r.URL.Host)
	}
	if answer.Type != "" && !strings.EqualFold(answer.Type, "bearer") { // it would need a proof that is not made
		return "", expires, fmt.Errorf("the token endpoint %s gave a token that is not a bearer token", r.URL.Host)
	}
	if life := string(answer.Life); usualLife > 0 && (life == "" || life == "null") {
		return answer.Token, asked.Add(usualLife), nil
	}
	seconds, err := strconv.ParseInt(strings.Trim(string(answer.Life), `"`), 10, 64)
	if err != nil || seconds <= 0 {
		return "", expires, fmt.Errorf("the token endpoint %s does not say how long its token lives", r.URL.Host)
	}
	return answer.Token, asked.Add(min(time.Duration(min(seconds, 1<<32))*time.Second, longestLife)), nil
}

// errorWords shows the word of an error, and the code that Microsoft begins its text with.
func errorWords(word, message string) string {
	if len(word) > 64 || strings.ContainsFunc(word, func(r rune) bool { return r <= ' ' || r > '~' }) {
		word = ""
	}
	if code, _, ok := strings.Cut(message, ":"); ok && strings.HasPrefix(code, "AADSTS") && len(code) <= 16 {
		word = strings.TrimSpace(word + " " + code)
	}
	if word == "" {
		return ""
	}
	return ": " + word
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
