package caddymodule

import "github.com/caddyserver/caddy/v2"

// Allowance is what a key, a tenant or the whole gateway may use.
type Allowance struct {
	// Rates bound requests, or tokens, in any stretch of time of that length:
	// "60/min", "100000 tokens/min"; the windows are s, min, h and day. They
	// count model calls. Default: no bound.
	Rates []string `json:"rates,omitempty"`

	// Concurrency bounds the model calls at once: "10", or "10 queue 20 2s"
	// (20 more may wait, 2 seconds each). Default: no bound.
	Concurrency string `json:"concurrency,omitempty"`

	// Budgets bound money and tokens in a calendar period in UTC: "10usd/day",
	// "5M tokens/month", "100usd/total"; the periods are day, week, month and
	// total. A call reserves the most that it can use before it is sent; with
	// "soft" at the end what it will likely use, and the budget may be overrun
	// by the difference. Default: no bound.
	Budgets []string `json:"budgets,omitempty"`
}

// Caps bound what one request may ask for; 0 is no bound.
type Caps struct {
	// MaxMessages bounds the elements of messages or input. Default: no bound.
	MaxMessages int `json:"max_messages,omitempty"`

	// MaxTools bounds the tools that a request declares, wherever it does so; a
	// namespace and each of its members count. Default: no bound.
	MaxTools int `json:"max_tools,omitempty"`

	// MaxOutputTokens bounds what a request may ask for, in tokens of one
	// choice, and is asked for where the request does not say. Default: no bound.
	MaxOutputTokens int64 `json:"max_output_tokens,omitempty"`

	// MaxBody bounds a request's body, in bytes, at most 256 MiB; of a key's
	// and a model's the lesser counts. Default: 32 MiB.
	MaxBody int64 `json:"max_body,omitempty"`

	// ClampOutput lowers what is above MaxOutputTokens instead of refusing it
	// with 400. Default: false.
	ClampOutput bool `json:"clamp_output,omitempty"`
}

// Tenant is what all keys of a tenant may use together.
type Tenant struct {
	// Name is the tenant's. Required; a key must name it.
	Name string `json:"name"`

	Allowance
}

// ModelLimit is what all callers may use together of the models of a pattern.
type ModelLimit struct {
	// Pattern is over "<provider>/<model>" ("*" matches any run of characters).
	// Required. Where several patterns match a model, all hold.
	Pattern string `json:"pattern"`

	// Rates are as in a key's block. There are no budgets. Default: no bound.
	Rates []string `json:"rates,omitempty"`

	// Concurrency is as in a key's block. Default: no bound.
	Concurrency string `json:"concurrency,omitempty"`

	// Guardrails are the names of those that read calls of these models.
	// Default: those of the key and of the gateway.
	Guardrails []string `json:"guardrails,omitempty"`

	Caps
}

// LimitPolicy is how limits act.
type LimitPolicy struct {
	// OnStoreFailure is what becomes of a call under a budget while the ledger
	// cannot be written: "open" lets it go on without a reservation, "closed"
	// refuses it with 503. Default: closed for keys under a hard budget of
	// money, open for others.
	OnStoreFailure string `json:"on_store_failure,omitempty"`

	// Drain is how long a provider's answer is read on after its client has
	// left, so that its usage is known. Default: 0, the provider's work is
	// cancelled at once and its usage estimated.
	Drain caddy.Duration `json:"drain,omitempty"`
}
