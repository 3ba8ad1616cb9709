package sdkgo_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
)

func TestRefusalsAreTyped(t *testing.T) {
	c := client(t)
	model := pick(t, c)
	wrong := clientOf(t, "gh-"+strings.Repeat("x", 43))
	reader := clientOf(t, env(t, "GATEWAY_ACTIVITY_KEY"))
	for name, tc := range map[string]struct {
		client openai.Client
		model  string
		status int
		code   string
	}{
		"wrong key":        {wrong, model, 401, "invalid_api_key"},
		"no scope":         {reader, model, 403, "insufficient_scope"},
		"unknown model":    {c, target(t) + "/no-such-model", 404, "model_not_found"},
		"unknown provider": {c, "no-such-provider/echo", 404, "model_not_found"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := tc.client.Chat.Completions.New(ctx(t), ask(tc.model, "x"))
			refused(t, err, tc.status, tc.code)
			stream := tc.client.Chat.Completions.NewStreaming(ctx(t), ask(tc.model, "x"))
			if stream.Next() {
				t.Errorf("a chunk: %s", stream.Current().RawJSON())
			}
			refused(t, stream.Err(), tc.status, tc.code)
		})
	}
}

func TestAModelThatIsOnlyInTheCatalogIs404(t *testing.T) {
	c := client(t)
	_, err := c.Chat.Completions.New(ctx(t), ask(env(t, "GATEWAY_UNCALLABLE_MODEL"), "x"))
	var e *openai.Error
	if !errors.As(err, &e) || e.StatusCode != http.StatusNotFound || !strings.HasPrefix(e.Code, "model_not_") {
		t.Errorf("error is %v", err)
	}
}

func TestProviderErrorsAreTypedOnlyFake(t *testing.T) {
	needFake(t)
	c := client(t)
	for model, tc := range map[string]struct {
		status int
		code   string
	}{
		"fake/err-429": {429, "upstream_rate_limited"},
		"fake/err-500": {502, "upstream_error"},
		"fake/err-401": {502, "upstream_auth_error"},
	} {
		t.Run(model, func(t *testing.T) {
			_, err := c.Chat.Completions.New(ctx(t), ask(model, "x"))
			refused(t, err, tc.status, tc.code)
		})
	}
}

func TestABrokenStreamIsAnErrorOnlyFake(t *testing.T) {
	needFake(t)
	c := client(t)
	inside := 0 // errors after the first chunk; before it, the answer is a 502
	for _, name := range []string{"cut-mid-stream", "cut-reset", "cut-clean", "err-mid-stream", "malformed"} {
		stream := c.Chat.Completions.NewStreaming(ctx(t), ask("fake/"+name, "a b c d"))
		chunks := 0
		for stream.Next() {
			chunks++
		}
		if stream.Err() == nil {
			t.Errorf("%s: %d chunks and no error", name, chunks)
		}
		if chunks > 0 {
			inside++
		} else {
			refused(t, stream.Err(), 502, "upstream_error")
		}
	}
	if inside == 0 {
		t.Error("no error inside a stream")
	}
}
