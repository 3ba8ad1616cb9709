package openrouter_test

import (
	"math"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/openrouter"
)

func TestTrap3ErrorCodesAreTheStatus(t *testing.T) {
	same(t, string(openrouter.AppendError(nil, apierror.New(apierror.InvalidAPIKey, "no"))), `{"error":{"code":401,"message":"no","metadata":{"error_type":"authentication"}}}`)
	e := openai.Fault(400, 0, openai.ParseProviderError([]byte(`{"error":{"message":"too long","code":"context_length_exceeded","param":"messages"}}`)), newCall().Redact, "fake")
	same(t, string(openrouter.AppendError(nil, e)), `{"error":{"code":400,"message":"provider \"fake\" refused the request: too long",`+
		`"metadata":{"error_type":"context_length_exceeded","param":"messages","provider_name":"fake","provider_code":"context_length_exceeded"}}}`)
}

func TestTrap7AModelHasAllTheKeys(t *testing.T) {
	got := openrouter.AppendModelList(nil, []openrouter.ModelInfo{
		{ID: "fake/echo", Created: 1700000000, ContextLength: 8192, Parameters: []string{"tools"}, Pricing: openrouter.Pricing{Prompt: "0.000001", Completion: "0.000002", CacheRead: "0.0000001"}},
		{ID: "fake/x", Name: "X", Description: "d", MaxOutput: 5, InputModalities: []string{"text", "image"}, OutputModalities: []string{"text"}, Moderated: true},
	}, 12, "/api/v1/models?offset=2&limit=2")
	same(t, string(got), `{"data":[{"id":"fake/echo","canonical_slug":"fake/echo","name":"fake/echo","created":1700000000,"context_length":8192,
		"architecture":{"modality":"text->text","input_modalities":["text"],"output_modalities":["text"]},
		"pricing":{"prompt":"0.000001","completion":"0.000002","input_cache_read":"0.0000001"},
		"top_provider":{"context_length":8192,"max_completion_tokens":null,"is_moderated":false},"per_request_limits":null,"supported_parameters":["tools"],
		"default_parameters":null,"supported_voices":null,"links":{"details":"/api/v1/models/fake/echo/endpoints"}},
		{"id":"fake/x","canonical_slug":"fake/x","name":"X","description":"d","created":0,"context_length":null,
		"architecture":{"modality":"text+image->text","input_modalities":["text","image"],"output_modalities":["text"]},"pricing":{"prompt":"-1","completion":"-1"},
		"top_provider":{"context_length":null,"max_completion_tokens":5,"is_moderated":true},"per_request_limits":null,"supported_parameters":[],
		"default_parameters":null,"supported_voices":null,"links":{"details":"/api/v1/models/fake/x/endpoints"}}],
		"total_count":12,"links":{"next":"/api/v1/models?offset=2&limit=2"}}`)
	same(t, string(openrouter.AppendModelList(nil, nil, 12, "")), `{"data":[],"total_count":12,"links":{"next":null}}`)
}

func TestActivityHasNoNullOfOpenRouters(t *testing.T) {
	at := time.Date(2026, 1, 2, 23, 30, 0, 5e6, time.FixedZone("", -3600))
	call := openrouter.ActivityRow{ActivityItem: openrouter.ActivityItem{
		Date: openrouter.Date(at), Model: "fake/echo", ModelPermaslug: "echo", EndpointID: "fake/echo", Provider: "fake", Usage: 1500, Requests: 1,
		PromptTokens: 3, CompletionTokens: 2, ReasoningTokens: 1, CachedTokens: 1,
	}, Own: []openrouter.Member{
		{Name: "id", Value: "gen-1"}, {Name: "created_at", Value: openrouter.Timestamp(at)}, {Name: "code", Value: openrouter.Text("")}, {Name: "route", Value: "a<b"},
	}}
	day := openrouter.ActivityRow{ActivityItem: openrouter.ActivityItem{
		Date: openrouter.Date(at), Model: "fake/echo", ModelPermaslug: "fake/echo", EndpointID: "fake/fake/echo", Provider: "fake", Requests: 7,
	}}
	same(t, string(openrouter.AppendActivity(nil, []openrouter.ActivityRow{call, day}, "abc")), `{"data":[
		{"date":"2026-01-03","model":"fake/echo","model_permaslug":"echo","endpoint_id":"fake/echo","provider_name":"fake","usage":0.0000015,"byok_usage_inference":0,"requests":1,
		"prompt_tokens":3,"completion_tokens":2,"reasoning_tokens":1,"cached_tokens":1,"id":"gen-1","created_at":"2026-01-03T00:30:00.005Z","code":null,"route":"a<b"},
		{"date":"2026-01-03","model":"fake/echo","model_permaslug":"fake/echo","endpoint_id":"fake/fake/echo","provider_name":"fake","usage":0,"byok_usage_inference":0,"requests":7,
		"prompt_tokens":0,"completion_tokens":0,"reasoning_tokens":0,"cached_tokens":0}],"next_cursor":"abc"}`)
	same(t, string(openrouter.AppendActivity(nil, nil, "")), `{"data":[],"next_cursor":null}`)
}

