package openai_test

import (
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/fault"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
)

func TestContentThatCostsMoreThanItsBytes(t *testing.T) {
	part := func(p string) string { return `{"messages":[{"role":"user","content":[` + p + `]}]}` }
	for body, want := range map[string]openai.Content{
		`{"messages":[{"role":"user","content":"x"}]}`:                                {},
		part(`{"type":"text","text":"file"}`):                                         {},
		part(`{"type":"image_url","image_url":{}},{"type":"image_url"}`):              {Images: 2},
		part(`{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}`): {Images: 1, Encoded: 28},
		part(`{"type":"input_image","image_url":"data:image/png;base64,AAAA"}`):       {Images: 1, Encoded: 28},
		part(`{"type":"image_url","image_url":{"url":"https://x.example/a.png"}}`):    {Images: 1},
		part(`{"type":"input_audio","input_audio":{}}`):                               {AudioInput: true},
		part(`{"type":"file","file":{}}`):                                             {Unpriced: "file"},
		part(`{"type":"text","type":"video"}`):                                        {Unpriced: "video"},
		part(`{"TYPE":"video"}`):                                                      {Unpriced: "video"},
		part(`{"\u0074ype":"video"}`):                                                 {Unpriced: "video"},
		part(`{"text":"x"}`):                                                          {Unpriced: "content"},
		part(`{"type":7}`):                                                            {Unpriced: "content"},
		part(`{"type":"` + strings.Repeat("v", 65) + `"}`):                            {Unpriced: "content"},
		part(`{"type":"text","image_url":{"url":"u"}}`):                               {Images: 1},
		part(`{"type":"text","video_url":{"url":"u"},"file":null}`):                   {Unpriced: "video_url"},
		part(`{"type":"text","input_audio":{}}`):                                      {AudioInput: true},
		part(`["x"]`):                                                                 {Unpriced: "content"},
		part(`"x",null`):                                                              {},
		`{"messages":[{"role":"user","content":{"type":"image_url"}}]}`:               {Unpriced: "content"},
		`{"messages":[[{"type":"image_url"}]]}`:                                       {Unpriced: "content"},
		`{"messages":[{"role":"assistant","content":null,"images":[{"type":"image_url","image_url":{}}]}]}`: {Images: 1},
		`{"input":[{"type":"function_call_output","output":{"type":"input_image"}}]}`:                       {Unpriced: "content"},
		`{"input":"x"}`: {},
		`{"input":[{"role":"user","content":[{"type":"input_text","text":"x"},{"type":"input_image","image_url":"u"}]}]}`: {Images: 1},
		`{"input":[{"type":"input_file","file_url":"u"}]}`:                                                                {Unpriced: "input_file"},
		`{"input":[{"type":"function_call_output","output":[{"type":"input_image"}]}]}`:                                   {Images: 1},
		`{"input":[{"type":"computer_call_output"}]}`:                                                                     {Unpriced: "computer_call_output"},
		`{"service_tier":"priority"}`:                                                                                     {Unpriced: "service_tier"},
		`{"service_tier":null}`:                                                                                           {},
		`{"service_tier":"flex"}`:                                                                                         {},
		`{"modalities":["text","audio"]}`:                                                                                 {AudioOutput: true},
		`{"modalities":["image","text"]}`:                                                                                 {Unpriced: "modalities"},
		`{"prediction":{"type":"content","content":"abc"}}`:                                                               {Prediction: int64(len(`{"type":"content","content":"abc"}`))},
	} {
		b, members := strict(t, body)
		if got := openai.ContentOf(b, members); got != want {
			t.Errorf("%s: %+v, want %+v", body, got, want)
		}
	}
}

func TestContentIsBoundedInDepth(t *testing.T) {
	b, members := strict(t, `{"messages":[`+strings.Repeat(`{"type":"message","content":[`, 20)+strings.Repeat(`]}`, 20)+`]}`)
	if got := openai.ContentOf(b, members); got.Unpriced == "" {
		t.Errorf("%+v", got)
	}
}

// Whatever a field may cost, and however a provider reads its name.
func TestFieldsThatMayCostMore(t *testing.T) {
	for _, field := range []string{
		"search_parameters", "enable_search", "extra_body", "best_of", "num_return_sequences", "n_predict", "max_new_tokens", "speed", "inference_geo", "Temperature", "x",
	} {
		b, members := strict(t, `{"model":"p/m","messages":[],"`+field+`":{"mode":"on"}}`)
		if got := openai.ContentOf(b, members); got.Unpriced != field {
			t.Errorf("%s: %+v", field, got)
		}
	}
	b, members := strict(t, `{"model":"p/m","enable_search":null}`)
	if got := openai.ContentOf(b, members); got != (openai.Content{}) {
		t.Errorf("null: %+v", got)
	}
	long := strings.Repeat("x", 100)
	b, members = strict(t, `{"`+long+`":1}`)
	if got := openai.ContentOf(b, members); got.Unpriced != long[:64] {
		t.Errorf("a long name: %+v", got)
	}
	for _, field := range []string{"Service_Tier", "Modalities", "Audio", "PREDICTION"} {
		b, members := strict(t, `{"model":"p/m","messages":[],"`+field+`":"x"}`)
		if _, err := openai.ParseChat(b, members); err == nil || fault.From(err).Param != field {
			t.Errorf("%s: %v", field, err)
		}
	}
}

// What SDKs and coding tools send beside the fields of the two APIs.
func TestFieldsThatCostNothing(t *testing.T) {
	for _, body := range []string{
		`{"model":"p/m","messages":[],"top_k":4,"min_p":0.1,"repetition_penalty":1.1,"safety_identifier":"u","verbosity":"low","thinking":{"type":"enabled"}}`,
		`{"model":"p/m","messages":[],"chat_template_kwargs":{"enable_thinking":false},"guided_json":{},"stop_token_ids":[1],"ignore_eos":true,"seed":1}`,
		`{"model":"p/m","messages":[],"transforms":[],"usage":{"include":true},"reasoning":{"effort":"low"},"provider":{},"session_id":"s"}`,
		`{"model":"p/m","input":"x","include":[],"store":false,"text":{},"prompt_cache_key":"k","client_metadata":{},"truncation":"auto","instructions":"i"}`,
		`{"model":"p/m","messages":[],"functions":[],"function_call":"none","logit_bias":{},"response_format":{},"prompt_cache_retention":"24h","n":2,"random_seed":1}`,
	} {
		b, members := strict(t, body)
		if got := openai.ContentOf(b, members); got.Unpriced != "" {
			t.Errorf("%s: %+v", body, got)
		}
	}
}
