package api

import (
	"encoding/base64"
	"encoding/json"
	"slices"
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

func TestTheBuiltInProviderEmbeds(t *testing.T) {
	h := harness.Start(t, harness.Setup{})
	for _, input := range []string{`"a b"`, `["a b"]`, `[1,2]`, `[[1,2]]`} {
		a := h.Client.Post(embeddingsV1, "chat", `{"model":"test/embed","input":`+input+`,"encoding_format":"base64"}`)
		var list struct {
			Data  []struct{ Embedding string }
			Usage struct{ Prompt_tokens int }
		}
		if err := json.Unmarshal(a.Body, &list); err != nil || a.Status != 200 || len(list.Data) != 1 || list.Usage.Prompt_tokens != 2 {
			t.Fatalf("%s: %d %s", input, a.Status, a.Body)
		}
		if vector, err := base64.StdEncoding.DecodeString(list.Data[0].Embedding); err != nil || len(vector) != 4*64 {
			t.Errorf("%s: %d bytes, %v", input, len(vector), err)
		}
	}
}

func TestEmbeddingsAreRefusedByName(t *testing.T) {
	h := harness.Start(t, harness.Setup{})
	embed := func(model, more string) string { return `{"model":"` + model + `","input":"x"` + more + `}` }
	for _, path := range []string{embeddingsV1, embeddingsOR} {
		for _, c := range []struct {
			key, body string
			status    int
			code      string
		}{
			{"models", embed("test/embed", ""), 403, "insufficient_scope"},
			{"narrow", embed("fake/other", ""), 404, "model_not_found"},
			{"chat", embed("test/echo", ""), 404, "model_not_callable"},
			{"chat", embed("test/embed", harness.Streaming), 400, "unsupported_parameter"},
			{"chat", `{"model":"test/embed"}`, 400, "missing_required_parameter"},
			{"chat", embed("test/embed", `,"dimensions":0`), 400, "invalid_value"},
			{"chat", embed("fake/err-429", ""), 429, "upstream_rate_limited"},
			{"chat", embed("fake/err-500", ""), 502, "upstream_error"},
		} {
			harness.WantRefusal(t, path, h.Client.Post(path, c.key, c.body), c.status, c.code)
		}
	}
	harness.WantRefusal(t, "chat", h.Client.Post(harness.ChatV1, "chat", harness.Chat("test/embed", "")), 404, "model_not_callable")
	for _, path := range []string{"/v1/images/variations", "/v1/audio/speech", "/v1/files"} {
		if a := h.Client.Post(path, "chat", embed("test/embed", "")); a.Status != 404 {
			t.Errorf("%s: %d %s", path, a.Status, a.Body)
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

// The price of embeddings is that of their input, and a hard budget reserves no output.
func TestEmbeddingsAreChargedByTheirInput(t *testing.T) {
	h := harness.StartPriced(t, harness.Setup{Keys: harness.FullKey("budget 0.0002usd/total") + harness.Key("activity", "")})
	a := h.Client.Post(embeddingsV1, "full", `{"model":"fake/echo","input":"one two three"}`)
	row := h.Records.Row(a.Header.Get("X-Request-Id"))
	if a.Status != 200 || harness.At(row, "completion_tokens") != harness.Number("0") {
		t.Fatalf("%d %s, row %v", a.Status, a.Body, row)
	}
	if b := h.Records.Key("full").Budgets[0]; harness.Nano(t, b.Spent) != 3_000 || harness.Nano(t, b.Reserved) != 0 {
		t.Errorf("spent %s, reserved %s", b.Spent, b.Reserved)
	}
	harness.WantRefusal(t, "a long input", h.Client.Post(embeddingsV1, "full", `{"model":"fake/echo","input":"`+strings.Repeat("x ", 300)+`"}`), 402, "budget_exceeded")
}

// Another target of an alias embeds if the first one fails.
func TestEmbeddingsOfAnAliasAreAskedForInTurn(t *testing.T) {
	h := harness.Start(t, harness.Setup{Options: "alias team/embed {\ngroup {\ntarget fake/err-500\n}\ngroup {\ntarget test/echo\n}\ngroup {\ntarget test/embed\n}\n}"})
	a := h.Client.Post(embeddingsV1, "full", `{"model":"team/embed","input":"x"}`)
	if body := harness.Parse(t, a.Body); a.Status != 200 || harness.At(body, "model") != "test/embed" {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	sent := h.Provider.Fake.Requests()
	if paths := []string{sent[0].Path}; !slices.Equal(paths, []string{embeddingsV1}) || len(sent) != 1 {
		t.Errorf("the first target got %v", sent)
	}
}
