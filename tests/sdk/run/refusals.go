package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/tests/process"
)

// refusal is a line of tests/sdk/refusals.json: a call, and how an SDK must see its refusal. The
// call is made with each API, streamed and not, and each time with a key of its own, so that no
// call reaches a limit that another has used up.
type refusal struct {
	Name   string   `json:"name"`
	Key    string   `json:"key"`              // a line of the key's block; "none": an unknown key
	APIs   []string `json:"apis,omitempty"`   // all if absent
	Stream *bool    `json:"stream,omitempty"` // both if absent

	Model  string `json:"model"`  // fake/echo if absent
	Text   string `json:"text"`   // the user's text; hello if absent
	Size   int    `json:"size"`   // or that many bytes
	Tokens int    `json:"tokens"` // the output limit of the request; 0: none
	Before int    `json:"before"` // that many calls are answered before
	Hold   bool   `json:"hold"`   // a stream is open meanwhile

	Status    int      `json:"status"`
	Code      string   `json:"code"`       // and that of the activity
	Type      string   `json:"type"`       // OpenAI API
	ErrorType string   `json:"error_type"` // OpenRouter API
	Param     string   `json:"param"`      // OUTPUT: the API's name of the output limit
	Limit     string   `json:"limit"`      // key: it is the key's, as in limit_source and message
	Reasons   []string `json:"reasons"`    // OpenRouter API, not in a stream
	Message   []string `json:"message"`    // texts in the message
	Hidden    string   `json:"hidden"`     // a text that is not in it
	Inside    string   `json:"inside"`     // the beginning of a stream that ends with the error
	// Headers are regular expressions of the whole value; "" means that the header is absent.
	Headers map[string]string `json:"headers"`

	// OpenAI and OpenRouter are what their SDKs do by default: once, thrice, an hour (of the SDK's
	// clock, which the suites advance), or answered: the second request succeeds.
	OpenAI     string `json:"openai,omitempty"`
	OpenRouter string `json:"openrouter,omitempty"`
	Waits      []int  `json:"waits"` // the least and the most seconds between requests
}

// refusedCall is what a suite reads: one call of a refusal.
type refusedCall struct {
	refusal
	API      string `json:"api"` // chat or responses
	Streamed bool   `json:"streamed"`
	Secret   string `json:"secret"`   // of the key
	KeyName  string `json:"key_name"` // in the activity
	Requests string `json:"requests"` // once, thrice, an hour, answered
}

const refusalsTarget = "refusals"

