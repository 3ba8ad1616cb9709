package house

// features are the parts of the product that a build can be without: what a user gets, and where
// its code is. All that no feature has is the core. The core imports no feature, and a feature
// imports the core and what uses names; what is not so today is in crossings.
var features = []feature{
	{name: "Anthropic", what: "the Messages API, of callers and of providers", lines: 4_000,
		folders: []string{"internal/anthropic", "internal/translate/chatonmessages", "internal/translate/messagesonchat"},
		uses:    []string{"translations"}},
	{name: "Gemini", what: "Google's API, of callers and of providers", lines: 2_900, entry: "handlers/gemini",
		folders: []string{"handlers/gemini", "internal/gemini", "internal/translate/chatongemini", "internal/translate/embeddingsongemini"},
		uses:    []string{"translations"}},
	{name: "clouds", what: "Bedrock, Vertex AI and Azure: their credentials, addresses and protocols", lines: 3_500,
		folders: []string{"internal/cloudauth", "internal/translate/aws", "internal/translate/chatonconverse",
			"internal/translate/embeddingsonbedrock", "internal/translate/messagesoncloud"},
		uses: []string{"Anthropic", "translations"}},
	{name: "translations", what: "a call of one API for a provider that has another one", lines: 8_900,
		folders: []string{"internal/translate"}},
	{name: "sound", what: "speech and transcriptions, and how long a sound is that is paid by the minute", lines: 1_800, entry: "handlers/audio",
		folders: []string{"handlers/audio", "internal/sound"}},
	{name: "guardrails", what: "what is found in prompts and answers, and refused or taken out", lines: 7_400,
		folders: []string{"internal/guardrail"}},
	{name: "MCP", what: "servers of tools behind the gateway's keys and limits", lines: 3_800, entry: "handlers/mcp",
		folders: []string{"handlers/mcp", "internal/features/mcp", "internal/mcp", "internal/toolcall", "internal/toolserver"}},
	{name: "agents", what: "models that see and use a desktop", lines: 5_250, entry: "handlers/agents",
		folders: []string{"handlers/agents", "internal/computer", "internal/features/agents", "internal/framebuffer",
			"internal/mcp/desktops", "internal/screen", "internal/screencall"},
		uses: []string{"MCP"}},
	{name: "recordings", what: "sessions that are recorded and watched later", lines: 3_000, entry: "handlers/recordings",
		folders: []string{"handlers/recordings", "internal/features/recordings", "internal/recording", "internal/replay"},
		uses:    []string{"agents", "browser desktop"}},
	{name: "sources", what: "control planes that are asked for workstations", lines: 1_200,
		folders: []string{"internal/source"}},
	{name: "browser desktop", what: "a desktop in a page, and a native viewer over HTTPS", lines: 1_300, entry: "handlers/vncsocket",
		folders: []string{"handlers/vncsocket", "internal/vncsocket", "internal/wsconn"}},
	{name: "viewer command", what: "caddy gatehouse desktop, on the machine of a person", lines: 800, entry: "caddymodule/viewer",
		folders: []string{"caddymodule/viewer", "internal/vnclocal"},
		uses:    []string{"operators"}},
	{name: "descriptions", what: "schemas of the configuration and of the API, for editors and generators", lines: 1_300, entry: "handlers/openapi",
		folders: []string{"caddymodule/schema", "handlers/openapi", "internal/jsonschema"},
		uses:    []string{"guardrails", "MCP", "operators"}},
	{name: "run-time keys", what: "keys that are made and changed over HTTP", lines: 3_300, entry: "handlers/keys",
		folders: []string{"handlers/keys", "internal/features/runtimekeys", "internal/runtimekeys"}},
	{name: "identity", what: "people who sign in at identity providers, and programs with their tokens", lines: 2_500,
		folders: []string{"internal/features/identity", "internal/features/signin", "internal/identity", "internal/signin"}},
	{name: "sign-ins to programs", what: "Claude Code and others sign people in at the gateway", lines: 2_700, entry: "handlers/authserver",
		folders: []string{"handlers/authserver", "internal/authserver", "internal/features/authserver"},
		uses:    []string{"identity"}},
	{name: "several gateways", what: "limits, keys, desktops and rows that gateways share", lines: 11_200,
		folders: []string{"internal/activity/postgres", "internal/authserver/postgres", "internal/cluster", "internal/clusterimport", "internal/desktop/postgres", "internal/desktop/valkey",
			"internal/features/cluster", "internal/limits/valkey", "internal/owners/postgres", "internal/postgres", "internal/valkey"},
<<<<<<< HEAD
		uses: []string{"console", "run-time keys", "sign-ins to programs"}},
	{name: "console", what: "pages for people", lines: 11_000, entry: "handlers/console",
=======
		uses: []string{"console", "run-time keys"}},
	{name: "console", what: "pages for people", lines: 11_200, entry: "handlers/console",
>>>>>>> h-signin
		folders: []string{"handlers/console", "internal/chart", "internal/console", "internal/features/console", "internal/websession"}},
	{name: "operators", what: "commands and the admin API: check, why, init, tables", lines: 6_100, entry: "caddymodule/cli",
		folders: []string{"caddymodule/admin", "caddymodule/check", "caddymodule/cli", "caddymodule/migrate", "caddymodule/offline",
			"caddymodule/setup", "caddymodule/why", "internal/terminal"},
		uses: []string{"MCP", "run-time keys", "several gateways"}},
	{name: "demo", what: "a provider, tools and a desktop to try the gateway with", lines: 2_500,
		folders: []string{"internal/mcp/demo", "internal/testcard", "internal/testprovider"},
		uses:    []string{"MCP"}},
	{name: "handover", what: "connections that outlive a configuration", lines: 700,
		folders: []string{"internal/handover"}},
}