// generationKeys are the required members of GenerationResponse.
var generationKeys = []string{"api_type", "app_id", "cache_discount", "cancelled", "created_at", "data_region", "external_user", "finish_reason", "generation_time", "http_referer",
	"id", "is_byok", "latency", "model", "moderation_latency", "native_finish_reason", "native_tokens_cached", "native_tokens_completion", "native_tokens_completion_images",
	"native_tokens_prompt", "native_tokens_reasoning", "num_fetches", "num_input_audio_prompt", "num_media_completion", "num_media_prompt", "num_search_results", "origin", "preset_id",
	"provider_name", "provider_responses", "router", "service_tier", "streamed", "tokens_completion", "tokens_prompt", "total_cost", "upstream_id", "upstream_inference_cost", "usage",
	"user_agent", "web_search_engine", "workspace_id"}

func TestAGenerationHasAllTheKeys(t *testing.T) {
	for _, g := range []openrouter.Generation{{CreatedAt: openrouter.Timestamp(time.Unix(0, 0))}, {CreatedAt: openrouter.Timestamp(time.Unix(0, 0)), ID: "gen-1", UpstreamID: "c1", Latency: openrouter.Milliseconds(time.Second), ProviderResponses: []openrouter.ProviderStatus{{Status: 200}}, Usage: 2}} {
		v := decode(t, string(openrouter.AppendGeneration(nil, g)))["data"].(map[string]any)
		for _, key := range generationKeys {
			if _, ok := v[key]; !ok {
				t.Errorf("%s is missing", key)
			}
		}
		if len(generationKeys) != 42 {
			t.Errorf("%d keys", len(generationKeys))
		}
		for _, key := range []string{"id", "created_at", "model", "usage", "total_cost", "is_byok", "origin", "data_region"} {
			if v[key] == nil {
				t.Errorf("%s is null", key)
			}
		}
		if g.ID != "" && (v["upstream_id"] != "c1" || v["latency"] != 1000.0 || encode(v["provider_responses"]) != `[{"status":200}]` || v["usage"] != 2e-9) {
			t.Errorf("%v", v)
		}
	}
}

func TestAKeyHasAllTheKeys(t *testing.T) {
	same(t, string(openrouter.AppendKey(nil, openrouter.KeyInfo{Label: "dev"})), `{"data":{"label":"dev","limit":null,"limit_remaining":null,"limit_reset":null,"usage":0,"usage_daily":0,"usage_weekly":0,
		"usage_monthly":0,"byok_usage":0,"byok_usage_daily":0,"byok_usage_weekly":0,"byok_usage_monthly":0,"is_free_tier":false,"is_management_key":false,"is_provisioning_key":false,
		"include_byok_in_limit":false,"budgets":[],"exhausted":[],"creator_user_id":null,"organization_id":null,"workspace_id":null,"allowed_data_regions":[],"free_model_daily_requests":{"limit":0,"remaining":0,"used":0},"expires_at":null,"rate_limit":{"requests":-1,"interval":"10s","note":"not used; limits are told by the answers of a call"}}}`)
	limit, remaining := openrouter.USD(10e9), openrouter.USD(-5e8)
	v := decode(t, string(openrouter.AppendKey(nil, openrouter.KeyInfo{Limit: &limit, Remaining: &remaining, Reset: "daily", Expires: openrouter.Timestamp(time.Unix(0, 0))})))["data"].(map[string]any)
	if v["limit"] != 10.0 || v["limit_remaining"] != -0.5 || v["limit_reset"] != "daily" || v["expires_at"] != "1970-01-01T00:00:00.000Z" {
		t.Errorf("%v", v)
	}
	budgets := []openrouter.Budget{
		{Unit: "usd", Period: "day", Limit: openrouter.USD(10e9), Spent: openrouter.USD(15e8), Reserved: openrouter.USD(1), ResetsAt: openrouter.Timestamp(time.Unix(86400, 0))},
		{Unit: "tokens", Period: "total", Soft: true, Limit: 5_000_000, Spent: 7, Reserved: 8},
	}
	v = decode(t, string(openrouter.AppendKey(nil, openrouter.KeyInfo{Budgets: budgets})))["data"].(map[string]any)
	same(t, `{"budgets":`+encode(v["budgets"])+`}`, `{"budgets":[{"unit":"usd","period":"day","soft":false,"limit":10,"spent":1.5,"reserved":1e-9,"resets_at":"1970-01-02T00:00:00.000Z"},
		{"unit":"tokens","period":"total","soft":true,"limit":5000000,"spent":7,"reserved":8,"resets_at":null}]}`)
}

func TestMoneyIsExact(t *testing.T) {
	for nano, want := range map[int64]string{0: "0", 1: "0.000000001", 1_500_000_000: "1.5", 12_000: "0.000012", -1: "-0.000000001", 10_000_000_000: "10",
		math.MaxInt64: "9223372036.854775807", math.MinInt64: "-9223372036.854775808"} {
		if got := string(openrouter.AppendUSD(nil, nano)); got != want {
			t.Errorf("%d: %s", nano, got)
		}
	}
}
