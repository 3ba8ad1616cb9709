package api

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

const imagesV1 = "/v1/images/generations"

func picture(model, more string) string {
	return `{"model":"` + model + `","prompt":"a red fox"` + more + `}`
}

// startImages starts a gateway with models that are paid by the token of a picture, and by the picture.
func startImages(t *testing.T, s harness.Setup) *harness.Gateway {
	t.Helper()
	h := harness.Prepare(t)
	byToken := `"price":{"prompt":"5","image_input":"10","image_output":"40"}`
	catalog := `{"models":[
		{"id":"fake/gpt-image-1","mode":"image_generation",` + byToken + `},
		{"id":"fake/echo","mode":"image_generation",` + byToken + `},
		{"id":"fake/bounded-agent","mode":"image_generation","max_units":{"image_output":10000},` + byToken + `},
		{"id":"fake/no-usage","mode":"image_generation","price":{"image":"40000"}},
		{"id":"fake/agent","mode":"chat","price":{"prompt":"1","completion":"1"}}]}`
	if err := os.WriteFile(filepath.Join(h.Dir, "images.json"), []byte(catalog), 0o600); err != nil {
		t.Fatal(err)
	}
	s.Options += "\ncatalog DIR/images.json\n"
	if err := h.Reload(s); err != nil {
		t.Fatal(err)
	}
	h.Provider.Fake.Become("gpt-image-1", "echo")
	h.Provider.Fake.Become("bounded-agent", "echo")
	return h
}

func TestPicturesArePaidByTheirTokensOrByTheirNumber(t *testing.T) {
	h := startImages(t, harness.Setup{})
	for _, c := range []struct {
		model, more string
		cost        string
		images      string
	}{
		{"fake/gpt-image-1", ``, "0.01093", "1"}, // 10 x 5 + 272 x 40 USD a million
		{"fake/gpt-image-1", `,"n":2,"quality":"low"`, "0.02181", "2"},
		{"fake/no-usage", `,"n":2,"size":"1792x1024"`, "0.08", "2"},
	} {
		sent := picture(c.model, c.more)
		a := h.Client.Post(imagesV1, "chat", sent)
		if body := harness.Parse(t, a.Body); a.Status != 200 || harness.At(body, "data", 0) == nil || harness.At(body, "model") != nil {
			t.Fatalf("%s: %d %s", sent, a.Status, a.Body)
		}
		row := h.Records.Row(a.Header.Get("X-Request-Id"))
		for key, want := range map[string]any{
			"model": c.model, "usage": harness.Number(c.cost), "usage_source": "provider", "images": harness.Number(c.images),
		} {
			if got := harness.At(row, key); got != want {
				t.Errorf("%s: row[%s] = %v, want %v", sent, key, got, want)
			}
		}
		up := h.Provider.Request(1)
		if want := strings.Replace(sent, "fake/", "", 1); up.Path != imagesV1 || string(up.Body) != want {
			t.Errorf("upstream %s %s, want %s", up.Path, up.Body, want)
		}
	}
}

