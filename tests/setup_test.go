package tests

import "strings"

// setup is the configuration of a test's Caddy. In its texts PROVIDER is the origin of the fake
// provider, DIR the test's own folder, VNC_PORT and HTTPS_PORT are ports.
type setup struct {
	keys      string // key blocks; "" = defaultKeys
	providers string // provider blocks; "" = defaultProviders
	options   string // more options of the gatehouse block
	global    string // more global options
	site      string // the HTTP site's directives; "" = defaultSite
	secure    bool   // an HTTPS site with the same directives too

	vnc        string // options of the vnc block; "" = no desktops and no layer4 app
	vncHandler string // options of the layer-4 handler vnc
	route      string // the whole route of the layer4 app; "" = the handler alone
	noLayer4   bool   // a vnc block and no layer4 app
	noKeys     bool   // without the keys for desktops
}

const defaultKeys = `
	key full {
		secret {env.KEY_FULL}
		scopes chat:write models:read activity:read
	}
	key chat {
		secret {env.KEY_CHAT}
		scopes chat:write
	}
	key models {
		secret {env.KEY_MODELS}
		scopes models:read
	}
	key activity {
		secret {env.KEY_ACTIVITY}
		scopes activity:read
	}
	key other {
		secret {env.KEY_OTHER}
		scopes chat:write models:read activity:read
		tenant other
	}
	key narrow {
		secret {env.KEY_NARROW}
		scopes chat:write models:read
		models fake/echo test/*
	}
	key hosted {
		secret {env.KEY_HOSTED}
		scopes chat:write
		hosted_tools
	}
	key expired {
		secret {env.KEY_EXPIRED}
		scopes chat:write models:read activity:read
		expires 2020-01-01
	}
	key disabled {
		secret {env.KEY_DISABLED}
		scopes chat:write models:read activity:read
		disabled
	}
`

// keyNames are the keys of defaultKeys; secretOf is the secret of each.
var keyNames = []string{"full", "chat", "models", "activity", "other", "narrow", "hosted", "expired", "disabled"}

func secretOf(key string) string { return "gk-test-" + key + "-5f2b8c71d0e94a36" }

// providerKey is the credential of the fake provider.
const providerKey = "pk-canary-8d1f03b7c2e6495a"

const defaultProviders = `
	provider fake {
		base_url PROVIDER/v1
		api_key {env.PROVIDER_KEY}
		models *
		discover off
	}
	provider router {
		dialect openrouter
		base_url PROVIDER/api/v1
		api_key {env.PROVIDER_KEY}
		models *
		discover off
	}
	provider chatonly {
		base_url PROVIDER/v1
		api_key {env.PROVIDER_KEY}
		models *
		discover off
		responses translate
	}
	provider private {
		base_url PROVIDER/v1
		api_key {env.PROVIDER_KEY}
		models *
		discover off
		account_of default
	}
	provider test {
		dialect test
	}
`

// refusingTools are providers of which chatonly refuses tools that chat completions cannot have.
var refusingTools = strings.Replace(defaultProviders, "responses translate", "responses translate {\nunknown_tools refuse\n}", 1)

const defaultSite = `
	log
	handle /metrics {
		metrics
	}
	@preflight method OPTIONS
	gatehouse
	header @preflight Access-Control-Allow-Origin https://app.example
	respond @preflight 204
	respond "the site's own answer" 418
`
