package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/gatehouse-proxy/gatehouse/tests/process"
)

// uncallable is in the catalog, but its provider is not configured.
const uncallable = "elsewhere/model"

// catalog is in the form of LiteLLM's price map.
const catalog = `{
	"` + uncallable + `": {"litellm_provider": "elsewhere", "mode": "chat", "max_tokens": 4096,
		"input_cost_per_token": 1e-06, "output_cost_per_token": 2e-06}
}
`

// caddyfile takes the port of the HTTP site, that of the HTTPS site, the catalog, several times the
// origin of the fake provider, what MCP needs (the port of a site that adds the key itself, for a
// program that cannot, and the addresses of two servers), and the port of the control plane of desktops.
// The fake's models are named one by one: a model it has, but that is not named here, is not callable.
const caddyfile = `{
	admin off
	persist_config off
	auto_https disable_redirects
	local_certs
	skip_install_trust
	grace_period 5s
	servers {
		protocols h1 h2
	}
	gatehouse {
		responses_websocket
		realtime
		key caller {
			secret {env.SDK_CALLER_KEY}
			scopes chat:write models:read mcp:call
			mcp demo
			mcp stateless
			mcp sessions
		}
		key narrow {
			secret {env.SDK_NARROW_KEY}
			scopes mcp:call
			mcp demo tools echo
		}
		key reader {
			secret {env.SDK_READER_KEY}
			scopes activity:read
		}
		key manager {
			secret {env.SDK_MANAGER_KEY}
			scopes keys:manage
		}
		key desk {
			secret {env.SDK_DESK_KEY}
			scopes workstations:connect workstations:manage
		}
		vnc {
			domain vnc.localhost
			source lab {
				webhook http://127.0.0.1:%[8]d/ {
					secret {env.SDK_SOURCE_SECRET} {env.SDK_SOURCE_OLD_SECRET}
				}
				networks 10.20.0.0/16
			}
		}
		runtime_keys {
			scopes chat:write models:read
		}
		provider test {
			dialect test
		}
		provider fake {
			base_url %[4]s/v1
			api_key {env.SDK_FAKE_KEY}
			models echo tools null-fields sloppy float-created usage-each no-done finish-eos no-stream cut-mid-stream cut-reset cut-clean err-mid-stream response-failed malformed err-400 err-401 err-429 err-500 err-500-openai err-500-openrouter
			responses native
		}
		provider chatonly {
			base_url %[4]s/v1
			api_key {env.SDK_FAKE_KEY}
			models echo tools no-stream reasoning length too-long overloaded cut-clean err-401 first-1-after-0-err-429
			responses translate
		}
		provider anthropic {
			dialect anthropic
			base_url %[4]s
			api_key {env.SDK_FAKE_KEY}
			models echo tools no-stream reasoning length stop-sequence refusal pause-turn too-long overloaded cut-clean err-401 err-500-anthropic first-1-after-0-err-429
		}
		provider responsesonly {
			base_url %[4]s/responses-only/v1
			api_key {env.SDK_FAKE_KEY}
			models echo tools no-stream reasoning length too-long overloaded cut-clean err-401 first-1-after-0-err-429
			chat translate
		}
		provider gemini {
			dialect gemini
			base_url %[4]s/gemini/v1beta
			api_key {env.SDK_FAKE_KEY}
			models echo tools reasoning length too-long overloaded cut-clean err-401 first-1-after-0-err-429
			models gemini-3-echo gemini-3-tools gemini-3-reasoning gemini-3-blocked gemini-3-no-finish gemini-3-error-late gemini-3-err-500 gemini-3-retry gemini-embedding-001
			discover off
		}
		provider converse {
			dialect bedrock
			base_url %[4]s/bedrock
			region us-east-1
			auth aws {
				access_key AKIDEXAMPLE
				secret_key {env.SDK_FAKE_KEY}
			}
			models echo tools reasoning length too-long overloaded cut-clean err-401 first-1-after-0-err-429
			models us.amazon.echo:0 arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.amazon.echo amazon.titan-embed-text-v2:0 us.anthropic.echo:0
			discover off
		}
		provider claude-bedrock {
			dialect bedrock-anthropic
			base_url %[4]s/claude
			region us-east-1
			auth aws {
				access_key AKIDEXAMPLE
				secret_key {env.SDK_FAKE_KEY}
			}
			models us.anthropic.echo:0 arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.echo
			discover off
		}
		provider claude-vertex {
			dialect vertex-anthropic
			base_url %[4]s/claude/v1/projects/p/locations/global/publishers/anthropic
			api_key {env.SDK_FAKE_KEY}
			models echo echo@20261001
			discover off
		}
		provider azure {
			resource gatehouse
			base_url %[4]s/azure/openai/v1
			api_key {env.SDK_FAKE_KEY}
			models echo
			discover off
		}
		provider azure-classic {
			base_url %[4]s/azure/openai/deployments/echo
			header api-key {env.SDK_FAKE_KEY}
			query api-version 2024-10-21
			models echo
			responses translate
		}
		provider rt {
			dialect openrouter
			base_url %[4]s/api/v1
			api_key {env.SDK_FAKE_KEY}
			models echo no-stream err-mid-stream
			responses native
		}
		alias openai-failover {
			group {
				target fake/err-500-openai
			}
			group {
				target anthropic/echo
			}
		}
		alias openrouter-failover {
			group {
				target fake/err-500-openrouter
			}
			group {
				target anthropic/echo
			}
		}
		alias anthropic-failover {
			group {
				target anthropic/err-500-anthropic
			}
			group {
				target chatonly/echo
			}
		}
		catalog %[3]s
		mcp demo {
			demo
		}
		mcp stateless {
			url %[6]s
		}
		mcp sessions {
			url %[7]s
		}
	}
}

http://:%[1]d {
	bind 127.0.0.1
	gatehouse
}

https://localhost:%[2]d {
	bind 127.0.0.1
	gatehouse
}

http://localhost:%[5]d {
	bind 127.0.0.1
	request_header Authorization "Bearer {env.SDK_CALLER_KEY}"
	gatehouse
}

http://:%[5]d {
	bind 127.0.0.1
	respond 421
}
`

// configuration is a Caddyfile and the ports of its sites; https 0: there is none.
type configuration struct {
	text        string
	http, https int
	keyed       int    // port of the site that adds the key; 0: none
	source      int    // port where the control plane of desktops listens
	ca          string // file of the root certificate; "": where StartCaddy has it
}

// servingConfig is the configuration for suites whose calls are answered.
func servingConfig(dir, fakeOrigin string, servers *mcpServers) (configuration, error) {
	ports, err := process.FreePorts(4)
	if err != nil {
		return configuration{}, err
	}
	catalogFile := filepath.Join(dir, "catalog.json")
	if err := os.WriteFile(catalogFile, []byte(catalog), 0o600); err != nil {
		return configuration{}, err
	}
	return configuration{
		text: fmt.Sprintf(caddyfile, ports[0], ports[1], catalogFile, fakeOrigin, ports[2], servers.stateless, servers.sessions, ports[3]),
		http: ports[0], https: ports[1], keyed: ports[2], source: ports[3],
	}, nil
}