// OpenRouter's SDKs require all of these members. A key sees the models that it can call.
func TestModelsThatMakePicturesAreListed(t *testing.T) {
	h := startImages(t, harness.Setup{})
	a := h.Client.Get("/api/v1/images/models", "models")
	list := harness.Parse(t, a.Body)
	if a.Status != 200 || len(harness.At(list, "data").([]any)) != 4 || strings.Contains(string(a.Body), `"fake/agent"`) {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	want := `{"id":"fake/bounded-agent","name":"bounded-agent","created":0,"description":"","architecture":{"modality":"text->image","input_modalities":["text"],` +
		`"output_modalities":["image"]},"supported_parameters":{},"supports_streaming":true,"endpoints":"/api/v1/models/fake/bounded-agent/endpoints"}`
	if !strings.Contains(string(a.Body), want) {
		t.Errorf("no %s in %s", want, a.Body)
	}
	narrow := harness.Parse(t, h.Client.Get("/api/v1/images/models", "narrow").Body)
	if len(harness.At(narrow, "data").([]any)) != 1 || harness.At(narrow, "data", 0, "id") != "fake/echo" {
		t.Errorf("the narrow key sees %v", narrow)
	}
	harness.WantRefusal(t, "/api/v1/images/models", h.Client.Get("/api/v1/images/models", "chat"), 403, "insufficient_scope")
}

func TestAHardBudgetReservesTheMostThatPicturesCanUse(t *testing.T) {
	const asked = `,"n":3,"quality":"high","size":"1536x1024","partial_images":2`
	body := picture("fake/gpt-image-1", asked)
	most := int64(len(body))*10_000 + (3*6208+600)*40_000 // the prompt may be pictures
	for spare, status := range map[int64]int{0: 200, -1: 402} {
		usd := fmt.Sprintf("%.9f", float64(most+spare)/1e9)
		h := startImages(t, harness.Setup{Keys: harness.Key("chat", "budget "+usd+"usd/day")})
		if a := h.Client.Post(imagesV1, "chat", body); a.Status != status {
			t.Errorf("%s USD: %d %s", usd, a.Status, a.Body)
		}
		if n := len(h.Provider.Fake.Requests()); n != 1 && status == 200 || n != 0 && status == 402 {
			t.Errorf("the provider got %d requests", n)
		}
	}
	h := startImages(t, harness.Setup{Keys: harness.Key("chat", "budget 10usd/day")})
	a := h.Client.Post(imagesV1, "chat", picture("fake/echo", ""))
	harness.WantRefusal(t, imagesV1, a, 402, "cannot_be_priced")
	if !strings.Contains(string(a.Body), "fake/echo") || !strings.Contains(string(a.Body), "max_units") {
		t.Errorf("%s", a.Body)
	}
	for _, model := range []string{"fake/bounded-agent", "fake/no-usage"} {
		if a := h.Client.Post(imagesV1, "chat", picture(model, "")); a.Status != 200 {
			t.Errorf("%s: %d %s", model, a.Status, a.Body)
		}
	}
}

func TestRequestsForPicturesAreRefusedByName(t *testing.T) {
	h := startImages(t, harness.Setup{
		Keys:    harness.Key("chat", "guardrails gate") + harness.DefaultKeys[strings.Index(harness.DefaultKeys, "key models"):],
		Options: "guardrail gate {\non input\ndeny words forbidden\n}",
	})
	for _, c := range []struct {
		key, body string
		status    int
		code      string
	}{
		{"models", picture("fake/echo", ""), 403, "insufficient_scope"},
		{"chat", picture("acme/unheard", ""), 404, "model_not_found"},
		{"chat", picture("fake/agent", ""), 404, "model_not_callable"},
		{"chat", `{"model":"fake/echo"}`, 400, "missing_required_parameter"},
		{"chat", `{"prompt":"a fox"}`, 400, "missing_required_parameter"},
		{"chat", `{"model":"fake/echo","prompt":["a fox"]}`, 400, "invalid_value"},
		{"chat", picture("fake/echo", `,"n":0`), 400, "invalid_value"},
		{"chat", picture("fake/echo", `,"partial_images":"2"`), 400, "invalid_value"},
		{"chat", strings.Replace(picture("fake/echo", ""), "red fox", "forbidden fox", 1), 422, "guardrail_blocked"},
	} {
		harness.WantRefusal(t, imagesV1, h.Client.Post(imagesV1, c.key, c.body), c.status, c.code)
	}
	harness.WantRefusal(t, "chat", h.Client.Post(harness.ChatV1, "chat", harness.Chat("fake/gpt-image-1", "")), 404, "model_not_callable")
	if n := len(h.Provider.Fake.Requests()); n != 0 {
		t.Errorf("the provider got %d requests", n)
	}
}
