package cloudauth

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/redact"
)

const (
	maxErrorWord   = 64  // bytes of the word of an error
	maxErrorAdvice = 240 // bytes of its description
)

// secretFields are the fields of a form that prove who the gateway is.
var secretFields = []string{"client_secret", "client_assertion", "assertion", "refresh_token", "subject_token", "actor_token"}

// refusal is the error of an answer without a token: its status, the word of the error and its
// description, without what the request proved itself with. An answer of another form adds nothing.
func refusal(r *http.Request, status int, body []byte) error {
	secrets := sentSecrets(r)
	word, description := errorOf(body)
	word, description = redact.Text(word, secrets...), redact.Text(description, secrets...)
	if len(word) > maxErrorWord || strings.ContainsFunc(word, func(r rune) bool { return r <= ' ' || r > '~' }) {
		word = ""
	}
	if code, _, ok := strings.Cut(description, ":"); ok && strings.HasPrefix(code, "AADSTS") && len(code) <= 16 {
		description = code // Microsoft's text can repeat a secret of another application
	}
	text := fmt.Sprintf("the token endpoint %s answered with status %d", r.URL.Host, status)
	for _, part := range []string{word, shown(description)} {
		if part != "" {
			text += ": " + part
		}
	}
	return errors.New(text)
}

// errorOf reads the error of a token endpoint (RFC 6749, 5.2), of Google's APIs, and of App Service:
//
//	{"error": "invalid_grant", "error_description": "Invalid JWT Signature."}
//	{"error": {"code": 403, "message": "…", "status": "PERMISSION_DENIED"}}
//	{"statusCode": 400, "message": "No managed identity found"}
func errorOf(body []byte) (word, description string) {
	var answer struct {
		Error       json.RawMessage `json:"error"`
		Description string          `json:"error_description"`
		Message     string          `json:"message"`
	}
	var status struct {
		Status  string `json:"status"`
		Message string `json:"message"`
	}
	if json.Unmarshal(body, &answer) != nil {
		return "", ""
	}
	if json.Unmarshal(answer.Error, &word) != nil && json.Unmarshal(answer.Error, &status) == nil {
		word = status.Status
	}
	return word, cmp.Or(answer.Description, status.Message, answer.Message)
}

// shown returns a description in one line, cut to its bound.
func shown(description string) string {
	description = strings.Join(strings.FieldsFunc(description, func(r rune) bool { return r <= ' ' || r == 0x7f }), " ")
	if len(description) > maxErrorAdvice {
		description = strings.ToValidUTF8(description[:maxErrorAdvice], "") + "…"
	}
	return description
}

// sentSecrets returns what a request proved itself with.
func sentSecrets(r *http.Request) (secrets []string) {
	if _, secret, ok := r.BasicAuth(); ok {
		decoded, _ := url.QueryUnescape(secret)
		secrets = append(secrets, secret, decoded)
	} else if _, token, ok := strings.Cut(r.Header.Get("Authorization"), " "); ok {
		secrets = append(secrets, token)
	}
	secrets = append(secrets, r.Header.Get("X-Identity-Header"))
	if r.GetBody == nil {
		return secrets
	}
	body, err := r.GetBody()
	if err != nil {
		return secrets
	}
	text, _ := io.ReadAll(body) // from memory
	form, _ := url.ParseQuery(string(text))
	for _, field := range secretFields {
		secrets = append(secrets, form[field]...)
	}
	return secrets
}

// refusals notes the last answer of a token endpoint that is an error, for SDKs whose errors cannot be
// shown: they repeat the whole answer.
type refusals struct {
	next http.RoundTripper
	last error
}

// noted returns a client that notes what a token endpoint refuses.
func noted(client *http.Client) (*http.Client, *refusals) {
	n := &refusals{next: cmp.Or(client.Transport, http.DefaultTransport)}
	with := *client
	with.Transport = n
	return &with, n
}

// RoundTrip implements [http.RoundTripper].
func (n *refusals) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := n.next.RoundTrip(r)
	if err != nil || resp.StatusCode < http.StatusMultipleChoices {
		return resp, err
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxTokenAnswer))
	_ = resp.Body.Close()
	if err != nil {
		return nil, err
	}
	n.last = refusal(r, resp.StatusCode, body)
	resp.Body = io.NopCloser(bytes.NewReader(body))
	return resp, nil
}
