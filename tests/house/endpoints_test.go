package house

import (
	"slices"
	"testing"

	"github.com/caddyserver/caddy/v2"

	"github.com/gatehouse-proxy/gatehouse/handlers"
)

// The whole product has these endpoints, of the core and of features. Each is a module of its own.
func TestEveryEndpointIsAModule(t *testing.T) {
	want := []string{
		"about", "activity", "activity_series", "chat", "compact", "completions", "count_tokens", "credits",
		"embedding_models", "embeddings", "gemini", "generation", "image_edits", "image_models", "images",
		"input_tokens", "key", "keys", "limits", "managed_settings", "mcp", "mcp_servers", "messages", "model_count",
		"model_endpoints", "models", "moderations", "oauth", "providers", "realtime", "recordings", "rerank", "responses",
		"responses_websocket", "router_images", "screen", "sessions", "speech", "stored_responses", "telemetry", "transcriptions", "translations",
		"vnc_socket", "vnc_url", "workstations",
	}
	var names []string
	for _, r := range handlers.Routes() {
		names = append(names, r.Operation.Name)
	}
	slices.Sort(names)
	if names = slices.Compact(names); !slices.Equal(names, want) {
		t.Errorf("names %v, want %v", names, want)
	}
	for _, name := range names {
		info, err := caddy.GetModule("http.handlers.gatehouse_" + name)
		if err != nil {
			t.Fatal(err)
		}
		if made := info.New().CaddyModule().ID; made != info.ID {
			t.Errorf("%s makes a %s", info.ID, made)
		}
	}
}
