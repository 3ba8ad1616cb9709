package messagesoncloud_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/messagesoncloud"
)

// request edits a body for a platform. Header are names and values in turn.
func request(t *testing.T, p *messagesoncloud.Platform, body string, extra []string, stream bool, header ...string) (string, http.Header, []string, error) {
	t.Helper()
	var b jsonscan.Body
	defer b.Release()
	if err := b.Parse([]byte(body)); err != nil {
		t.Fatal(err)
	}
	caller := http.Header{}
	for i := 0; i < len(header); i += 2 {
		caller.Add(header[i], header[i+1])
	}
	got, leftOut, err := p.Request(&b, caller, extra, stream)
	return string(bytes.Join(b.Segments(nil), nil)), got, leftOut, err
}

func TestABodyOfAnthropicsBecomesThePlatforms(t *testing.T) {
	const (
		plain = `{"model":"m","max_tokens":5,"messages":[{"role":"user","content":"h\u00fc"}]`
		sent  = `{"max_tokens":5,"messages":[{"role":"user","content":"h\u00fc"}]`
		since = "Anthropic-Version"
		betas = "Anthropic-Beta"
	)
	vertex, bedrock := messagesoncloud.Vertex, messagesoncloud.Bedrock
	for name, c := range map[string]struct {
		platform *messagesoncloud.Platform
		body     string
		header   []string
		extra    []string
		stream   bool
		want     string
		accept   string
		beta     string
		leftOut  string
	}{
		"vertex": {vertex, plain + `}`, []string{since, "2023-06-01"}, nil, false, sent + `,"anthropic_version":"vertex-2023-10-16"}`, "", "", ""},
		"vertex streams": {vertex, plain + `,"stream":true}`, nil, nil, true,
			sent + `,"stream":true,"anthropic_version":"vertex-2023-10-16"}`, "", "", ""},
		"vertex counts": {messagesoncloud.VertexCount, plain + `}`, []string{betas, "context-1m-2025-08-07"}, nil, false,
			plain + `,"anthropic_version":"vertex-2023-10-16"}`, "", "", "anthropic-beta context-1m-2025-08-07"},
		"vertex betas": {vertex, plain + `}`, []string{betas, "context-1m-2025-08-07, new-2026-01-01", betas, "advanced-tool-use-2025-11-20,mine-2026-01-01"},
			[]string{"mine-2026-01-01"}, false, sent + `,"anthropic_version":"vertex-2023-10-16"}`, "",
			"context-1m-2025-08-07,tool-search-tool-2025-10-19,mine-2026-01-01", "anthropic-beta new-2026-01-01"},
		"bedrock": {bedrock, plain + `,"stream":false}`, []string{since, "2026-10-21"}, nil, false, sent + `,"anthropic_version":"2026-10-21"}`, "", "", ""},
		"bedrock streams": {bedrock, plain + `,"stream":true,"anthropic_version":"x","anthropic_beta":["x"]}`, []string{since, "2023-06-01", betas, "context-1m-2025-08-07,context-1m-2025-08-07"},
			nil, true, sent + `,"anthropic_version":"bedrock-2023-05-31","anthropic_beta":["context-1m-2025-08-07"]}`, "application/vnd.amazon.eventstream", "", ""},
		"fields of unknown betas": {bedrock, plain + `,"context_management":{},"service_tier":"auto","speed":"fast"}`, []string{betas, "fast-mode-2026-02-01"}, nil, false,
			sent + `,"anthropic_version":"bedrock-2023-05-31"}`, "", "", "anthropic-beta fast-mode-2026-02-01 context_management service_tier speed"},
		"a field of a known beta": {bedrock, plain + `,"context_management":{}}`, []string{betas, "context-management-2025-06-27"}, nil, false,
			sent + `,"context_management":{},"anthropic_version":"bedrock-2023-05-31","anthropic_beta":["context-management-2025-06-27"]}`, "", "", ""},
	} {
		got, header, leftOut, err := request(t, c.platform, c.body, c.extra, c.stream, c.header...)
		if err != nil || got != c.want || strings.Join(leftOut, " ") != c.leftOut {
			t.Errorf("%s: %v, left out %q\n%s\nwant\n%s", name, err, leftOut, got, c.want)
		}
		if header.Get("Accept") != c.accept || header.Get(betas) != c.beta || header.Get(since) != "" {
			t.Errorf("%s: the header is %v", name, header)
		}
	}
}

func TestWhatWouldChangeTheAnswerIsRefused(t *testing.T) {
	for _, field := range []string{"container", "mcp_servers", "inference_geo"} {
		_, _, _, err := request(t, messagesoncloud.Vertex, `{"model":"m","`+field+`":"x"}`, nil, false, "Anthropic-Beta", "mcp-client-2025-04-04,skills-2025-10-02")
		var refusal *apierror.Error
		if !errors.As(err, &refusal) || refusal.Param != field || refusal.Code != apierror.UnsupportedParameter || !strings.Contains(err.Error(), "Vertex AI") {
			t.Errorf("%s: %v", field, err)
		}
	}
}

// CountTokens takes the body of a call, which has a limit of the output above that of the thoughts.
func TestACountOnBedrockIsABodyOfACall(t *testing.T) {
	for body, want := range map[string]string{
		`{"model":"m","messages":[]}`: `{"messages":[],"anthropic_version":"bedrock-2023-05-31","max_tokens":1}`,
		`{"model":"m","messages":[],"thinking":{"type":"enabled","budget_tokens":2048}}`: `{"messages":[],"thinking":{"type":"enabled","budget_tokens":2048},"anthropic_version":"bedrock-2023-05-31","max_tokens":2049}`,
		`{"max_tokens":7,"model":"m","messages":[]}`:                                     `{"max_tokens":7,"messages":[],"anthropic_version":"bedrock-2023-05-31"}`,
	} {
		var b jsonscan.Body
		if err := b.Parse([]byte(body)); err != nil {
			t.Fatal(err)
		}
		if _, _, err := messagesoncloud.Bedrock.Request(&b, http.Header{}, nil, false); err != nil {
			t.Fatal(err)
		}
		var got struct {
			Input struct{ InvokeModel struct{ Body []byte } }
		}
		if err := json.Unmarshal(messagesoncloud.CountRequest(&b), &got); err != nil || string(got.Input.InvokeModel.Body) != want {
			t.Errorf("%s: %v, %s", body, err, got.Input.InvokeModel.Body)
		}
		b.Release()
	}
}
