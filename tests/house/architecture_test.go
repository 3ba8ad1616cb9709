package house

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/gatehouse-proxy/gatehouse/"

// foreign are the frameworks whose imports are checked.
var foreign = map[string]string{
	"github.com/caddyserver/caddy/v2":      "caddy",
	"github.com/mholt/caddy-l4":            "caddy-l4",
	"github.com/caddyserver/certmagic":     "certmagic",
	"modernc.org/sqlite":                   "sqlite",
	"github.com/prometheus/client_golang":  "prometheus",
	"github.com/rogpeppe/go-internal":      "testscript",
	"go.opentelemetry.io/otel":             "otel",
	"github.com/valkey-io/valkey-go":       "valkey-go",
	"github.com/coder/websocket":           "websocket",
	"github.com/jackc/pgx/v5":              "pgx",
	"github.com/gatehouse-proxy/gatehouse": "",
}

// arrows, with arrowsOfClusters, arrowsOfDesktops and arrowsOfTests, are all imports between packages, and of the frameworks, outside tests: from, to and why.
// arrows, with arrowsOfClusters, arrowsOfConsole and arrowsOfTests, are all imports between packages, and of the frameworks, outside tests: from, to
// and why.
// An import that is not here fails, and so does a row without an import.
var arrows = []struct{ from, to, why string }{
	{"caddymodule", "caddy", "a Caddy module"},
	{"caddymodule", "handlers", "one import brings the HTTP handlers with it"},
	{"caddymodule", "internal/activity", "the retention of the configuration"},
	{"caddymodule", "internal/caddykit", "options, the app's name"},
	{"caddymodule", "internal/catalog", "catalog files and provider blocks become the index"},
	{"caddymodule", "internal/gateway", "builds it"},
	{"caddymodule", "internal/guardrail", "guardrail blocks become guardrails"},
	{"caddymodule", "internal/limits", "limits in the blocks' words become subjects"},
	{"caddymodule", "internal/limits/shared", "the highest budget of a cluster"},
	{"caddymodule", "internal/keys", "key blocks become the ring; key new"},
	{"caddymodule", "internal/pattern", "models of timeouts"},
	{"caddymodule", "internal/provider", "provider blocks become providers"},
	{"caddymodule", "internal/runtimekeys", "the runtime_keys block"},
	{"caddymodule", "internal/secret", "placeholders of secrets"},
	{"caddymodule", "internal/testprovider", "the transport of dialect test"},
	{"caddymodule", "certmagic", "which names a public CA signs"},
	{"caddymodule", "internal/apierror", "refusals of the admin API"},
	{"caddymodule", "internal/workstation", "the vnc block becomes the service of workstations"},
	{"caddymodule", "internal/terminal", "tables and bars of its commands"},
	{"caddymodule", "l4vnc", "one import brings the layer-4 handler with it"},
	{"caddymodule", "internal/policy", "limits and guardrails of keys and models"},
	{"caddymodule", "internal/modelcall", "time limits of calls"},
	{"caddymodule", "internal/report", "the admin API shows limits and keys as the HTTP routes do"},
	{"caddymodule", "internal/upload", "the bounds of bodies"},
	{"caddymodule", "internal/handover", "connections that outlive a configuration"},
	{"caddymodule", "internal/clusterimport", "its command"},
	{"caddymodule", "internal/postgres", "addresses of the cluster block"},
	{"caddymodule", "internal/valkey", "the cluster block says where the engine is"},
	{"caddymodule", "internal/memory", "the default bounds of bodies and answers"},

	{"handlers", "caddy", "Caddy modules"},
	{"handlers", "internal/caddykit", "options, and where the gateway is"},
	{"handlers", "internal/apierror", "refusals become answers"},
	{"handlers", "internal/gateway", "the configuration that serves a request"},
	{"handlers", "internal/keys", "scopes of endpoints"},
	{"handlers", "internal/workstation", "issue, register, release"},
	{"handlers", "internal/api", "how each API is answered"},
	{"handlers", "internal/modelcall", "requests and their outcome, model calls"},
	{"handlers", "internal/report", "activity and keys as the API shows them"},

	{"internal/caddykit", "caddy", "the one package that knows Caddy"},
	{"internal/caddykit", "internal/gateway", "what the app shows to the handlers"},

	{"internal/gateway", "internal/activity", "one record a call"},
	{"internal/gateway", "internal/catalog", "which model, at what price"},
	{"internal/gateway", "internal/apierror", "its refusals"},
	{"internal/gateway", "internal/failover", "the health of targets outlives a configuration"},
	{"internal/gateway", "internal/inflight", "which calls and sessions are under way"},
	{"internal/gateway", "internal/keys", "who calls"},
	{"internal/gateway", "internal/limits", "rates, calls at once and budgets outlive a configuration"},
	{"internal/gateway", "internal/memory", "the memory of bodies and answers outlives a configuration"},
	{"internal/gateway", "internal/metrics", "one count a call"},
	{"internal/gateway", "internal/owners", "whose stored state it is"},
	{"internal/gateway", "internal/pattern", "the names that an alias can have"},
	{"internal/gateway", "internal/provider", "which provider serves a model"},
	{"internal/gateway", "internal/redact", "no secret in logs and errors"},
	{"internal/gateway", "internal/secret", "rotated secrets are redacted"},
	{"internal/gateway", "internal/runtimekeys", "keys made at run time outlive a configuration"},
	{"internal/gateway", "internal/store", "the State opens and closes it"},
	{"internal/gateway", "internal/connlimit", "half-open connections outlive a configuration"},
	{"internal/gateway", "internal/vncsession", "begins sessions of the configuration"},
	{"internal/gateway", "internal/workstation", "the service, and what outlives it"},
	{"internal/gateway", "internal/modelcall", "puts together what requests use"},
	{"internal/gateway", "internal/policy", "limits and guardrails of the configuration"},
	{"internal/gateway", "internal/upload", "what uploads have in common"},
	{"internal/gateway", "internal/cluster", "this gateway among the nodes of a cluster"},
	{"internal/gateway", "internal/postgres", "what a cluster keeps"},
	{"internal/gateway", "internal/workstation/shared", "desktops of a cluster"},
	{"internal/gateway", "internal/limits/shared", "limits of a cluster"},
	{"internal/gateway", "internal/valkey", "what a cluster shares"},

	{"internal/policy", "internal/apierror", "refusals by a budget or a cap"},
	{"internal/policy", "internal/guardrail", "guardrails that apply together"},
	{"internal/policy", "internal/keys", "whose limits they are"},
	{"internal/policy", "internal/limits", "subjects and their budgets"},
	{"internal/policy", "internal/pattern", "models of a model block"},
	{"internal/policy", "internal/upload", "the largest body"},

	{"internal/api", "internal/anthropic", "Anthropic's shapes"},
	{"internal/api", "internal/apierror", "error bodies"},
	{"internal/api", "internal/catalog", "the models of a list"},
	{"internal/api", "internal/modelcall", "it answers model calls"},
	{"internal/api", "internal/openai", "OpenAI's shapes"},
	{"internal/api", "internal/openrouter", "OpenRouter's shapes"},

	{"internal/modelcall", "internal/activity", "one record a request"},
	{"internal/modelcall", "internal/anthropic", "answers of the Messages API, versions of it"},
	{"internal/modelcall", "internal/apierror", "its refusals"},
	{"internal/modelcall", "internal/catalog", "which model, at what price"},
	{"internal/modelcall", "internal/failover", "the order of targets, and what follows a failure"},
	{"internal/modelcall", "internal/guardrail", "the guardrails of a call"},
	{"internal/modelcall", "internal/inflight", "which requests are under way"},
	{"internal/modelcall", "internal/jsonscan", "the body, walked once"},
	{"internal/modelcall", "internal/keys", "who calls"},
	{"internal/modelcall", "internal/limits", "rates, concurrency, budgets"},
	{"internal/modelcall", "internal/memory", "the bound of large answers"},
	{"internal/modelcall", "internal/metrics", "one count a request"},
	{"internal/modelcall", "internal/openai", "answers, usage, errors"},
	{"internal/modelcall", "internal/openai/params", "what a request asks for"},
	{"internal/modelcall", "internal/openrouter", "request fields and tools of a router"},
	{"internal/modelcall", "internal/owners", "whose stored state it is"},
	{"internal/modelcall", "internal/policy", "which limits, caps and guardrails hold"},
	{"internal/modelcall", "internal/provider", "the upstream request"},
	{"internal/modelcall", "internal/redact", "no secret in logs and errors"},
	{"internal/modelcall", "internal/sse", "the event stream, both ways"},
	{"internal/modelcall", "internal/translate", "whose reasoning a translation encoded"},
	{"internal/modelcall", "internal/translate/messagesonchat", "Messages calls of a provider without that API"},
	{"internal/modelcall", "internal/translate/responsesonchat", "Responses calls of a provider that has only chat"},
	{"internal/modelcall", "internal/translate/chatonmessages", "chat and Responses calls of a provider that has only Messages"},
	{"internal/modelcall", "internal/translate/chatonresponses", "chat calls of a provider that has only Responses"},
	{"internal/modelcall", "internal/upload", "the request body"},
	{"internal/modelcall", "internal/watchdog", "time limits of upload and provider"},
	{"internal/modelcall", "internal/tracing", "names of its spans and their attributes"},
	{"internal/modelcall", "otel", "the spans of a call"},

	{"internal/report", "internal/policy", "which limits a key may see"},
	{"internal/report", "internal/activity", "queries, rows and sums"},
	{"internal/report", "internal/apierror", "its refusals"},
	{"internal/report", "internal/keys", "whose key it is"},
	{"internal/report", "internal/limits", "the balances of a key"},
	{"internal/report", "internal/modelcall", "which request a translated Response is named after"},
	{"internal/report", "internal/openrouter", "the shapes of the API"},
	{"internal/report", "internal/runtimekeys", "keys made at run time"},

	{"internal/runtimekeys", "internal/apierror", "its refusals"},
	{"internal/runtimekeys", "internal/keys", "a key is one like any other to those who use it"},
	{"internal/runtimekeys", "internal/limits", "what it may use, in the words of the configuration"},
	{"internal/runtimekeys", "internal/policy", "the limits of a call"},
	{"internal/runtimekeys", "internal/pattern", "its models"},
	{"internal/runtimekeys", "internal/store", "rows go with its group commit"},
	{"internal/runtimekeys", "internal/postgres", "keys that several gateways share"},
	{"internal/runtimekeys", "pgx", "their rows"},

	{"internal/failover", "internal/apierror", "which refusals concern the target"},

	{"internal/upload", "internal/apierror", "its refusals"},
	{"internal/upload", "internal/memory", "the bound of all bodies"},
	{"internal/upload", "internal/watchdog", "an upload has a time limit"},

	{"internal/activity", "internal/store", "rows go with its group commit"},
	{"internal/activity", "internal/postgres", "rows of several gateways go with its batches"},
	{"internal/activity", "pgx", "their queries"},
	{"internal/activity/activitytest", "internal/activity", "the conformance of any log"},
	{"internal/limits/limitstest", "internal/limits", "the conformance of any ledger"},
	{"internal/limits", "internal/store", "long windows, holds and spending go with its group commit"},
	{"internal/guardrail", "internal/guardrail/detect", "rules become detectors, webhooks' redactions edits"},
	{"internal/guardrail", "internal/guardrail/document", "the texts of bodies and events"},
	{"internal/guardrail", "internal/jsonscan", "members of the events of a stream"},
	{"internal/guardrail", "internal/openai", "judges the events that the repair takes next"},
	{"internal/guardrail/document", "internal/guardrail/detect", "what is found in a text is taken out of its value"},
	{"internal/guardrail/document", "internal/jsonscan", "strings of the wire"},
	{"internal/owners", "internal/store", "rows go with its group commit"},
	{"internal/owners", "internal/postgres", "owners that several gateways share"},
	{"internal/owners", "internal/valkey", "what they know of one another at once"},
	{"internal/owners", "pgx", "rows"},
	{"internal/catalog", "internal/pattern", "models of a provider block"},
	{"internal/keys", "internal/pattern", "models of a key block"},
	{"internal/provider", "internal/pattern", "models of timeouts"},
	{"internal/metrics", "prometheus", "collectors"},
	{"internal/store", "sqlite", "the engine"},
	{"internal/openai", "internal/apierror", "its refusals"},
	{"internal/openai", "internal/jsonscan", "the wire is JSON"},
	{"internal/openai/params", "internal/apierror", "its refusals"},
	{"internal/openai/params", "internal/jsonscan", "the wire is JSON"},
	{"internal/openai/params", "internal/openai", "kinds of stored state, bounds of ids and tokens"},
	{"internal/anthropic", "internal/apierror", "error bodies of the API"},
	{"internal/anthropic", "internal/jsonscan", "the wire is JSON"},
	{"internal/anthropic", "internal/openai", "events, usage and summaries of all APIs"},
	{"internal/openrouter", "internal/apierror", "error bodies of the API"},
	{"internal/openrouter", "internal/failover", "routing fields become the order of targets"},
	{"internal/openrouter", "internal/jsonscan", "the wire is JSON"},
	{"internal/openrouter", "internal/openai", "its chat is OpenAI's with additions"},
	{"internal/openrouter", "internal/openai/params", "requests and the tools in them"},
	{"internal/translate", "internal/apierror", "its refusals"},
	{"internal/translate", "internal/jsonscan", "the wire is JSON"},
	{"internal/translate", "internal/openai", "the call whose provider failed"},
	{"internal/translate/chunks", "internal/apierror", "failures of a provider"},
	{"internal/translate/chunks", "internal/jsonscan", "the wire is JSON"},
	{"internal/translate/chunks", "internal/openai", "the chunks of a chat completion"},
	{"internal/translate/chunks", "internal/translate", "what the content of a chunk becomes"},
	{"internal/translate/messagesonchat", "internal/anthropic", "versions and errors of the Messages API"},
	{"internal/translate/messagesonchat", "internal/apierror", "its refusals"},
	{"internal/translate/messagesonchat", "internal/jsonscan", "the wire is JSON"},
	{"internal/translate/messagesonchat", "internal/openai", "chat is its shape at providers"},
	{"internal/translate/messagesonchat", "internal/translate", "requests are read and refused by one set of rules"},
	{"internal/translate/messagesonchat", "internal/translate/chunks", "the content of the provider's answer"},
	{"internal/translate/responsesonchat", "internal/apierror", "its refusals"},
	{"internal/translate/responsesonchat", "internal/jsonscan", "the wire is JSON"},
	{"internal/translate/responsesonchat", "internal/openai", "chat and Responses are its shapes"},
	{"internal/translate/responsesonchat", "internal/translate", "requests are read and refused by one set of rules"},
	{"internal/translate/chatonmessages", "internal/anthropic", "usage of the Messages API"},
	{"internal/translate/chatonmessages", "internal/apierror", "its refusals"},
	{"internal/translate/chatonmessages", "internal/catalog", "what the model takes"},
	{"internal/translate/chatonmessages", "internal/jsonscan", "the wire is JSON"},
	{"internal/translate/chatonmessages", "internal/openai", "chat is its shape"},
	{"internal/translate/chatonmessages", "internal/translate", "requests are read and refused by one set of rules"},
	{"internal/translate/responsesonchat", "internal/translate/chunks", "the content of the provider's answer"},
	{"internal/translate/chatonresponses", "internal/apierror", "its refusals"},
	{"internal/translate/chatonresponses", "internal/jsonscan", "the wire is JSON"},
	{"internal/translate/chatonresponses", "internal/openai", "chat and Responses are its shapes"},
	{"internal/translate/chatonresponses", "internal/translate", "requests are read and refused by one set of rules"},
	{"internal/translate/translatetest", "internal/apierror", "failures that tests expect"},
	{"internal/translate/translatetest", "internal/openai", "the streams that tests feed"},
	{"internal/translate/translatetest", "internal/sse", "events of a provider"},
	{"internal/translate/translatetest", "internal/translate", "the tables of fields that the manual shows"},
	{"internal/translate/translatetest", "testscript", "golden files"},
	{"internal/workstation", "internal/apierror", "its refusals over HTTP"},
	{"internal/workstation", "internal/tracing", "a token knows the trace of its request"},
	{"internal/tracing", "otel", "its API only: the exporter is Caddy's"},

	// For tests only: no product package may import the faults.
	{"internal/testprovider/faults", "internal/testprovider", "the requests and answers that it changes"},
}

