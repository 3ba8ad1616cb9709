package harness

import (
	"fmt"
	"strings"
)

// Setup is the configuration of a test's Caddy. In its texts PROVIDER is the origin of the fake
// provider, DIR the test's own folder, VNC_PORT and HTTPS_PORT are ports.
type Setup struct {
	Keys      string // key blocks; "" = DefaultKeys
	Providers string // provider blocks; "" = DefaultProviders
	Options   string // more options of the gatehouse block
	Global    string // more global options
	Site      string // the HTTP site's directives; "" = DefaultSite
	Secure    bool   // an HTTPS site with the same directives too

	VNC        string // options of the vnc block; "" = no desktops and no layer4 app
	VNCHandler string // options of the layer-4 handler vnc
	Route      string // the whole route of the layer4 app; "" = the handler alone
	NoLayer4   bool   // a vnc block and no layer4 app
	NoKeys     bool   // without the keys for desktops
}

// DefaultKeys are keys with all scopes, with one of them, of another tenant, and unusable ones.
const DefaultKeys = `
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

// FullKey is the key full with more options.
func FullKey(options string) string {
	return Key("full", options)
}

// Key is a key of DefaultKeys with all scopes of model calls and more options.
func Key(name, options string) string {
	return fmt.Sprintf("key %s {\nsecret {env.KEY_%s}\nscopes chat:write models:read activity:read\n%s\n}\n", name, strings.ToUpper(name), options)
}

// keyNames are the keys of DefaultKeys.
var keyNames = []string{"full", "chat", "models", "activity", "other", "narrow", "hosted", "expired", "disabled"}

// Secret is the secret of a key, by its name.
func Secret(key string) string { return "gk-test-" + key + "-5f2b8c71d0e94a36" }

// ProviderKey is the credential of the fake provider.
const ProviderKey = "pk-canary-8d1f03b7c2e6495a"

// DefaultProviders are the fake provider in several roles, and the built-in one.
const DefaultProviders = `
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

// DefaultSite serves the API, metrics and an answer of the site's own.
const DefaultSite = `
	log
	handle /metrics {
		metrics
	}
	@preflight method OPTIONS
	gatehouse
	header @preflight Access-Control-Allow-Origin https://app.example
	respond @preflight 204
	respond "the site's own answer, load LOAD_NUMBER" 418
`
