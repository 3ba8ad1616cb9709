package soak

import (
	"math/rand/v2"
	"strings"
	"time"

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// soakCall describes a call to make.
type soakCall struct {
	n      int
	rng    *rand.Rand
	key    string
	path   string
	model  string
	text   string // the user's text
	more   string // more members of the body
	raw    string // the whole body, instead
	stream bool

	unannounced bool           // without a Content-Length
	upload      soakUpload     // how the body is sent
	disconnect  soakDisconnect // when the client disconnects
	after       time.Duration  // for disconnectLater
	panics      string         // what panics: "read" or "write"
	absent      string         // must not be in the answer
}

type soakUpload int

const (
	uploadWhole soakUpload = iota
	uploadStalls
)

type soakDisconnect int

const (
	disconnectNever soakDisconnect = iota
	disconnectAtProvider
	disconnectMid
	disconnectLater
)

// soakKind is a way in which calls end.
type soakKind struct {
	name           string
	weight         int
	make           func(*soakCall)
	codes          string // the possible codes of the record, each of which must occur in a long run; "ok" is none
	also           string // further possible codes: a client may disconnect too late
	noRow          bool   // without a valid key
	reportsFailure bool   // the answer is whole and reports its own failure
}

// soakModels are the models with a price.
var soakModels = []string{
	"echo", "reasoning", "sloppy", "tools", "usage-inline", "usage-each", "crlf", "length", "no-usage", "usage-all", "usage-more", "stall",
	"paced-8-20", "paced-4-50", "delayed-headers-60000", "no-answer", "cut-mid-stream", "cut-reset", "cut-clean", "not-json-200", "malformed",
	"html-502", "empty", "error-200", "redirect-307", "err-mid-stream", "err-first-event", "response-failed", "err-500", "err-503", "err-401",
	"err-402", "err-429", "err-429-insufficient_quota", "err-400", "err-404", "err-413", "err-422", "err-400-context_length_exceeded",
	"err-400-content_policy_violation",
}

func pickOf[T any](c *soakCall, list ...T) T { return list[c.rng.IntN(len(list))] }

// to makes it a call of one of the models, to any provider that has any.
func (c *soakCall) to(models ...string) {
	c.model = pickOf(c, "fake/", "fake/", "chatonly/", "respond/", "router/") + pickOf(c, models...)
}

// as makes it a call by one of the keys.
func (c *soakCall) as(keys ...string) { c.key = pickOf(c, keys...) }

func (c *soakCall) either() { c.stream = c.rng.IntN(2) == 0 }

const leaving = "client_closed_request"

func soakKinds() []soakKind {
	plain := func(c *soakCall) { c.as("full", "soft"); c.to("echo") }
	return []soakKind{
		{name: "whole answer", weight: 10, codes: "ok", make: func(c *soakCall) { plain(c); c.to("echo", "reasoning", "sloppy", "tools", "usage-all", "length") }},
		{name: "stream", weight: 10, codes: "ok", make: func(c *soakCall) {
			plain(c)
			c.to("echo", "reasoning", "tools", "usage-inline", "usage-each", "crlf", "paced-8-20")
			c.stream = true
		}},
		{name: "metered usage", weight: 8, codes: "ok", make: func(c *soakCall) { plain(c); c.model = "metered/model"; c.either() }},
		{name: "reported cost", weight: 6, codes: "ok", make: func(c *soakCall) { plain(c); c.model = pickOf(c, "billed/model", "dear/echo"); c.either() }},
		{name: "use without a price", weight: 2, codes: "ok", make: func(c *soakCall) { plain(c); c.model = "metered/audio"; c.either() }},
		{name: "no usage", weight: 3, codes: "ok", make: func(c *soakCall) { plain(c); c.to("no-usage"); c.either() }},
		{name: "more than reserved", weight: 2, codes: "ok", make: func(c *soakCall) { plain(c); c.to("usage-more"); c.more = c.limit("50"); c.either() }},
		{name: "no price", weight: 2, codes: "ok", make: func(c *soakCall) { c.as("free"); c.to("byte-wise", "comments"); c.either() }},

		{name: "provider's status", weight: 7, codes: "upstream_error upstream_auth_error upstream_quota_exhausted upstream_rate_limited upstream_rejected context_length_exceeded provider_content_policy", make: func(c *soakCall) {
			plain(c)
			c.to("err-500", "err-503", "err-401", "err-402", "err-429", "err-429-insufficient_quota", "err-400", "err-404", "err-413", "err-422", "err-400-context_length_exceeded", "err-400-content_policy_violation")
			c.either()
		}},
		{name: "provider breaks off", weight: 6, codes: "upstream_error", make: func(c *soakCall) { plain(c); c.to("no-answer", "cut-mid-stream", "cut-reset", "cut-clean"); c.either() }},
		{name: "provider's nonsense", weight: 6, codes: "upstream_error", make: func(c *soakCall) {
			plain(c)
			c.to("not-json-200", "malformed", "html-502", "empty", "error-200", "redirect-307")
			c.either()
		}},
		{name: "provider's error event", weight: 4, codes: "upstream_error", also: "ok", reportsFailure: true, make: func(c *soakCall) { plain(c); c.to("err-mid-stream", "err-first-event", "response-failed"); c.either() }},
		{name: "header timeout", weight: 1, codes: "upstream_timeout", make: func(c *soakCall) { plain(c); c.to("delayed-headers-60000"); c.either() }},
		{name: "idle timeout", weight: 1, codes: "upstream_timeout", make: func(c *soakCall) { plain(c); c.to("stall"); c.stream = true }},

		{name: "gone before the answer", weight: 3, codes: leaving, make: func(c *soakCall) {
			plain(c)
			c.to("delayed-headers-60000")
			c.either()
			c.disconnect = disconnectAtProvider
		}},
		{name: "gone in mid-stream", weight: 5, codes: leaving, also: "ok", make: func(c *soakCall) {
			plain(c)
			c.to("stall", "paced-8-20")
			c.stream, c.disconnect = true, disconnectMid
		}},
		{name: "gone at any moment", weight: 6, codes: leaving, also: "ok", make: func(c *soakCall) {
			plain(c)
			c.to("echo", "paced-4-50")
			c.either()
			c.disconnect, c.after = disconnectLater, time.Duration(c.rng.IntN(40_000))*time.Microsecond
		}},
		{name: "gone while uploading", weight: 2, codes: leaving, make: func(c *soakCall) {
			plain(c)
			c.upload, c.disconnect, c.after = uploadStalls, disconnectLater, 50*time.Millisecond
		}},
		{name: "upload timeout", weight: 1, codes: "request_timeout", make: func(c *soakCall) { plain(c); c.upload = uploadStalls }},

		{name: "guardrail, request", weight: 3, codes: "guardrail_blocked", make: func(c *soakCall) { c.as("guarded"); c.to("echo"); c.text = "this is forbidden"; c.either() }},
		{name: "guardrail, answer", weight: 3, codes: "guardrail_blocked", make: func(c *soakCall) { c.as("guarded"); c.to("echo"); c.text = "this is verboten" }},
		{name: "guardrail, stream", weight: 3, codes: "guardrail_blocked", make: func(c *soakCall) {
			c.as("guarded")
			c.to("echo")
			c.text, c.stream = strings.Repeat("well ", 10)+"verboten "+strings.Repeat("after ", 10), true
		}},
		{name: "redacted", weight: 4, codes: "ok", make: func(c *soakCall) {
			c.as("masked")
			c.to("echo")
			c.text, c.absent = "pay 4111 1111 1111 1111 to ann@example.com", "1111 "
			c.either()
		}},

		{name: "rate", weight: 5, codes: "ok rate_limit_exceeded", make: func(c *soakCall) { c.as("rated"); c.to("echo"); c.either() }},
		{name: "rate of tokens", weight: 3, codes: "ok rate_limit_exceeded", make: func(c *soakCall) { c.as("tokened"); c.to("echo"); c.either() }},
		{name: "calls at once", weight: 6, codes: "ok concurrency_limit_exceeded", make: func(c *soakCall) {
			c.as("gated")
			c.to("paced-4-50")
			c.path = pickOf(c, harness.ChatV1, harness.ChatRouter)
			c.stream = true
		}},
		{name: "budget", weight: 4, codes: "ok budget_exceeded", make: func(c *soakCall) { c.as("poor"); c.to("usage-all"); c.either() }},
		{name: "not priced", weight: 2, codes: "cannot_be_priced", make: func(c *soakCall) { plain(c); c.to("byte-wise"); c.either() }},
		{name: "caps", weight: 3, codes: "invalid_value", make: func(c *soakCall) {
			c.as("capped")
			c.to("echo")
			c.more = c.limit("101")
			c.either()
		}},
		{name: "too large", weight: 2, codes: "request_too_large", make: func(c *soakCall) {
			c.as("capped")
			c.to("echo")
			c.text, c.unannounced = strings.Repeat("x", 2000+c.rng.IntN(150_000)), c.rng.IntN(2) == 0
		}},
		{name: "bad JSON", weight: 2, codes: "invalid_json", make: func(c *soakCall) {
			plain(c)
			c.raw = pickOf(c, "{", `{"model":"fake/echo","model":"fake/echo"}`, `{"model":"fake/echo"} x`, "\xff{}")
		}},
		{name: "unknown model", weight: 2, codes: "model_not_found", make: func(c *soakCall) { plain(c); c.model = pickOf(c, "nobody/echo", "echo", "") + "x" }},
		{name: "scope", weight: 1, codes: "insufficient_scope", make: func(c *soakCall) { plain(c); c.as("reader") }},
		{name: "no such key", weight: 1, noRow: true, make: func(c *soakCall) { plain(c); c.key = "nobody" }},
		{name: "panic in the request", weight: 1, codes: "internal", make: func(c *soakCall) { plain(c); c.panics = "read" }},
		{name: "panic in the answer", weight: 1, codes: "internal", make: func(c *soakCall) { plain(c); c.stream, c.panics = true, "write" }},
	}
}

// limit is the member that bounds the output.
func (c *soakCall) limit(n string) string {
	if strings.HasSuffix(c.path, "/responses") {
		return `,"max_output_tokens":` + n
	}
	return `,"max_tokens":` + n
}
