package caddymodule

import "github.com/caddyserver/caddy/v2"

// Guardrail refuses texts of callers and of models, or takes something out of
// them. It reads the calls of the blocks that name it.
type Guardrail struct {
	// Name is what callers are told was in the way. Required, unique: 1 to 64
	// letters, digits, dots, dashes and underscores.
	Name string `json:"name"`

	// On says which texts are read: "input", "output" or "both". Default: both.
	On string `json:"on,omitempty"`

	// Rules are all tried on each text. Required where there is no webhook; at
	// most 64.
	Rules []GuardRule `json:"rules,omitempty"`

	// Window is by how many characters a streamed answer is delayed at most,
	// and how long a text may be that is surely found whole in one. At most
	// 8192. Default: 256.
	Window int `json:"window,omitempty"`

	// Webhook is an outside moderator, asked after the rules. Default: none.
	Webhook *GuardWebhook `json:"webhook,omitempty"`
}

// GuardRule is one rule of a guardrail.
type GuardRule struct {
	// Guardrail is what becomes of a text in which something is found: "deny"
	// refuses the call with 422, "redact" replaces what was found. Required.
	Guardrail string `json:"guardrail"`

	// Detector is how it is found: "secrets" (API keys and other credentials,
	// by the rules of gitleaks), "email", "card" (payment cards), "words" or
	// "regexp". Required.
	Detector string `json:"detector"`

	// Words are those of "words", found whole and in any case; a phrase is one
	// element. At most 10,000.
	Words []string `json:"words,omitempty"`

	// Pattern is that of "regexp", in Go's syntax; it must not match an empty
	// text.
	Pattern string `json:"pattern,omitempty"`
}

// GuardWebhook is an outside moderator; docs/guardrails.md says what it is
// asked and answers.
type GuardWebhook struct {
	// URL is where it is asked by POST, http or https. Required.
	URL string `json:"url"`

	// APIKey is sent to it as a bearer token: {env.NAME} or {file./path}.
	// Default: none.
	APIKey string `json:"api_key,omitempty"`

	// Timeout is how long asking may take, all in all. Default: 2s.
	Timeout caddy.Duration `json:"timeout,omitempty"`

	// OnFailure is what becomes of a text that it did not judge: "open" lets it
	// pass, "closed" refuses the call with 503. Default: closed.
	OnFailure string `json:"on_failure,omitempty"`

	// RefuseStreams refuses calls that ask for a stream, which no webhook can
	// judge before it has ended. Required on output. Default: false.
	RefuseStreams bool `json:"refuse_streams,omitempty"`
}
