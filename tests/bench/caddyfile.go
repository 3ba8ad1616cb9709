//go:build linux

package main

import (
	"fmt"
	"strings"
)

const (
	gatewayKeyVar = "GATEWAY_API_KEY"
	auditKeyVar   = "GATEWAY_AUDIT_KEY"
	spentKeyVar   = "GATEWAY_SPENT_KEY"

	// upstreamIdle is the gateway's number of idle connections to a host. Caddy's own default is
	// 32; the plain proxy gets the same, so that neither has to dial more.
	upstreamIdle = 256
)

// site is the input of a Caddyfile of this bench.
type site struct {
	admin          string // host:port of the admin endpoint
	port           int    // of the site under load
	guarded        int    // of the plain proxy's site behind a header matcher
	secure         int    // of the site with TLS
	upstream       string // host:port
	secureUpstream string // host:port with TLS
	cert           certificate
	storage        string // folder of this process alone
	log            string // file of the process log
	access         string // file of the access log of the guarded site
	catalog        string // file with the prices, for a gateway with budgets
	keys           string // file with the keys, for a gateway with many
}

// globalOptions are equal for both servers: the process log at INFO goes to a file, as in
// production. Rolling is off, because it would compress files in the middle of a measurement; a
// round bounds the file.
func globalOptions(s site, app string) string {
	return fmt.Sprintf(`{
	admin %s
	persist_config off
	skip_install_trust
	auto_https off
	grace_period 1s
	storage file_system %q
	log {
		output file %q {
			roll_disabled
		}
		level INFO
	}
%s}
`, s.admin, s.storage, s.log, app)
}

// proxyCaddyfile is the plain reverse_proxy, without an access log. A second site is the comparison
// for a refused key: a header matcher, the access log and a 401 with a body that an SDK can read. A
// third has TLS on both sides.
func proxyCaddyfile(s site) string {
	proxyTo := func(upstream string) string {
		return fmt.Sprintf(`reverse_proxy %s {
			transport http {
				keepalive_idle_conns_per_host %d
			}
		}`, upstream, upstreamIdle)
	}
	return globalOptions(s, "") + fmt.Sprintf(`http://:%d {
	bind 127.0.0.1
	route {
		%s
	}
}
http://:%d {
	bind 127.0.0.1
	log {
		output file %q {
			roll_disabled
		}
	}
	@key header Authorization "Bearer {env.%s}"
	route {
		handle @key {
		%s
		}
		header Content-Type application/json
		header WWW-Authenticate Bearer
		respond `+"`%s`"+` 401
	}
}
`, s.port, proxyTo(s.upstream), s.guarded, s.access, gatewayKeyVar, proxyTo(s.upstream), refusal) +
		secureSite(s, proxyTo("https://"+s.secureUpstream))
}

// secureSite is the site with TLS of a server under load.
func secureSite(s site, handler string) string {
	return fmt.Sprintf(`https://:%d {
	bind 127.0.0.1
	tls %q %q
	route {
		%s
	}
}
`, s.secure, s.cert.cert, s.cert.key, handler)
}

// refusal is as long as the gateway's own answer to a wrong key.
const refusal = `{"error":{"message":"Incorrect API key provided. Check the key that this client sends.","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}`

// gatewayCaddyfile is the gateway with the settings of a chat key and with these duties on. A
// second key of the same tenant reads afterwards what was recorded. A third has a rate that one
// call uses up.
func gatewayCaddyfile(s site, d duties) string {
	return globalOptions(s, fmt.Sprintf(`	gatehouse {
		key %s {
			secret {env.%s}
			scopes chat:write models:read mcp:call
			mcp %s
			tenant %s
%s		}
		mcp %s {
			url http://%s%s
			api_key {env.%s}
			transport http {
				keepalive_idle_conns_per_host %d
			}
		}
		key audit {
			secret {env.%s}
			scopes activity:read
			tenant %s
		}
		key spent {
			secret {env.%s}
			scopes chat:write
			tenant %s
			rate 1/day
		}
%s%s%s%s%s%s%s		alias %s {
			group {
				target %s
			}
			group {
				target %s
			}
		}
	}
`, benchKey, gatewayKeyVar, toolServer, benchTenant, d.keyOptions(), toolServer, s.upstream, toolPath, upstreamKeyVar, upstreamIdle, auditKeyVar, benchTenant, spentKeyVar, benchTenant, d.appOptions(s),
		provider(providerPrefix, "http://"+s.upstream, "responses native", upstreamModels...),
		provider(securePrefix, "https://"+s.secureUpstream, "responses native", upstreamModels...),
		provider(chatOnlyPrefix, "http://"+s.upstream, "responses translate", modelCoalesced),
		provider(responsesOnlyPrefix, "http://"+s.upstream, "chat translate", modelCoalesced),
		provider(messagesOnlyPrefix, "http://"+s.upstream, "dialect anthropic", modelCoalesced),
		provider(geminiPrefix, "http://"+s.upstream, "dialect gemini", modelCoalesced),
		aliasPrefix+modelWhole, providerPrefix+modelWhole, messagesOnlyPrefix+modelCoalesced)) + fmt.Sprintf(`http://:%d {
	bind 127.0.0.1
	gatehouse
}
`, s.port) + secureSite(s, "gatehouse")
}

// provider is the upstream at that address as a provider with these models.
func provider(prefix, origin, option string, models ...string) string {
	return fmt.Sprintf(`		provider %s {
			base_url %s/v1
			api_key {env.%s}
			models %s
			%s
		}
`, strings.TrimSuffix(prefix, "/"), origin, upstreamKeyVar, strings.Join(models, " "), option)
}
