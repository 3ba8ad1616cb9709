package api

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

const (
	embeddingsV1 = "/v1/embeddings"
	embeddingsOR = "/api/v1/embeddings"
)

func TestEmbeddingsReachTheProviderAndComeBackUnderTheirOwnName(t *testing.T) {
	h := harness.Start(t, harness.Setup{})
	for _, path := range []string{embeddingsV1, embeddingsOR} {
		a := h.Client.Post(path, "chat", `{"model":"fake/echo", "input":["red car","blue car"],"encoding_format":"float","dimensions":8,"user":"u","x_new":1}`)
		body := harness.Parse(t, a.Body)
		if a.Status != 200 || harness.At(body, "model") != "fake/echo" || harness.At(body, "object") != "list" || len(harness.At(body, "data", 1, "embedding").([]any)) != 8 {
			t.Fatalf("%s: %d %s", path, a.Status, a.Body)
		}
		up := h.Provider.Request(1)
		if want := `{"model":"echo", "input":["red car","blue car"],"encoding_format":"float","dimensions":8,"user":"u","x_new":1}`; string(up.Body) != want || up.Path != embeddingsV1 {
			t.Errorf("%s: upstream %s %s", path, up.Path, up.Body)
		}
		row := h.Records.Row(a.Header.Get("X-Request-Id"))
		for key, want := range map[string]any{
			"model": "fake/echo", "provider_name": "fake", "status": harness.Number("200"), "code": nil, "stream": false, "route": "POST " + path,
			"prompt_tokens": harness.Number("4"), "completion_tokens": harness.Number("0"), "usage_source": "provider", "attempts": harness.Number("1"),
		} {
			if got := harness.At(row, key); got != want {
				t.Errorf("%s: row[%s] = %v, want %v", path, key, got, want)
			}
		}
	}
}

// OpenRouter lists models that embed only where they are asked for; OpenAI has one list.
func TestModelsThatEmbedAreListedWhereTheirClientsLook(t *testing.T) {
	h := harness.Start(t, harness.Setup{})
	for path, want := range map[string]string{
		"/v1/models":     "test/echo test/embed test/fail test/lorem test/slow",
		"/api/v1/models": "test/echo test/fail test/lorem test/slow",
		"/api/v1/models?output_modalities=embeddings":       "test/embed",
		"/api/v1/embeddings/models":                         "test/embed",
		"/api/v1/embeddings/models?offset=1":                "",
		"/api/v1/models?output_modalities=image,embeddings": "test/embed",
		"/api/v1/models?output_modalities=all&limit=3":      "test/echo test/embed test/fail",
	} {
		var list struct{ Data []struct{ ID string } }
		a := h.Client.Get(path, "models")
		if err := json.Unmarshal(a.Body, &list); err != nil || a.Status != 200 {
			t.Fatalf("%s: %d %s", path, a.Status, a.Body)
		}
		var ids []string
		for _, m := range list.Data {
			ids = append(ids, m.ID)
		}
		if got := strings.Join(ids, " "); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
	one := harness.Parse(t, h.Client.Get("/api/v1/model/test/embed", "models").Body)
	if harness.At(one, "data", "architecture", "modality") != "text->embeddings" {
		t.Errorf("%v", one)
	}
	next := harness.Parse(t, h.Client.Get("/api/v1/models?output_modalities=all&limit=3", "models").Body)
	if got := harness.At(next, "links", "next"); got != "/api/v1/models?limit=3&offset=3&output_modalities=all" {
		t.Errorf("next is %v", got)
	}
}
