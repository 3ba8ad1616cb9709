//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// liteLLM is LiteLLM's proxy as its page on production advises: worker processes, no debug output,
// log level ERROR, JSON logs. It has no database, so a master key is all that it can check.
func liteLLM() peer {
	return peer{
		name: "litellm", version: "LiteLLM proxy " + liteLLMVersion + " (PyPI)",
		settings: "2 workers, no database, master key, LITELLM_LOG=ERROR, json_logs, telemetry off, no callbacks",
		does: "checks one key, maps the model's name, adds the provider's key, rewrites answers and events, counts usage and cost in memory; " +
			"no keys of users, limits, budgets, guardrails or record of calls without its database",
		command: func(p peerRun) (string, []string, []string, error) {
			config, err := p.writeFile("config.yaml", liteLLMConfig(p.upstream))
			return filepath.Join(p.installed, "litellm", "bin", "litellm"),
				[]string{"--config", config, "--host", "127.0.0.1", "--port", strconv.Itoa(p.port), "--num_workers", strconv.Itoa(p.workers)},
				[]string{"PATH=/usr/bin:/bin", "LITELLM_LOG=ERROR", "LITELLM_MODE=PRODUCTION", "LITELLM_LOCAL_MODEL_COST_MAP=True"}, err
		},
		key:   func(s secrets) string { return s.gateway },
		model: providerPrefix,
	}
}

// liteLLMConfig is its configuration: two models of an OpenAI provider. Names of variables stand for
// the secrets.
func liteLLMConfig(upstream string) string {
	text := "model_list:\n"
	for _, name := range []string{modelWhole, modelCoalesced} {
		text += fmt.Sprintf(`  - model_name: %s%s
    litellm_params:
      model: openai/%s
      api_base: http://%s/v1
      api_key: os.environ/%s
`, providerPrefix, name, name, upstream, upstreamKeyVar)
	}
	return text + fmt.Sprintf(`litellm_settings:
  set_verbose: false
  json_logs: true
  telemetry: false
general_settings:
  master_key: os.environ/%s
`, gatewayKeyVar)
}

// portkey is Portkey's open-source gateway. It has no keys and no models of its own: the client
// sends the provider's key, and headers say where the provider is.
func portkey() peer {
	return peer{
		name: "portkey", version: "Portkey AI gateway " + portkeyVersion + " (npm)",
		settings: "one Node process (it has no workers), NODE_ENV=production, --headless, provider by request headers",
		does: "reads the provider from headers, parses and writes requests and answers again, passes the client's key on; " +
			"no key check, model names, limits, budgets, guardrails or record of calls in the open-source server as started here",
		command: func(p peerRun) (string, []string, []string, error) {
			folder := filepath.Join(p.installed, "portkey")
			loopback, err := p.writeFile("loopback.cjs", onLoopback)
			return "/usr/bin/env",
				[]string{"node", "--require", loopback, filepath.Join(folder, "node_modules", "@portkey-ai", "gateway", "build", "start-server.js"),
					"--headless", "--port=" + strconv.Itoa(p.port)},
				[]string{"PATH=" + nodePath(), "NODE_ENV=production"}, err
		},
		key: func(s secrets) string { return s.upstream },
		headers: func(upstream string) string {
			return "X-Portkey-Provider: openai\r\nX-Portkey-Custom-Host: http://" + upstream + "/v1\r\n"
		},
	}
}

// onLoopback keeps a Node program, which cannot be told, from listening on other addresses.
const onLoopback = `const { Server } = require('net');
const listen = Server.prototype.listen;
Server.prototype.listen = function (first, ...rest) {
	if (typeof first === 'number') return listen.call(this, first, '127.0.0.1', ...rest.filter((a) => typeof a === 'function'));
	return listen.call(this, { ...first, host: '127.0.0.1' }, ...rest);
};
`

// The versions that the folder peers pins.
const (
	liteLLMVersion = "1.103.4"
	portkeyVersion = "1.15.2"
)

// nodePath is where Node may be.
func nodePath() string { return os.Getenv("PATH") }
