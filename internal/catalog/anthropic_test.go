package catalog

import (
	"slices"
	"strings"
	"testing"
)

func TestAnthropicsListIsRead(t *testing.T) {
	models, odd, err := ParseDiscovered("anthropic", []byte(`{"data":[
		{"type":"model","id":"claude-sonnet-5","display_name":"Claude Sonnet 5","created_at":"2026-06-01T00:00:00Z","max_input_tokens":1000000,"max_tokens":128000,
		 "capabilities":{"image_input":{"supported":true},"pdf_input":{"supported":true},"batch":{"supported":true}}},
		{"type":"model","id":"claude-old","display_name":"Claude Old","created_at":"1970-01-01T00:00:00Z","max_input_tokens":null,"max_tokens":null,"capabilities":null},
		{"id":"other","max_tokens":7,"created_at":"yesterday"}],
		"has_more":false,"first_id":"claude-sonnet-5","last_id":"other"}`))
	if err != nil || odd != nil || len(models) != 3 {
		t.Fatalf("%+v, %v, %v", models, odd, err)
	}
	sonnet, old, other := models[1], models[0], models[2]
	if sonnet.DisplayName != "Claude Sonnet 5" || sonnet.Created != 1780272000 || sonnet.ContextLength != 1_000_000 || sonnet.MaxOutput != 128_000 ||
		!slices.Equal(sonnet.InputModalities, []string{"text", "image", "file"}) || !sonnet.Serves(OpMessages) || !sonnet.Serves(OpCountTokens) {
		t.Errorf("%+v", sonnet)
	}
	if old.Created != 0 || old.ContextLength != 0 || old.MaxOutput != 0 || old.InputModalities != nil {
		t.Errorf("%+v", old)
	}
	if other.MaxOutput != 0 || other.Created != 0 {
		t.Errorf("%+v", other)
	}
}

func TestTheNextPageOfAList(t *testing.T) {
	for data, want := range map[string]string{
		`{"data":[],"has_more":true,"last_id":"b"}`:                              "after_id=b",
		`{"data":[],"has_more":false,"last_id":"b"}`:                             "",
		`{"data":[],"has_more":true}`:                                            "",
		`[]`:                                                                     "",
		`{"models":[],"nextPageToken":"Ch9tb2Rl=="}`:                             "pageToken=Ch9tb2Rl%3D%3D", // Gemini
		`{"models":[],"nextPageToken":""}`:                                       "",
		`{"inferenceProfileSummaries":[],"nextToken":"a b+c"}`:                   "nextToken=a+b%2Bc", // Bedrock
		`{"value":[],"nextLink":"https://x.invalid/d?skip=2&b=%20"}`:             "skip=2&b=%20",      // Foundry
		`{"value":[],"nextLink":"https://x.invalid/d"}`:                          "",
		`{"value":[],"nextLink":"%"}`:                                            "",
		`{"value":[],"nextToken":"` + strings.Repeat("x", maxPageToken+1) + `"}`: "",
	} {
		if got := NextPage([]byte(data)); got != want {
			t.Errorf("%s: %q, want %q", data, got, want)
		}
	}
}

// Cache writes that are kept for an hour have a rate of their own; usage tells how many they were.
func TestHourWritesAreChargedAtTheirRate(t *testing.T) {
	p := &Price{Rates: Rates{Prompt: Quoted(1_000_000), Completion: Quoted(1_000_000), CacheWrite: Quoted(2_000_000), CacheHour: Quoted(4_000_000)}}
	for tokens, want := range map[Tokens]int64{
		{Prompt: 100, CacheWrite: 100}:                                200,
		{Prompt: 100, CacheWrite: 100, CacheHour: 100}:                400,
		{Prompt: 100, CacheWrite: 100, CacheHour: 25}:                 150 + 100,
		{Prompt: 100, CacheWrite: 100, CacheHour: 25, KeptLong: true}: 400,
		{Prompt: 100, CacheWrite: 100, KeptLong: true}:                400,
		{Prompt: 200, CacheWrite: 100, CacheHour: 100}:                100 + 400,
	} {
		if got, ok := p.CostNano(tokens); got != want || !ok {
			t.Errorf("%+v: %d, want %d", tokens, got, want)
		}
	}
}
