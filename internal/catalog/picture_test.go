package catalog_test

import (
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
	"github.com/gatehouse-proxy/gatehouse/internal/units"
)

const pictureMap = `{
  "dall-e-3": {"litellm_provider": "openai", "mode": "image_generation", "input_cost_per_image": 0.04},
  "standard/1024-x-1024/dall-e-3": {"litellm_provider": "openai", "mode": "image_generation", "input_cost_per_pixel": 3.81469e-08},
  "standard/1024-x-1792/dall-e-3": {"litellm_provider": "openai", "mode": "image_generation", "input_cost_per_pixel": 4.359e-08, "output_cost_per_pixel": 0},
  "hd/1024-x-1024/dall-e-3": {"litellm_provider": "openai", "mode": "image_generation", "input_cost_per_image": 0.08},
  "hd/1024-x-1792/dall-e-3": {"litellm_provider": "openai", "mode": "image_generation", "input_cost_per_image": 0.12},
  "256-x-256/dall-e-2": {"litellm_provider": "openai", "mode": "image_generation", "input_cost_per_pixel": 2.4414e-07},
  "azure/high/1024x1536/draw": {"litellm_provider": "azure", "output_cost_per_image": 0.2},
  "1024-x-1024/50-steps/bedrock/canvas": {"litellm_provider": "bedrock", "output_cost_per_image": 0.06},
  "max-x-max/50-steps/bedrock/canvas": {"litellm_provider": "bedrock", "output_cost_per_image": 0.07},
  "512-x-512/no-rate": {"litellm_provider": "openai", "mode": "image_generation"},
  "gpt-image-1": {"litellm_provider": "openai", "mode": "image_generation", "input_cost_per_token": 5e-06, "output_cost_per_image_token": 4e-05},
  "high/1024-x-1024/gpt-image-1": {"litellm_provider": "openai", "mode": "image_generation", "input_cost_per_image": 0.167}
}`

// Entries that begin with a size are prices of the model behind it. What a request does not say may be
// the dearest.
func TestPicturesArePricedByWhatARequestSaysOfThem(t *testing.T) {
	models := parse(t, pictureMap)
	for _, c := range []struct {
		id, quality, size string
		microUSD          int64
	}{
		{"openai/dall-e-3", "hd", "1024x1792", 120_000},
		{"openai/dall-e-3", "hd", "1024x1024", 80_000},
		{"openai/dall-e-3", "standard", "1024x1024", 40_000},
		{"openai/dall-e-3", "standard", "1024x1792", 79_988},
		{"openai/dall-e-3", "standard", "auto", 79_988},
		{"openai/dall-e-3", "", "1024x1024", 80_000},
		{"openai/dall-e-3", "auto", "", 120_000},
		{"openai/dall-e-3", "standard", "17x17", 79_988},
		{"openai/dall-e-2", "", "256x256", 16_000},
		{"openai/dall-e-2", "hd", "1024x1024", 16_000},
		{"azure/draw", "high", "1024x1536", 200_000},
		{"bedrock/canvas", "", "1024x1024", 60_000},
		{"bedrock/canvas", "high", "", 70_000},
	} {
		m, ok := models[c.id]
		if !ok || !m.Serves(catalog.OpImages) {
			t.Fatalf("%s: %v, %+v", c.id, ok, m)
		}
		nano, known := m.Price.Pictured(c.quality, c.size).CostNano(catalog.Tokens{Prompt: 10, Units: units.Counts{units.Images: 1}})
		if got := (nano + 500) / 1000; !known || got != c.microUSD {
			t.Errorf("%s %q %q: %d micro-USD, %v", c.id, c.quality, c.size, got, known)
		}
	}
	if len(models) != 6 {
		t.Errorf("%d models", len(models))
	}
	// The usage of this one counts its tokens.
	price := models["openai/gpt-image-1"].Price
	if nano, known := price.Pictured("high", "1024x1024").CostNano(catalog.Tokens{Completion: 100, Units: units.Counts{units.ImageOutput: 100, units.Images: 1}}); !known || nano != 4_000_000 {
		t.Errorf("%d, %v", nano, known)
	}
}

// Whisper has the same price in both places of the map, others have 0 in one.
func TestTheLargerOfTwoPricesOfASecondCounts(t *testing.T) {
	for rates, want := range map[string]int64{
		`"input_cost_per_second": 0.0001, "output_cost_per_second": 0.0001`: 250_000,
		`"input_cost_per_second": 0.0001, "output_cost_per_second": 0`:      250_000,
		`"output_cost_per_second": 0.0002`:                                  500_000,
	} {
		p := parse(t, `{"whisper": {"litellm_provider": "p", "mode": "audio_transcription", `+rates+`}}`)["p/whisper"].Price
		if nano, ok := p.CostNano(catalog.Tokens{Units: units.Counts{units.Millis: 2500}}); !ok || nano != want {
			t.Errorf("%s: %d, %v", rates, nano, ok)
		}
	}
}

func TestAPriceOfAPictureThatCannotBeFailsTheFile(t *testing.T) {
	for _, price := range []string{`"input_cost_per_image": -1`, `"input_cost_per_pixel": 1e30`} {
		if _, err := catalog.Parse([]byte(`{"512-x-512/m": {"litellm_provider": "p", ` + price + `}}`)); err == nil {
			t.Errorf("%s was accepted", price)
		}
	}
}

// A fee for each request is beside what tokens or units cost, in all three formats.
func TestAFeeForEachRequestIsAdded(t *testing.T) {
	for format, file := range map[string]string{
		"price map":  `{"p/m": {"litellm_provider": "p", "mode": "chat", "input_cost_per_token": 1e-6, "output_cost_per_token": 2e-6, "input_cost_per_request": 0.005}}`,
		"OpenRouter": `{"data": [{"id": "p/m", "pricing": {"prompt": "0.000001", "completion": "0.000002", "request": "0.005"}}]}`,
		"our own":    `{"models": [{"id": "p/m", "price": {"prompt": "1", "completion": "2", "request": "5000"}}]}`,
	} {
		models, err := catalog.Parse([]byte(file))
		if err != nil || len(models) != 1 {
			t.Fatal(format, err)
		}
		p := models[0].Price
		nano, ok := p.CostNano(catalog.Tokens{Prompt: 3, Completion: 4})
		most, bounded := p.MostNano(catalog.Most{Prompt: 3, Completion: 4})
		if !ok || !bounded || nano != 5_000_000+11_000 || most != nano {
			t.Errorf("%s: %d %v, at most %d %v", format, nano, ok, most, bounded)
		}
	}
}
