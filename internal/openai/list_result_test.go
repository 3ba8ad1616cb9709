package openai_test

import (
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/units"
)

func TestEmbeddingsAreKeptButForTheModel(t *testing.T) {
	call := openai.Call{Model: "acme/e", Provider: "acme"}
	for body, want := range map[string]struct {
		out    string
		prompt int64 // -1: no usage
	}{
		`{"object":"list","data":[{"object":"embedding","index":0,"embedding":[0.10,-2e-3]}], "model":"e-large","usage":{"prompt_tokens":8,"total_tokens":8},"x":1}`: {
			`{"object":"list","data":[{"object":"embedding","index":0,"embedding":[0.10,-2e-3]}], "model":"acme/e","usage":{"prompt_tokens":8,"total_tokens":8},"x":1}`, 8},
		`{"data":[],"usage":{"total_tokens":5}}`: {`{"data":[],"usage":{"total_tokens":5},"model":"acme/e","object":"list"}`, 5},
		// All tokens of embeddings are prompt.
		`{"object":"list","model":"e","data":[],"usage":{"prompt_tokens":8,"total_tokens":9}}`:  {`{"object":"list","model":"acme/e","data":[],"usage":{"prompt_tokens":8,"total_tokens":9}}`, 9},
		`{"object":"list","model":"e","model":"e","data":[],"usage":null}`:                      {`{"object":"list","model":"acme/e","data":[],"usage":null}`, -1},
		`{"object":"list","model":"e","data":[],"usage":{"prompt_tokens":-1,"total_tokens":5}}`: {`{"object":"list","model":"acme/e","data":[],"usage":{"prompt_tokens":-1,"total_tokens":5}}`, 5},
	} {
		out, sum, err := openai.Embeddings.Result([]byte(">"), []byte(body), call)
		if err != nil || string(out) != ">"+want.out {
			t.Errorf("%s: %v\n%s", body, err, out)
		}
		if sum.HasUsage != (want.prompt >= 0) || sum.HasUsage && (sum.Usage.Prompt != want.prompt || sum.Usage.Completion != 0 || sum.Usage.Total != want.prompt) {
			t.Errorf("%s: usage %+v", body, sum.Usage)
		}
	}
}

func TestAnAnswerWithoutEmbeddingsIsAFailure(t *testing.T) {
	call := openai.Call{Model: "acme/e", Provider: "acme", Redact: func(s string) string { return s }}
	for body, status := range map[string]int{
		`{"object":"list","data":[`: 502, `[]`: 502, `{"data":{}}`: 502, ``: 502,
		`{"error":{"message":"too long","type":"invalid_request_error","code":400}}`: 400,
	} {
		out, sum, err := openai.Embeddings.Result([]byte(">"), []byte(body), call)
		if e := apierror.From(err); err == nil || string(out) != ">" || sum.Err != err || e.HTTPStatus() != status {
			t.Errorf("%s: %q, %v", body, out, err)
		}
	}
}

func TestARankingSaysWhatItUsed(t *testing.T) {
	call := openai.Call{Model: "acme/r", Provider: "acme"}
	for body, want := range map[string]openai.Usage{
		`{"id":"r-1","results":[{"index":0}],"meta":{"api_version":{"version":"2"},"billed_units":{"search_units":2}}}`: {Units: units.Counts{units.Queries: 2}}, // Cohere
		`{"model":"jina","results":[],"usage":{"total_tokens":815}}`:                                                    {Prompt: 815, Total: 815},               // Jina, vLLM
		`{"results":[],"usage":{"search_units":3,"total_tokens":7,"cost":0.006}}`:                                       {Units: units.Counts{units.Queries: 3}, Prompt: 7, Total: 7, Cost: "0.006"},
		`{"results":[],"meta":{"billed_units":{"search_units":-2}}}`:                                                    {},
		`{"results":[],"meta":null}`: {},
	} {
		out, sum, err := openai.Ranking.Result(nil, []byte(body), call)
		if err != nil || sum.Usage != want || sum.HasUsage != (want != openai.Usage{}) {
			t.Errorf("%s: %+v %v", body, sum.Usage, err)
		}
		if wantOut := strings.Replace(body, `"jina"`, `"acme/r"`, 1); string(out) != wantOut {
			t.Errorf("%s: out %s", body, out)
		}
	}
}

func TestPicturesAreCountedAndTheirTokensTold(t *testing.T) {
	for body, want := range map[string]openai.Usage{
		`{"created":1,"data":[{"url":"https://x.example"},{"url":"https://y.example"}]}`: {Units: units.Counts{units.Images: 2}},
		`{"data":[{"b64_json":"AA"}],"usage":{"input_tokens":7,"output_tokens":272,"total_tokens":279,"input_tokens_details":{"text_tokens":3,"image_tokens":4}}}`: {
			Prompt: 7, Completion: 272, Total: 279, Units: units.Counts{units.Images: 1, units.ImageInput: 4, units.ImageOutput: 272}},
		`{"data":[{"b64_json":"AA"}],"usage":{"input_tokens":7,"output_tokens":300,"output_tokens_details":{"text_tokens":28,"image_tokens":272}}}`: {
			Prompt: 7, Completion: 300, Total: 307, PicturesSplit: true, Units: units.Counts{units.Images: 1, units.ImageOutput: 272}},
	} {
		out, sum, err := openai.Images.Result(nil, []byte(body), openai.Call{Model: "acme/p"})
		if err != nil || string(out) != body || !sum.HasUsage || sum.Usage != want {
			t.Errorf("%s: %+v %v", body, sum.Usage, err)
		}
	}
}

// OpenRouter's SDKs refuse a ranking without a model, or a result without a document.
func TestARankingForOpenRouterIsComplete(t *testing.T) {
	call := openai.Call{Model: "acme/r", Provider: "acme"}
	for body, want := range map[string]string{
		`{"results":[{"index":1, "x":0},{},{"index":0,"document":{"text":"a"}}]}`:          `{"results":[{"index":1, "x":0,"document":{}},{"document":{}},{"index":0,"document":{"text":"a"}}],"model":"acme/r"}`,
		`{"model":"r","results":[ {"document":{"text":"a"}} ],"usage":{"search_units":1}}`: `{"model":"acme/r","results":[ {"document":{"text":"a"}} ],"usage":{"search_units":1}}`,
		`{"model":"r","results":[]}`: `{"model":"acme/r","results":[]}`,
	} {
		if out, _, err := openai.RouterRanking.Result(nil, []byte(body), call); err != nil || string(out) != want {
			t.Errorf("%s: %v\n%s", body, err, out)
		}
	}
}
