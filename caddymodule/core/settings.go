package core

// Settings are the members of the app that the core has. Features add theirs, see [Feature].
type Settings struct {
	// Keys are the gateway keys. Without one every call is answered 401.
	Keys []Key `json:"keys,omitempty"`

	// KeyFiles are files of more keys: one a line, as a JSON object with the fields of a key. They
	// are read at each load. They are for many keys: Caddy does not handle them, so a load takes
	// less time and memory. Default: none.
	KeyFiles []string `json:"key_files,omitempty"`

	// Providers are the model providers.
	Providers []Provider `json:"providers,omitempty"`

	// Aliases are names that stand for several models. Default: none.
	Aliases Aliases `json:"aliases,omitempty"`

	// Tenants are the limits that all keys of a tenant share, and which tools they can call.
	// Default: no limit.
	Tenants []Tenant `json:"tenants,omitempty"`

	// Models are the limits of some models that all callers share. Default: no limit.
	Models []ModelLimit `json:"models,omitempty"`

	// GuardrailsOnAll are the names of the guardrails that read every model call. Default: none.
	GuardrailsOnAll []string `json:"guardrails_on_all,omitempty"`

	// Allowance is the limits that all callers share.
	Allowance

	LimitPolicy

	// Catalogs are files that describe models: the public LiteLLM price map, OpenRouter's /models
	// answer, or the short form of docs/catalog.md.
	Catalogs []string `json:"catalogs,omitempty"`

	// DataDir is the folder of the activity database (created with mode 0700). Only one process can
	// use it. Default: "gatehouse" in Caddy's data directory.
	DataDir string `json:"data_dir,omitempty"`

	// SharePorts lets the gateway start while another process listens on its ports: the kernel
	// spreads connections over both. Default: that is an error.
	SharePorts bool `json:"share_ports,omitempty"`

	// BodyMemory bounds the memory of request bodies, in bytes; above it callers get 429
	// gateway_busy. At least 64 MiB. Default: the lesser of 1 GiB and a quarter of GOMEMLIMIT.
	BodyMemory int64 `json:"body_memory,omitempty"`

	// AnswerMemory bounds the memory of providers' answers above 256 KiB, in bytes: whole ones, and
	// events of streams. Each counts twice. An answer that finds no memory within five seconds is
	// 429 gateway_busy. At least 256 MiB. Default: the lesser of 1 GiB and a quarter of GOMEMLIMIT.
	AnswerMemory int64 `json:"answer_memory,omitempty"`

	// Timeouts of a model call.
	Timeouts Timeouts `json:"timeouts,omitzero"`

	// Activity is how long activity rows are kept, and what they leave out.
	Activity Retention `json:"activity,omitzero"`

	// VNC configures desktops. Default: none.
	VNC *VNC `json:"vnc,omitempty"`
}
