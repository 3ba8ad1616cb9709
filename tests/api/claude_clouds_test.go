package api

import (
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// claudeOnClouds has the fake provider as Claude on Vertex AI and on Bedrock.
var claudeOnClouds = harness.Setup{Providers: `
	provider vertex {
		dialect vertex-anthropic
		base_url PROVIDER/claude/v1/projects/p/locations/global/publishers/anthropic
		api_key {env.PROVIDER_KEY}
		models *
		discover off
	}
	provider bedrock {
		dialect bedrock-anthropic
		base_url PROVIDER/claude
		region us-east-1
		auth aws {
			access_key AKIDEXAMPLE
			secret_key {env.PROVIDER_KEY}
		}
		models *
		discover off
	}
`}

const bedrockEcho = "bedrock/us.anthropic.echo"

func TestClaudeOnCloudsServesAllAPIs(t *testing.T) {
	h := harness.Start(t, claudeOnClouds)
	for _, model := range []string{bedrockEcho, "vertex/echo"} {
		for _, path := range []string{harness.ChatV1, harness.ResponsesV1, "/v1/messages"} {
			for _, stream := range []string{"", harness.Streaming} {
				body := harness.Body(path, model, stream)
				a := h.Client.Post(path, "full", body)
				if path == "/v1/messages" {
					a = postMessages(h, path, harness.Chat(model, `,"max_tokens":100`+stream))
				}
				if a.Status != 200 || !strings.Contains(string(a.Body), "hello") {
					t.Errorf("%s %s%s: %d %s", model, path, stream, a.Status, a.Body)
				}
				list := h.Provider.Fake.Claude.Requests()
				if len(list) == 0 {
					t.Fatalf("%s %s%s: the platform got nothing", model, path, stream)
				}
				row := h.Records.Row(a.Header.Get("X-Request-Id"))
				if row == nil || harness.At(row, "usage_source") != "provider" {
					t.Errorf("%s %s%s: the row is %v", model, path, stream, row)
				}
			}
		}
	}
}

func TestFailuresOfPlatformsHaveTheirCodes(t *testing.T) {
	h := harness.Start(t, claudeOnClouds)
	for _, model := range []string{"bedrock/us.anthropic.", "vertex/"} {
		for behaviour, want := range map[string]string{"err-429": "upstream_rate_limited", "err-500": "upstream_error", "overloaded": "upstream_overloaded", "cut-2-clean": "upstream_error", "cut-2-reset": "upstream_error"} {
			a := postMessages(h, "/v1/messages", harness.Chat(model+behaviour, `,"max_tokens":100,"stream":true`))
			if !strings.Contains(string(a.Body), want) {
				t.Errorf("%s%s: %d %s", model, behaviour, a.Status, a.Body)
			}
		}
	}
}

// A count is asked of whoever can count, in its own form; where it cannot, the gateway estimates.
func TestTokensAreCountedByClouds(t *testing.T) {
	setup := claudeOnClouds
	setup.Providers += strings.ReplaceAll(onConverse.Providers, "provider bedrock {", "provider converse {")
	h := harness.Start(t, setup)
	const message = `{"role":"user","content":"hi"}`
	for _, c := range []struct {
		model  string
		counts bool
	}{
		{bedrockEcho, true},
		{"bedrock/arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.echo", true},
		{"bedrock/us.anthropic.denied", false},
		{"converse/global.anthropic.echo", true},
		{"converse/amazon.echo", false},
		{"vertex/echo", true},
	} {
		for path, body := range map[string]string{
			"/v1/messages/count_tokens": `{"model":"` + c.model + `","messages":[` + message + `,{"role":"assistant","content":"yes"},` + message + `]}`,
			inputTokensV1:               `{"model":"` + c.model + `","input":[` + message + `,{"role":"assistant","content":"yes"},` + message + `]}`,
		} {
			a := postMessages(h, path, body)
			n := harness.At(harness.Parse(t, a.Body), "input_tokens")
			counted := n == harness.Number("30") || strings.HasPrefix(c.model, "vertex") && c.counts
			if a.Status != 200 || n == nil || counted != c.counts || strings.Contains(string(a.Body), "response.input_tokens") != (path == inputTokensV1) {
				t.Errorf("%s %s: %d %s", c.model, path, a.Status, a.Body)
			}
		}
	}
	claude, converse := h.Provider.Fake.Claude.Requests(), h.Provider.Fake.Converse.Requests()
	vertex := 0
	for _, r := range claude {
		if strings.HasSuffix(r.Path, "/models/count-tokens:rawPredict") {
			vertex++
		}
	}
	if vertex != 2 || claude[0].Path != "/model/anthropic.echo/count-tokens" || len(converse) == 0 || converse[0].Path != "/model/anthropic.echo/count-tokens" {
		t.Errorf("asked %d times, %d of them on Vertex AI, and %d times", len(claude), vertex, len(converse))
	}
}
