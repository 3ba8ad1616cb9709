//go:build linux

package browser

import (
	"cmp"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/tests/desktop"
	"github.com/gatehouse-proxy/gatehouse/tests/process"
)

// demoCaddyfile takes the ports of the admin endpoint and of the site, the origin of the providers, the folder of
// the catalog, and the port of the desktop. Its budgets are those of tests/manyrows.
const demoCaddyfile = `{
	admin 127.0.0.1:%[1]d
	persist_config off
	skip_install_trust
	grace_period 3s
	gatehouse {
		catalog %[4]s/catalog.json
		key anna {
			secret {env.BROWSER_OPS}
			scopes chat:write models:read activity:read workstations:connect workstations:manage keys:manage limits:read providers:read mcp:call recordings:read
			mcp crm
			budget 50usd/month
		}
		key webshop {
			secret {env.BROWSER_READER}
			scopes chat:write models:read
			budget 40usd/day soft
		}
		key support-bot {
			secret {env.BROWSER_DESKS}
			scopes chat:write workstations:automate mcp:call
			mcp crm
		}
		key ci {
			secret {env.DEMO_CI}
			scopes chat:write
			budget 25usd/day
			rate 60/min
		}
		key research {
			secret {env.DEMO_RESEARCH}
			scopes chat:write models:read
			budget 300usd/total
		}
		provider openai {
			dialect openai
			base_url %[3]s/openai/v1
			api_key none
			models gpt-5 gpt-5-mini text-embedding-3-large gpt-image-1
		}
		provider anthropic {
			dialect openai
			base_url %[3]s/anthropic/v1
			api_key none
			models claude-opus-4-5 claude-haiku-4-5
		}
		provider mistral {
			dialect openai
			base_url %[3]s/mistral/v1
			api_key none
			models mistral-large
		}
		provider lab {
			dialect openai
			base_url %[3]s/lab/v1
			api_key none
			models llama-4-scout
		}
		mcp crm {
			demo
		}
		runtime_keys {
			scopes chat:write models:read activity:read
			max 100
		}
		vnc {
			domain vnc.localhost
			automation control
			workstation ` + station + ` 127.0.0.1:%[5]d {
				password {env.BROWSER_DESKTOP}
			}
			workstation build-mac {
				test_card
			}
		}
	}
}

http://127.0.0.1:%[2]s {
	bind 127.0.0.1
	gatehouse_health
	gatehouse_console
	gatehouse
}
`

// demoCatalog has the prices of tests/manyrows.
const demoCatalog = `{"models": [
	{"id": "openai/gpt-5", "mode": "chat", "context_length": 400000, "max_output_tokens": 128000, "input_modalities": ["text", "image", "file"], "supported_parameters": ["tools", "reasoning"], "price": {"prompt": "1.25", "completion": "10", "cache_read": "0.125"}},
	{"id": "openai/gpt-5-mini", "mode": "chat", "context_length": 400000, "max_output_tokens": 128000, "input_modalities": ["text", "image"], "supported_parameters": ["tools", "reasoning"], "price": {"prompt": "0.25", "completion": "2", "cache_read": "0.025"}},
	{"id": "openai/text-embedding-3-large", "mode": "embedding", "context_length": 8191, "output_modalities": ["embeddings"], "price": {"prompt": "0.13"}},
	{"id": "openai/gpt-image-1", "mode": "image_generation", "input_modalities": ["text", "image"], "output_modalities": ["image"], "price": {"prompt": "5", "image_input": "10", "image_output": "40"}},
	{"id": "anthropic/claude-opus-4-5", "mode": "chat", "context_length": 200000, "max_output_tokens": 64000, "input_modalities": ["text", "image", "file"], "supported_parameters": ["tools", "reasoning"], "price": {"prompt": "5", "completion": "25", "cache_read": "0.5"}},
	{"id": "anthropic/claude-haiku-4-5", "mode": "chat", "context_length": 200000, "max_output_tokens": 64000, "input_modalities": ["text", "image", "file"], "supported_parameters": ["tools", "reasoning"], "price": {"prompt": "1", "completion": "5", "cache_read": "0.1"}},
	{"id": "mistral/mistral-large", "mode": "chat", "context_length": 131072, "max_output_tokens": 16384, "supported_parameters": ["tools"], "price": {"prompt": "2", "completion": "6"}},
	{"id": "lab/llama-4-scout", "mode": "chat", "context_length": 131072, "max_output_tokens": 8192, "input_modalities": ["text", "image"]}
]}`

