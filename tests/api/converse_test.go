package api

import (
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"
	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// onConverse has the fake provider as Amazon Bedrock.
var onConverse = harness.Setup{Providers: `
	provider bedrock {
		dialect bedrock
		base_url PROVIDER/bedrock
		region us-east-1
		auth aws {
			access_key AKIDEXAMPLE
			secret_key {env.PROVIDER_KEY}
		}
		models *
		discover off
	}
`}

func TestAllAPIsWorkOnConverse(t *testing.T) {
	h := harness.Start(t, onConverse)
	for _, path := range []string{harness.ChatV1, harness.ResponsesV1, "/v1/messages"} {
		for _, stream := range []string{"", harness.Streaming} {
			a := h.Client.Post(path, "full", harness.Body(path, "bedrock/us.amazon.echo", stream))
			if path == "/v1/messages" {
				a = postMessages(h, path, harness.Chat("bedrock/us.amazon.echo", `,"max_tokens":100`+stream))
			}
			list := h.Provider.Fake.Converse.Requests()
			if a.Status != 200 || !strings.Contains(string(a.Body), "hello") || len(list) == 0 {
				t.Fatalf("%s%s: %d %s", path, stream, a.Status, a.Body)
			}
			want := "/model/us.amazon.echo/converse"
			if stream != "" {
				want += "-stream"
			}
			if last := list[len(list)-1]; last.Path != want || !strings.HasPrefix(last.Header.Get("Authorization"), "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/") {
				t.Errorf("%s%s: Bedrock got %s %v", path, stream, last.Path, last.Header)
			}
			if row := h.Records.Row(a.Header.Get("X-Request-Id")); harness.At(row, "usage_source") != "provider" || harness.At(row, "prompt_tokens") == harness.Number("0") {
				t.Errorf("%s%s: the row is %v", path, stream, row)
			}
		}
	}
}

func TestFailuresOfConverseHaveTheirCodes(t *testing.T) {
	h := harness.Start(t, onConverse)
	for behaviour, want := range map[string]string{
		"err-400": "upstream_rejected", "err-403": "upstream_auth_error", "err-404": "model_not_found", "err-408": "upstream_error",
		"err-424": "upstream_error", "err-429": "upstream_rate_limited", "err-500": "upstream_error", "err-503": "upstream_overloaded",
		"cut-2-clean": "upstream_error", "cut-2-reset": "upstream_error", "err-first-event": "upstream_error",
	} {
		for _, stream := range []string{"", harness.Streaming} {
			if stream == "" && !strings.HasPrefix(behaviour, "err-4") && !strings.HasPrefix(behaviour, "err-5") {
				continue
			}
			a := h.Client.Post(harness.ChatV1, "full", harness.Chat("bedrock/amazon."+behaviour, stream))
			if !strings.Contains(string(a.Body), want) || a.Status == 408 || a.Status == 424 {
				t.Errorf("%s%s: %d %s", behaviour, stream, a.Status, a.Body)
			}
		}
	}
}

func TestEmbeddingsOnBedrock(t *testing.T) {
	h := harness.Start(t, onConverse)
	for _, c := range []struct {
		model, more string
		requests    int
		tokens      string
	}{
		{"amazon.titan-embed-text-v2:0", `,"dimensions":256`, 3, "6"},
		{"cohere.embed-multilingual-v3", `,"input_type":"query"`, 1, "9"}, // counted in the header
	} {
		before := len(h.Provider.Fake.Converse.Requests())
		a := h.Client.Post(embeddingsV1, "full", `{"model":"bedrock/`+c.model+`","input":["a","bb","ccc"]`+c.more+`}`)
		body := harness.Parse(t, a.Body)
		if a.Status != 200 || harness.At(body, "data", 2, "embedding", 0) != harness.Number("3") || harness.At(body, "usage", "prompt_tokens") != harness.Number(c.tokens) {
			t.Fatalf("%s: %d %s", c.model, a.Status, a.Body)
		}
		list := h.Provider.Fake.Converse.Requests()[before:]
		if want := "/model/" + strings.ReplaceAll(c.model, ":", "%3A") + "/invoke"; len(list) != c.requests || list[0].Path != want {
			t.Errorf("%s: %d requests, the first to %s", c.model, len(list), list[0].Path)
		}
		if row := h.Records.Row(a.Header.Get("X-Request-Id")); harness.At(row, "prompt_tokens") != harness.Number(c.tokens) || harness.At(row, "usage_source") != "provider" {
			t.Errorf("%s: the row is %v", c.model, row)
		}
		for body, want := range map[string]struct {
			status int
			code   string
		}{
			`"input":["a","refused"]`:      {429, "upstream_rate_limited"},
			`"input":"a","input_type":"x"`: {400, "unsupported_parameter"},
		} {
			harness.WantRefusal(t, embeddingsV1, h.Client.Post(embeddingsV1, "full", `{"model":"bedrock/`+c.model+`",`+body+`}`), want.status, want.code)
		}
	}
	harness.WantRefusal(t, embeddingsV1, h.Client.Post(embeddingsV1, "full", `{"model":"bedrock/amazon.echo","input":"a"}`), 400, "unsupported_parameter")
}

func TestTheModelsOfBedrockAreListed(t *testing.T) {
	setup := onConverse
	setup.Providers = strings.Replace(setup.Providers, "discover off", "discover 10m", 1)
	h := harness.Start(t, setup)
	for _, model := range []string{"amazon.echo", "us.amazon.echo", "eu.amazon.echo:0"} {
		if a := h.Client.Post(harness.ChatV1, "full", harness.Chat("bedrock/"+model, "")); a.Status != 200 {
			t.Errorf("%s: %d %s", model, a.Status, a.Body)
		}
	}
	harness.WantRefusal(t, harness.ChatV1, h.Client.Post(harness.ChatV1, "full", harness.Chat("bedrock/ap.amazon.echo", "")), 404, "model_not_found")
	if got, want := listed(h), "bedrock/amazon.echo bedrock/amazon.titan-embed-text-v2:0 bedrock/eu.amazon.echo:0 bedrock/us.amazon.echo"; got != want {
		t.Errorf("listed %q, want %q", got, want)
	}
	for _, r := range h.Provider.Fake.Converse.Requests()[:3] {
		if !strings.HasPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/") {
			t.Errorf("%s with %v", r.Path, r.Header)
		}
	}
}

