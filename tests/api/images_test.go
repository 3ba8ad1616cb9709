package api

import (
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

// startImages starts a gateway with models that are paid by the token of a picture, and by the
// picture.
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