// demoAnswers are what two models say to the question of the page Try it.
var demoAnswers = map[string]string{
	"gpt-5":            "Dear Ms Weber, thank you for writing. Your parcel left our warehouse on Tuesday and reaches you on Friday. We have sent the number of the shipment to your address.",
	"claude-haiku-4-5": "Hello Ms Weber! Your parcel is on its way since Tuesday. It should be with you on Friday, and the tracking number is in your inbox.",
}

// demoProviders answer every call but those of lab.
func demoProviders(w http.ResponseWriter, r *http.Request) {
	var asked struct{ Model string }
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil || strings.HasPrefix(r.URL.Path, "/lab/") {
		http.Error(w, `{"error":{"message":"out of memory","type":"server_error"}}`, http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	events := func(format string, args ...any) {
		fmt.Fprintf(w, "data: "+format+"\n\n", args...)
		w.(http.Flusher).Flush()
		<-time.After(10 * time.Millisecond) // as a model writes: the page shows how long it took
	}
	const begin = `{"id":"chatcmpl-demo","object":"chat.completion.chunk","created":1,"model":"m",`
	for _, word := range strings.SplitAfter(cmp.Or(demoAnswers[asked.Model], "Hello."), " ") {
		events(begin+`"choices":[{"index":0,"delta":{"role":"assistant","content":%s},"finish_reason":null}]}`, quote(word))
	}
	events(begin + `"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`)
	events(begin + `"choices":[],"usage":{"prompt_tokens":61,"completion_tokens":44,"total_tokens":105}}`)
	events("[DONE]")
}

// demoGateway has a week of calls, a few of them just now, and a desktop with a form.
func demoGateway(t *testing.T, providers string) (*site, *desktop.Form) {
	t.Helper()
	d := startStation(t)
	form, err := desktop.OpenForm(d.Number, desktop.Area{Where: image.Rect(0, 0, 1280, 720), Colour: color.RGBA{R: 0x2c, G: 0x4a, B: 0x63, A: 0xff}})
	if err != nil {
		t.Fatal(err)
	}
	s, err := startSite("", []string{"BROWSER_DESKTOP=" + d.Password, "DEMO_CI=" + process.Secret(), "DEMO_RESEARCH=" + process.Secret()}, func(dir string) error {
		cmd := exec.CommandContext(t.Context(), *manyrows, "-dir", dir, "-demo")
		cmd.Stderr = os.Stderr
		return cmd.Run()
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.process.Stop)
	if err := os.WriteFile(filepath.Join(s.dir, "catalog.json"), []byte(demoCatalog), 0o600); err != nil {
		t.Fatal(err)
	}
	_, port, _ := strings.Cut(s.host, ":")
	s.reload(t, fmt.Sprintf(demoCaddyfile, s.admin, port, providers, s.dir, d.Port))
	for _, model := range []string{"openai/gpt-5", "openai/gpt-5-mini", "anthropic/claude-opus-4-5", "anthropic/claude-haiku-4-5", "mistral/mistral-large"} {
		s.chat(t, s.secrets["reader"], model, true)
	}
	for range 6 {
		failedCall(t, s, "lab/llama-4-scout")
	}
	s.call(t, http.MethodPost, "/mcp/crm", map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{"name": "echo", "arguments": map[string]string{"text": "Weber"}}}, nil)
	for name, limit := range map[string]int{"Ada's laptop": 20, "Workshop in spring": 50} {
		s.call(t, http.MethodPost, "/api/v1/keys", map[string]any{"name": name, "limit": limit}, nil)
	}
	return s, form
}

// failedCall asks a provider that fails, with a key whose budget allows a model without a price.
func failedCall(t *testing.T, s *site, model string) {
	t.Helper()
	body := strings.NewReader(`{"model":` + quote(model) + `,"messages":[{"role":"user","content":"Hello"}]}`)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url("/v1/chat/completions"), body)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+s.secrets["reader"])
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode < http.StatusInternalServerError {
		t.Fatalf("a call of %s: %s", model, answer.Status)
	}
}
