//go:build unix

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
)

// feature is one that a build can have beside the core.
type feature struct {
	name, path string
	options    string // its smallest block; "": it has none
	vnc        string // in vnc
	site       string // in the site
	// A request that only a build with it answers so.
	method, request string
	status          int
}

const root = "github.com/gatehouse-proxy/gatehouse"

var features = []feature{
	{name: "identity", path: "caddymodule/identity", options: "\t\trole r {\n\t\t\tscopes chat:write\n\t\t}\n\t\tidentity idp {\n" +
		"\t\t\tissuer https://idp.invalid\n\t\t\taudience gatehouse\n\t\t\trole r\n\t\t}\n",
		method: http.MethodGet, request: "/v1/models", status: http.StatusOK},
	{name: "run-time keys", path: "caddymodule/runtimekeys", options: "\t\truntime_keys {\n\t\t\tscopes chat:write\n\t\t}\n",
		method: http.MethodGet, request: "/api/v1/keys", status: http.StatusForbidden},
	{name: "Bedrock", path: "caddymodule/clouds", options: "\t\tprovider acme {\n\t\t\tdialect bedrock\n\t\t\tregion us-east-1\n\t\t\tmodels m\n\t\t}\n",
		method: http.MethodGet, request: "/v1/models", status: http.StatusOK},
	{name: "clouds", path: "caddymodule/clouds", options: "\t\tprovider acme {\n\t\t\tbase_url https://acme.invalid/v1\n\t\t\tmodels m\n" +
		"\t\t\tauth google {\n\t\t\t\tmetadata\n\t\t\t}\n\t\t}\n", method: http.MethodGet, request: "/v1/models", status: http.StatusOK},
	{name: "MCP", path: "caddymodule/mcp", options: "\t\tmcp demo {\n\t\t\turl http://127.0.0.1:1/mcp\n\t\t}\n",
		method: http.MethodPost, request: "/mcp/demo", status: http.StatusForbidden},
	{name: "agents", path: "caddymodule/agents", method: http.MethodGet, request: "/v1/workstations/desk/screenshot", status: http.StatusForbidden},
	{name: "recordings", path: "caddymodule/recordings", method: http.MethodGet, request: "/v1/recordings", status: http.StatusForbidden},
	{name: "console", path: "caddymodule/console", site: "\thandle /console/* {\n\t\tgatehouse_console\n\t}\n",
		method: http.MethodGet, request: "/console/", status: http.StatusOK},
	{name: "operators", path: "caddymodule/operators", method: http.MethodGet, request: "/v1/models", status: http.StatusOK},
	{name: "handover", path: "caddymodule/handover", method: http.MethodGet, request: "/v1/models", status: http.StatusOK},
	{name: "sockets", path: "caddymodule/sockets", options: "\t\tresponses_websocket\n\t\trealtime\n",
		method: http.MethodGet, request: "/v1/responses", status: http.StatusMethodNotAllowed},
	{name: "demo", path: "caddymodule/demo", vnc: "\t\t\tworkstation card {\n\t\t\t\ttest_card\n\t\t\t}\n",
		options: "\t\tprovider demo {\n\t\t\tdialect test\n\t\t}\n",
		method:  http.MethodGet, request: "/v1/models/demo/echo", status: http.StatusOK},
	{name: "sources", path: "caddymodule/sources", vnc: "\t\t\tsource lab {\n\t\t\t\twebhook https://control.invalid {\n" +
		"\t\t\t\t\tsecret whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3\n\t\t\t\t}\n\t\t\t\tnetworks 10.0.0.0/8\n\t\t\t}\n",
		method: http.MethodGet, request: "/v1/models", status: http.StatusOK},
	{name: "guardrails", path: "caddymodule/guardrails", options: "\t\tguardrail words {\n\t\t\tdeny words mellon\n\t\t}\n\t\tguardrails words\n",
		method: http.MethodGet, request: "/v1/models", status: http.StatusOK},
	{name: "sound", path: "handlers/audio", method: http.MethodPost, request: "/v1/audio/speech", status: http.StatusBadRequest},
	{name: "Gemini", path: "caddymodule/gemini", method: http.MethodGet, request: "/v1beta/models", status: http.StatusOK},
	{name: "descriptions", path: "handlers/openapi", method: http.MethodGet, request: "/openapi.json", status: http.StatusOK},
	{name: "browser desktop", path: "handlers/vncsocket", method: http.MethodGet, request: "/v1/models", status: http.StatusOK},
}

// try builds the core with the feature, starts it, and makes its request.
func (f feature) try(ctx context.Context, mkcaddy, dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	checkout, err := os.Getwd()
	if err != nil {
		return err
	}
	type entry struct {
		Path    string `json:"module_path"`
		Version string `json:"version,omitempty"`
	}
	manifest, err := json.Marshal(map[string]any{
		"caddy_version": "v2.11.9",
		"plugins":       []entry{{Path: root + "/caddymodule/core"}, {Path: root + "/" + f.path}, {"github.com/mholt/caddy-l4", "v0.1.2"}},
		"replacements":  []map[string]string{{"old": root, "new": checkout}},
	})
	file, caddy := filepath.Join(dir, "xcaddy.json"), filepath.Join(dir, "caddy")
	if err == nil {
		err = os.WriteFile(file, manifest, 0o600)
	}
	if err != nil {
		return err
	}
	if out, err := exec.CommandContext(ctx, mkcaddy, "-manifest", file, "-o", caddy).CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	g, err := start(ctx, caddy, filepath.Join(dir, "run"), f)
	if err != nil {
		return err
	}
	defer g.stop()
	_, err = g.call(ctx, f.method, f.request, f.status)
	return err
}