func readRefusals(sources string) (all []refusal, err error) {
	file := filepath.Join(sources, "refusals.json")
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	decoder := json.NewDecoder(strings.NewReader(string(text)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&all); err != nil {
		return nil, fmt.Errorf("reading %s: %w", file, err)
	}
	return all, nil
}

// callsOf are the calls of the n-th suite, with what its SDK does after each.
func callsOf(all []refusal, suite string, n int) (calls []refusedCall) {
	openRouter := strings.HasPrefix(suite, "openrouter-")
	for _, r := range all {
		apis := r.APIs
		switch {
		case openRouter:
			apis = []string{"chat"}
		case apis == nil:
			apis = []string{"chat", "responses"}
		}
		r.Model, r.Text = or(r.Model, "fake/echo"), or(r.Text, or(strings.Repeat("x", r.Size), "hello"))
		requests := or(r.OpenAI, "once")
		if openRouter {
			requests = or(r.OpenRouter, "once")
		}
		for _, api := range apis {
			for _, streamed := range []bool{false, true} {
				if r.Stream != nil && *r.Stream != streamed || streamed && (requests == "an hour" || requests == "answered") {
					continue
				}
				c := refusedCall{refusal: r, API: api, Streamed: streamed, Secret: process.Secret(), Requests: requests}
				c.KeyName = fmt.Sprintf("%s.%d.%s", strings.ReplaceAll(r.Name, " ", "-"), n, api)
				if streamed {
					c.KeyName += ".stream"
				}
				calls = append(calls, c)
			}
		}
	}
	return calls
}

func or(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

// refusalsConfig is the gateway that refuses, with the keys of the calls.
func refusalsConfig(dir, fakeOrigin string, calls []refusedCall) (configuration, error) {
	ports, err := process.FreePorts(2) // nobody listens on the second: the moderator
	if err != nil {
		return configuration{}, err
	}
	catalogFile := filepath.Join(dir, "prices.json")
	if err := os.WriteFile(catalogFile, []byte(refusalsCatalog), 0o600); err != nil {
		return configuration{}, err
	}
	var keys strings.Builder
	for _, c := range calls {
		if c.Key == "none" {
			continue
		}
		line := c.Key
		if !strings.HasPrefix(line, "scopes ") {
			line = "scopes chat:write\n\t\t\t" + line
		}
		fmt.Fprintf(&keys, "\t\tkey %s {\n\t\t\thash sha256:%x\n\t\t\t%s\n\t\t}\n", c.KeyName, sha256.Sum256([]byte(c.Secret)), line)
	}
	return configuration{
		http: ports[0],
		text: fmt.Sprintf(refusalsCaddyfile, ports[0], keys.String(), catalogFile, fakeOrigin, ports[1]),
	}, nil
}

// refusalsCatalog has no price for fake/no-usage.
const refusalsCatalog = `{
	"fake/echo": {"litellm_provider": "fake", "mode": "chat", "max_tokens": 4096,
		"input_cost_per_token": 1e-06, "output_cost_per_token": 2e-06},
	"` + uncallable + `": {"litellm_provider": "elsewhere", "mode": "chat", "max_tokens": 4096,
		"input_cost_per_token": 1e-06, "output_cost_per_token": 2e-06}
}
`

// refusalsCaddyfile takes the port of the site, the blocks of the keys, the catalog, the origin of
// the fake provider, and a port that nobody listens on.
const refusalsCaddyfile = `{
	admin off
	persist_config off
	grace_period 5s
	gatehouse {
		key caller {
			secret {env.SDK_CALLER_KEY}
			scopes chat:write models:read
		}
		key reader {
			secret {env.SDK_READER_KEY}
			scopes activity:read
		}
%[2]s
		provider fake {
			base_url %[4]s/v1
			api_key {env.SDK_FAKE_KEY}
			models echo no-usage stall err-401 err-429 err-500
			responses native
		}
		guardrail gate-input {
			on input
			deny words forbidden
		}
		guardrail gate-output {
			on output
			window 8
			deny words forbidden
		}
		guardrail judge-input {
			on input
			webhook http://127.0.0.1:%[5]d {
				timeout 1s
			}
		}
		guardrail judge-output {
			on output
			webhook http://127.0.0.1:%[5]d {
				timeout 1s
				refuse_streams
			}
		}
		catalog %[3]s
	}
}

http://:%[1]d {
	bind 127.0.0.1
	handle /metrics {
		metrics
	}
	gatehouse
}
`

// runRefusals runs the suites of refusals against their own gateway.
func runRefusals(ctx context.Context, p peers, dir string, fake *fakeProvider, chosen []suite, report func(*process.Result) error) (bool, error) {
	all, err := readRefusals(p.sources)
	if err != nil {
		return false, err
	}
	var keys []refusedCall
	files := make([]string, len(chosen))
	for i, s := range chosen {
		calls := callsOf(all, s.name, i)
		if p.cluster != nil { // each gateway counts those that it has refused itself
			calls = slices.DeleteFunc(calls, func(c refusedCall) bool { return c.Key == "none" })
		}
		keys = append(keys, calls...)
		text, err := json.Marshal(calls)
		if err != nil {
			return false, err
		}
		files[i] = filepath.Join(dir, fmt.Sprintf("calls-%d.json", i))
		if err := os.WriteFile(files[i], text, 0o600); err != nil {
			return false, err
		}
	}
	g, err := start(ctx, p, dir, func(dir string) (configuration, error) { return refusalsConfig(dir, fake.origin, keys) })
	if err != nil {
		return false, err
	}
	defer g.Stop()
	return g.runSuites(ctx, chosen, report, func(i int) []string {
		return append(g.environment(refusalsTarget, false, fake.origin), "GATEWAY_CALLS="+files[i])
	})
}
