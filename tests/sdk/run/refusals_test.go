package main

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

func table(t *testing.T) []refusal {
	t.Helper()
	all, err := readRefusals("..")
	if err != nil || len(all) == 0 {
		t.Fatalf("%d lines, %v", len(all), err)
	}
	return all
}

func TestEveryLineOfTheTableHasAnExpectation(t *testing.T) {
	known := []string{"", "once", "thrice", "an hour", "answered"}
	for _, r := range table(t) {
		if r.Name == "" || r.Status < 400 || r.Code == "" || r.Type == "" || r.ErrorType == "" || len(r.Message) == 0 {
			t.Errorf("%+v lacks something", r)
		}
		if !slices.Contains(known, r.OpenAI) || !slices.Contains(known, r.OpenRouter) || r.OpenAI == "an hour" || r.OpenRouter == "thrice" {
			t.Errorf("%s: no such SDK: %q, %q", r.Name, r.OpenAI, r.OpenRouter)
		}
		if retried := r.OpenAI == "thrice" || r.OpenRouter == "an hour"; retried != (len(r.Waits) == 2) {
			t.Errorf("%s: waits %v", r.Name, r.Waits)
		}
		for name, pattern := range r.Headers {
			if _, err := regexp.Compile(pattern); err != nil || strings.ToLower(name) != name {
				t.Errorf("%s: header %q: %v", r.Name, name, err)
			}
		}
	}
}

func TestEveryCallHasAKeyOfItsOwn(t *testing.T) {
	valid := regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$`)
	names := make(map[string]bool)
	var all []refusedCall
	for n, suite := range []string{"openai-go-3.95.0/refusals", "openrouter-npm-1.3.19/refusals"} {
		calls := callsOf(table(t), suite, n)
		for _, c := range calls {
			if !valid.MatchString(c.KeyName) || names[c.KeyName] || len(c.Secret) < 12 {
				t.Errorf("key %q", c.KeyName)
			}
			names[c.KeyName] = true
			if n == 1 && c.API != "chat" {
				t.Errorf("%s: OpenRouter is called by %s", c.Name, c.API)
			}
		}
		all = append(all, calls...)
	}
	c, err := refusalsConfig(t.TempDir(), "http://127.0.0.1:1", all)
	if err != nil {
		t.Fatal(err)
	}
	for _, call := range all {
		if there := strings.Contains(c.text, "key "+call.KeyName+" {"); there != (call.Key != "none") {
			t.Errorf("key %s is in the Caddyfile: %v", call.KeyName, there)
		}
		if strings.Contains(c.text, call.Secret) {
			t.Errorf("the secret of %s is in the Caddyfile", call.KeyName)
		}
	}
}

func TestALineIsCalledWithEachAPIAndStreamed(t *testing.T) {
	yes := true
	for name, c := range map[string]struct {
		line  refusal
		suite string
		want  string
	}{
		"all":            {refusal{}, "openai-x", "chat chat-s responses responses-s"},
		"OpenRouter":     {refusal{}, "openrouter-x", "chat chat-s"},
		"streams":        {refusal{Stream: &yes}, "openai-x", "chat-s responses-s"},
		"one API":        {refusal{APIs: []string{"chat"}}, "openai-x", "chat chat-s"},
		"waits for real": {refusal{OpenAI: "answered"}, "openai-x", "chat responses"},
		"an hour":        {refusal{OpenRouter: "an hour"}, "openrouter-x", "chat"},
	} {
		var got []string
		for _, call := range callsOf([]refusal{c.line}, c.suite, 0) {
			api := call.API
			if call.Streamed {
				api += "-s"
			}
			got = append(got, api)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %v, want %s", name, got, c.want)
		}
	}
}