func TestPackagesImportOnlyWhatTheTableSays(t *testing.T) {
	allowed := map[[2]string]bool{}
	for _, a := range slices.Concat(arrows, arrowsOfClusters, arrowsOfConsole, arrowsOfDesktops, arrowsOfTests) {
		key := [2]string{a.from, a.to}
		if _, twice := allowed[key]; twice || a.why == "" {
			t.Errorf("%s -> %s is given twice or without a reason", a.from, a.to)
		}
		allowed[key] = false
	}
	for _, file := range goFiles(t) {
		if strings.HasSuffix(file.path, "_test.go") {
			continue
		}
		for _, spec := range file.ast.Imports {
			path, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			to, watched := destination(path)
			key := [2]string{filepath.ToSlash(filepath.Dir(file.path)), to}
			if !watched || key[0] == to {
				continue
			}
			if _, ok := allowed[key]; !ok {
				t.Errorf("%s: %s imports %s, which the table does not allow", file.path, key[0], to)
			}
			allowed[key] = true
		}
	}
	for key, used := range allowed {
		if !used {
			t.Errorf("the table allows %s -> %s, which nobody uses", key[0], key[1])
		}
	}
}

// destination is the package or the framework of an import path.
func destination(path string) (to string, watched bool) {
	if pkg, ours := strings.CutPrefix(path, module); ours {
		return pkg, true
	}
	for prefix, name := range foreign {
		if name != "" && (path == prefix || strings.HasPrefix(path, prefix+"/")) {
			return name, true
		}
	}
	return "", false
}
