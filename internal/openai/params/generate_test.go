package params_test

import (
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai/params"
	"github.com/gatehouse-proxy/gatehouse/internal/units"
)

func generateBody(t *testing.T, text string) *jsonscan.Body {
	t.Helper()
	b := new(jsonscan.Body)
	if err := b.Parse([]byte(text)); err != nil {
		t.Fatal(err)
	}
	return b
}

func TestTheOutputOfGooglesRequestsIsLimited(t *testing.T) {
	for body, want := range map[string]string{
		`{"contents":[]}`: `{"contents":[],"generationConfig":{"maxOutputTokens":9}}`,
		`{"generationConfig":{"topK":1,"maxOutputTokens":50},"contents":[]}`:              `{"generationConfig":{"topK":1,"maxOutputTokens":9},"contents":[]}`,
		`{"generation_config":{"max_output_tokens":50},"contents":[],"model":"models/x"}`: `{"generation_config":{"maxOutputTokens":9},"contents":[]}`,
		`{"generationConfig":null,"contents":[]}`:                                         `{"contents":[],"generationConfig":{"maxOutputTokens":9}}`,
	} {
		b := generateBody(t, body)
		if _, err := params.ParseGenerate(b, params.Request{Model: "m"}); err != nil {
			t.Errorf("%s: %v", body, err)
		}
		params.EncodeGenerate(b, 9)
		if got := string(b.Append(nil)); got != want {
			t.Errorf("%s: %s", body, got)
		}
	}
}

func TestWhatGooglesRequestsAskOfTheAccountIsFound(t *testing.T) {
	for body, want := range map[string]params.ToolUse{
		`{"tools":[{"functionDeclarations":[{},{}]},{"google_search":{}}]}`:                        {Count: 3, Hosted: "google_search", HostedIn: "tools"},
		`{"tools":{"codeExecution":{},"computerUse":{}}}`:                                          {Count: 2, BuiltIn: 1, Hosted: "codeExecution", HostedIn: "tools"},
		`{"generateContentRequest":{"tools":[{"urlContext":{}}]}}`:                                 {Count: 1, Hosted: "urlContext", HostedIn: "tools"},
		`{"contents":[{"parts":[{"fileData":{"fileUri":"https://x.example/a.png"}}]}],"tools":[]}`: {},
	} {
		if refs, err := params.GenerateReferences(generateBody(t, body)); err != nil || refs.Tools != want {
			t.Errorf("%s: %+v %v", body, refs.Tools, err)
		}
	}
	for _, uri := range []string{"gs://bucket/a", "files/a", "https://generativelanguage.GOOGLEAPIS.com/v1beta/files/a"} {
		for _, body := range []string{
			`{"contents":[{"parts":[{"fileData":{"fileUri":"` + uri + `"}}]}]}`, `{"requests":[{"content":{"parts":[{"file_data":{"file_uri":"` + uri + `"}}]}}]}`,
		} {
			if _, err := params.GenerateReferences(generateBody(t, body)); err == nil {
				t.Errorf("%s was accepted", body)
			}
		}
	}
}

func TestContentOfGooglesRequestsThatCostsMoreThanItsBytes(t *testing.T) {
	part := func(part string) string { return `{"contents":[{"parts":[` + part + `]}]}` }
	for body, want := range map[string]params.Content{
		part(`{"text":"x"},{"functionCall":{"name":"f","args":{}}}`):                            {},
		part(`{"inlineData":{"mimeType":"image/png","data":"AAAA"}}`):                           {Images: 1, Encoded: 6},
		part(`{"inline_data":{"mime_type":"audio/wav","data":"AAAA"}}`):                         {Units: units.Counts{units.AudioInput: 1}, Sounds: params.Sounds{Count: 1, Unbounded: true}},
		part(`{"inlineData":{"mimeType":"application/pdf","data":"AAAA"}}`):                     {Unpriced: "file"},
		part(`{"fileData":{"fileUri":"https://x.example"}}`):                                    {Unpriced: "file"},
		part(`{"functionResponse":{"parts":[{"inlineData":{"mimeType":"video/mp4"}}]}}`):        {Unpriced: "file"},
		`{"systemInstruction":{"parts":{"inlineData":{"mimeType":"image/png","data":"AAAA"}}}}`: {Images: 1, Encoded: 6},
		`{"generationConfig":{"responseModalities":["TEXT","AUDIO"],"temperature":1}}`:          {Units: units.Counts{units.AudioOutput: 1}},
		`{"generationConfig":{"responseModalities":["IMAGE"]}}`:                                 {Unpriced: "responseModalities"},
		`{"generation_config":{"routing_config":{}}}`:                                           {Unpriced: "generationConfig.routing_config"},
		`{"serviceTier":"priority"}`:                                                            {Unpriced: "serviceTier"},
		`{"serviceTier":"flex","safetySettings":[],"toolConfig":{},"labels":{}}`:                {},
		`{"unheard":1}`: {Unpriced: "unheard"},
	} {
		if got := params.GenerateContentOf(generateBody(t, body)); got != want {
			t.Errorf("%s: %+v", body, got)
		}
	}
}
