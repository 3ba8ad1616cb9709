package sdkgo_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"os"
	"testing"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
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

func target(t *testing.T) string { return env(t, "GATEWAY_TARGET") }

// needFake marks tests that need the fake provider. The driver runs them only if that provider is
// the target.
func needFake(t *testing.T) {
	t.Helper()
	if target(t) != "fake" {
		t.Fatal("this test is for the fake provider; run the others with -test.skip OnlyFake")
	}
}

func echo(prompt string) string { return "You said: " + prompt }

func ctx(t *testing.T) context.Context {
	c, cancel := context.WithTimeout(t.Context(), timeout)
	t.Cleanup(cancel)
	return c
}

func clientOf(t *testing.T, key string) openai.Client {
	return openai.NewClient(
		option.WithBaseURL(env(t, "GATEWAY_ORIGIN")+"/v1"),
		option.WithAPIKey(key),
		option.WithMaxRetries(0))
}

func client(t *testing.T) openai.Client { return clientOf(t, env(t, "GATEWAY_API_KEY")) }

// pick is step 3 of the verification: it selects the model from the list.
func pick(t *testing.T, c openai.Client) string {
	t.Helper()
	want := target(t) + "/echo"
	list := c.Models.ListAutoPaging(ctx(t))
	for list.Next() {
		if id := list.Current().ID; id == want {
			return id
		}
	}
	t.Fatalf("%s is not in the list (error %v)", want, list.Err())
	return ""
}

type row struct {
	RequestID    string `json:"request_id"`
	Model        string `json:"model"`
	Status       int    `json:"status"`
	Stream       bool   `json:"stream"`
	PromptTokens int64  `json:"prompt_tokens"`
}

// find is step 5: key 2 finds the request of key 1.
func find(t *testing.T, requestID, model string) row {
	t.Helper()
	address := env(t, "GATEWAY_ORIGIN") + "/api/v1/activity?request_id=" + url.QueryEscape(requestID)
	req, err := http.NewRequestWithContext(ctx(t), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+env(t, "GATEWAY_ACTIVITY_KEY"))
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var list struct{ Data []row }
	if err := json.NewDecoder(res.Body).Decode(&list); err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("activity: status %d, error %v", res.StatusCode, err)
	}
	if len(list.Data) != 1 || list.Data[0].RequestID != requestID || list.Data[0].Model != model {
		t.Fatalf("activity of %q: %+v, want one row of %s", requestID, list.Data, model)
	}
	return list.Data[0]
}

// refused checks the one error type of this SDK.
func refused(t *testing.T, err error, status int, code string) {
	t.Helper()
	var e *openai.Error
	if !errors.As(err, &e) {
		t.Fatalf("error is %v, want *openai.Error", err)
	}
	if e.StatusCode != status || e.Code != code {
		t.Errorf("status %d code %q, want %d %q", e.StatusCode, e.Code, status, code)
	}
}
