package anthropic_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// timeout ends a test that hangs.
const timeout = 30 * time.Second

func env(t *testing.T, name string) string {
	t.Helper()
	value := os.Getenv(name)
	if value == "" {
		t.Fatalf("%s is not set", name)
	}
	return value
}

// direct reports whether there is no gateway. Tests whose names end in OnlyDirect are for that
// target, those in OnlyNative for it and for a provider of this API: the driver skips them else.
func direct(t *testing.T) bool { return env(t, "GATEWAY_TARGET") == "direct" }

func name(t *testing.T, model string) string {
	if direct(t) {
		return model
	}
	return env(t, "GATEWAY_TARGET") + "/" + model
}

func host(t *testing.T) string {
	if direct(t) {
		return env(t, "FAKE_ORIGIN")
	}
	return env(t, "GATEWAY_ORIGIN")
}

func secret(t *testing.T) string {
	if direct(t) {
		return env(t, "FAKE_API_KEY")
	}
	return env(t, "GATEWAY_API_KEY")
}

func client(t *testing.T, options ...Option) Client {
	return newClient(append([]Option{withBase(host(t)), withKey(secret(t)), withRetries(0)}, options...)...)
}

func ctx(t *testing.T) context.Context {
	c, cancel := context.WithTimeout(t.Context(), timeout)
	t.Cleanup(cancel)
	return c
}

func ask(t *testing.T, model, prompt string) Params {
	return Params{Model: name(t, model), MaxTokens: 3000, Messages: []MessageParam{user(text(prompt))}}
}

func create(t *testing.T, p Params) *Message {
	t.Helper()
	c := client(t)
	m, err := c.Messages.New(ctx(t), p)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// accumulate is the message that the events of a stream add up to.
func accumulate(t *testing.T, p Params) *Message {
	t.Helper()
	c := client(t)
	stream := c.Messages.NewStreaming(ctx(t), p)
	var m Message
	for stream.Next() {
		if err := m.Accumulate(stream.Current()); err != nil {
			t.Fatal(err)
		}
	}
	if err := stream.Err(); err != nil {
		t.Fatal(err)
	}
	return &m
}

func said(m *Message) string {
	var all strings.Builder
	for _, b := range m.Content {
		all.WriteString(b.Text)
	}
	return all.String()
}

func echo(prompt string) string { return "You said: " + prompt }

// received are the headers of the requests of the fake provider that hold a text.
func received(t *testing.T, prompt string) (all []map[string]string) {
	t.Helper()
	res, err := http.Get(env(t, "FAKE_ORIGIN") + "/_control/requests")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var list []struct {
		Body    string
		Headers [][2]string
	}
	if err := json.NewDecoder(res.Body).Decode(&list); err != nil {
		t.Fatal(err)
	}
	for _, r := range list {
		if strings.Contains(r.Body, prompt) {
			headers := map[string]string{}
			for _, h := range r.Headers {
				headers[h[0]] = h[1]
			}
			all = append(all, headers)
		}
	}
	return all
}

// refused checks the one error type of this SDK.
func refused(t *testing.T, err error, status int, kind string) {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) {
		t.Errorf("error is %v, want *Error with status %d", err, status)
		return
	}
	var body struct {
		Type      string
		Error     struct{ Message string }
		RequestID string `json:"request_id"`
	}
	if err := json.Unmarshal([]byte(e.RawJSON()), &body); err != nil {
		t.Errorf("%v: %s", err, e.RawJSON())
	}
	if e.StatusCode != status || string(e.Type()) != kind || e.RequestID == "" || body.RequestID != e.RequestID || body.Error.Message == "" {
		t.Errorf("status %d, type %q, request %q, want %d %q: %s", e.StatusCode, e.Type(), e.RequestID, status, kind, e.RawJSON())
	}
	if !direct(t) {
		for _, canary := range []string{"sk-fake-", secret(t), env(t, "FAKE_API_KEY")} {
			if strings.Contains(e.RawJSON(), canary) {
				t.Errorf("it leaks %q", canary)
			}
		}
	}
}

func same(t *testing.T, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