// coreLines bounds the product code that is in no feature, and allLines the whole product.
const (
	coreLines = 74_000
<<<<<<< HEAD
	allLines  = 156_000
=======
	allLines  = 152_750
>>>>>>> h-signin
)

// closures bound what a reader of a package has to have with it: our packages that it reaches by
// its imports, itself too, and their product lines.
var closures = []closure{
	{"l4vnc", 17, 26_500, "native viewers, from the port to the workstation"},
	{"internal/vncrelay", 15, 25_300, "viewers of all kinds, without Caddy"},
	{"internal/modelcall", 51, 64_000, "a chat, without the endpoints"},
	{"internal/toolcall", 28, 32_200, "a call of a tool, without the endpoints"},
	{"handlers", 59, 80_500, "all endpoints"},
	{"handlers/console", 76, 103_400, "the console"},
	{"internal/desktop", 5, 12_000, "workstations, tokens and sessions"},
	{"internal/recording", 5, 8_900, "recordings"},
	{"internal/guardrail", 7, 15_200, "guardrails"},
	{"internal/runtimekeys", 18, 25_700, "keys made at run time"},
	{"internal/handover", 1, 700, "connections that outlive a configuration"},
}

// crossings are the imports of features from where they should not be, until each is gone. The
// list only gets shorter.
var crossings = [][2]string{
	{"caddymodule", "caddymodule/admin"},
	{"caddymodule", "caddymodule/check"},
	{"caddymodule", "caddymodule/offline"},
	{"caddymodule", "caddymodule/schema"},
	{"caddymodule", "caddymodule/setup"},
	{"caddymodule", "internal/cloudauth"},
	{"caddymodule", "internal/guardrail"},
	{"caddymodule", "internal/handover"},
	{"caddymodule", "internal/mcp/client"},
	{"caddymodule", "internal/mcp/demo"},
	{"caddymodule", "internal/mcp/desktops"},
	{"caddymodule", "internal/postgres"},
	{"caddymodule", "internal/recording"},
	{"caddymodule", "internal/runtimekeys"},
	{"caddymodule", "internal/screen"},
	{"caddymodule", "internal/source"},
	{"caddymodule", "internal/testprovider"},
	{"caddymodule", "internal/toolserver"},
	{"caddymodule", "internal/valkey"},
	{"handlers/console", "internal/mcp/client"},
	{"handlers/console", "internal/vncsocket"},
	{"internal/admission", "internal/guardrail"},
	{"internal/api", "internal/anthropic"},
	{"internal/api", "internal/gemini"},
	{"internal/api", "internal/mcp"},
	{"internal/desktop", "internal/source"},
	{"internal/modelcall", "internal/guardrail"},
	{"internal/modelcall", "internal/sound"},
	{"internal/modelcall", "internal/translate"},
	{"internal/modelcall/adapter", "internal/translate"},
	{"internal/modelcall/adapter", "internal/translate/chatonconverse"},
	{"internal/modelcall/adapter", "internal/translate/chatongemini"},
	{"internal/modelcall/adapter", "internal/translate/conversation"},
	{"internal/modelcall/adapter", "internal/translate/embeddingsonbedrock"},
	{"internal/modelcall/adapter", "internal/translate/embeddingsongemini"},
	{"internal/modelcall/adapter", "internal/translate/messagesoncloud"},
	{"internal/modelcall/wire", "internal/anthropic"},
	{"internal/modelcall/wire", "internal/gemini"},
	{"internal/modelcall/wire", "internal/guardrail"},
	{"internal/modelcall/wire", "internal/translate/chatonmessages"},
	{"internal/modelcall/wire", "internal/translate/chatonresponses"},
	{"internal/modelcall/wire", "internal/translate/conversation"},
	{"internal/modelcall/wire", "internal/translate/messagesonchat"},
	{"internal/modelcall/wire", "internal/translate/responsesonchat"},
	{"internal/openai/params", "internal/gemini"},
	{"internal/openai/params", "internal/sound"},
	{"internal/policy", "internal/guardrail"},
	{"internal/runtimekeys", "internal/postgres"},
	{"internal/vncrelay", "internal/framebuffer"},
	{"internal/vncrelay", "internal/recording"},
	{"internal/vncrelay", "internal/testcard"},
	{"internal/vncsession", "internal/recording"},
	{"internal/websession", "internal/cluster"},
	{"internal/websession", "internal/valkey"},
}