// An ARN says nothing of the model that it leads to; the configuration or Bedrock's list does.
func TestAnApplicationProfileHasTheRulesOfItsModel(t *testing.T) {
	setup := onConverse
	const arn = "arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/x.echo"
	setup.Providers = strings.Replace(setup.Providers, "discover off", "discover off\ndeployments "+arn+" us.anthropic.claude-sonnet-4-5", 1)
	h := harness.Start(t, setup)
	a := h.Client.Post(harness.ChatV1, "full", harness.Chat("bedrock/"+arn, `,"max_tokens":9000,"reasoning_effort":"low"`))
	list := h.Provider.Fake.Converse.Requests()
	if a.Status != 200 || len(list) != 1 || !jsontest.Has(t, list[0].Body, `{"type":"enabled"}`) || !strings.HasSuffix(list[0].Path, "application-inference-profile%2Fx.echo/converse") {
		t.Errorf("%d %s after %v", a.Status, a.Body, list)
	}
}

// An exception in the first frame comes with the status 200.
func TestACallThatConverseFailsInItsFirstFrameGoesOn(t *testing.T) {
	h := harness.Start(t, onConverse)
	a := h.Client.Post(harness.ChatV1, "full", harness.Chat("bedrock/amazon.err-first-event", harness.Streaming+`,"models":["bedrock/amazon.echo"]`))
	row := h.Records.Row(a.Header.Get("X-Request-Id"))
	if asked := strings.Join(attempted(row), ", "); a.Status != 200 || !strings.Contains(string(a.Body), "[DONE]") || asked != "bedrock/amazon.err-first-event upstream_error, bedrock/amazon.echo" {
		t.Errorf("%d %s, attempts %s", a.Status, a.Body, asked)
	}
}
