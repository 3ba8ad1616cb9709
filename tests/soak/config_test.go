package soak

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// The tenants of a soak.
const (
	soakAlpha = "alpha"
	soakBeta  = "beta"
)

var soakTenants = []string{soakAlpha, soakBeta}

// soakKey is a key for calls that end in one way or another. In its options %s is replaced by the
// variant's words.
type soakKey struct{ name, tenant, scopes, options string }

func (k soakKey) env() string { return strings.ToUpper(k.name) }

const soakScopes = "chat:write models:read activity:read"

// soakLarge are budgets that no run uses up.
const soakLarge = "budget 100000usd/total\nbudget 1000000M tokens/total\n"

var soakKeys = []soakKey{
	{"full", soakAlpha, soakScopes, soakLarge},
	{"soft", soakAlpha, soakScopes, "budget 100000usd/total soft\nbudget 1000000M tokens/total soft"},
	{"free", soakBeta, soakScopes, soakLarge + "unpriced allow"},
	{"guarded", soakAlpha, soakScopes, soakLarge + "guardrails inward outward"},
	{"masked", soakBeta, soakScopes, soakLarge + "guardrails mask"},
	{"rated", soakAlpha, soakScopes, soakLarge + "rate RATE/s"},
	{"tokened", soakBeta, soakScopes, soakLarge + "rate 1200 tokens/s"},
	{"gated", soakAlpha, soakScopes, soakLarge + "concurrency 2 queue QUEUE 20ms"},
	{"poor", soakBeta, soakScopes, "budget 0.02usd/total\nmax_output_tokens 100"},
	{"capped", soakBeta, soakScopes, soakLarge + "max_messages 2\nmax_output_tokens 100\nmax_body 2KiB"},
	{"reader", soakAlpha, "models:read", soakLarge},
}

// soakProviders are blocks whose idle connections end soon. A reload leaves those open that a late
// call of the older configuration returns.
var soakProviders = strings.ReplaceAll(`
	provider fake {
		base_url PROVIDER/v1
		COMMON
	}
	provider router {
		base_url PROVIDER/api/v1
		dialect openrouter
		COMMON
	}
	provider chatonly {
		base_url PROVIDER/v1
		responses translate
		COMMON
	}
	provider respond {
		base_url PROVIDER/v1
		chat translate
		COMMON
	}
	provider dear {
		base_url PROVIDER/api/v1
		cost reported
		COMMON
	}
	provider metered {
		base_url PROVIDER/metered/v1
		responses translate
		COMMON
	}
	provider billed {
		base_url PROVIDER/metered/v1
		responses translate
		cost reported
		COMMON
	}
`, "COMMON", "models *\ndiscover off\napi_key {env.PROVIDER_KEY}\ntransport http {\nkeepalive 2s\n}")

// soakSetup is variant i of the configuration: budgets and prices never change.
func soakSetup(i int) harness.Setup {
	pick := func(words ...string) string { return words[i%len(words)] }
	keys := ""
	for _, k := range soakKeys {
		keys += fmt.Sprintf("key %s {\nsecret {env.KEY_%s}\nscopes %s\ntenant %s\n%s\n}\n", k.name, k.env(), k.scopes, k.tenant, k.options)
	}
	header, idle, body := "2s", "2s", "2s"
	if harness.RaceDetector {
		header, idle, body = "4s", "4s", "4s"
	}
	return harness.Setup{
		Keys:      strings.NewReplacer("rate RATE", "rate "+pick("5", "6"), "QUEUE", pick("1", "2", "3")).Replace(keys),
		Providers: soakProviders,
		Options: "catalog DIR/prices.json\n" + soakLarge +
			"tenant alpha {\n" + soakLarge + "concurrency " + pick("500", "400") + "\n}\ntenant beta {\n" + soakLarge + "}\n" +
			"model metered/* {\nconcurrency " + pick("300", "200") + "\nrate 100000/s\n}\n" +
			"guardrail inward {\non input\ndeny secrets\ndeny words forbidden\n}\n" +
			"guardrail outward {\non output\nwindow " + pick("8", "16") + "\ndeny words verboten\n}\n" +
			"guardrail mask {\nwindow " + pick("64", "256") + "\nredact email\nredact card\n}\n" +
			"on_disconnect " + pick("cancel", "drain 150ms") + "\n" +
			"body_memory " + pick("256MiB", "300MiB") + "\n" +
			"activity {\nkeep " + pick("40s", "45s") + "\n}\n" +
			"timeouts {\nheader " + header + "\nidle " + idle + "\nbody " + body + "\n}\n",
		Secure: !soakIsLong(),
		Site:   "handle /metrics {\nmetrics\n}\nroute {\nsoak_door\ngatehouse\n}\n",
	}
}

func (s *soak) caddyfile(i int) string {
	set := soakSetup(i)
	s.desktopsSetup(&set)
	return strings.NewReplacer("output gatehouse_test", "output gatehouse_soak", "level INFO", "level ERROR", "level DEBUG", "level ERROR").Replace(s.h.Caddyfile(set))
}

// soakPrices are rates in USD per million tokens, most of them with so many decimals that sums must
// be rounded. The key "" is every model of a provider that is not named.
var soakPrices = map[string]map[string]any{
	"":              {"prompt": "0.123456789", "completion": "1.987654321", "reasoning": "2.5"},
	"usage-all":     {"prompt": "1", "completion": "10"},
	"metered/model": {"prompt": "1.25", "completion": "10.000000007", "cache_read": "0.125", "cache_write": "1.5625", "reasoning": "12.5", "tiers": []any{map[string]any{"from": 20001, "prompt": "2.5", "completion": "15.3", "cache_read": "0.3"}}},
}

// writePrices writes the catalog: all models that kinds name, but "unpriced".
func (s *soak) writePrices() {
	s.t.Helper()
	var models []any
	add := func(id string, price any) { models = append(models, map[string]any{"id": id, "price": price}) }
	for _, provider := range []string{"fake", "router", "chatonly", "respond"} {
		for _, name := range soakModels {
			price, ok := soakPrices[name]
			if !ok {
				price = soakPrices[""]
			}
			add(provider+"/"+name, price)
		}
	}
	add("dear/echo", soakPrices[""])
	add("metered/model", soakPrices["metered/model"])
	add("metered/audio", soakPrices[""])
	add("billed/model", soakPrices[""])
	text, err := json.Marshal(map[string]any{"models": models})
	if err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.h.Dir, "prices.json"), text, 0o600); err != nil {
		s.t.Fatal(err)
	}
}
