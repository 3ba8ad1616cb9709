package api

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/request"
)

func TestParseFamily(t *testing.T) {
	for name, headers := range map[string]string{
		"openai": "X-Request-Id", "openrouter": "X-Generation-Id X-Request-Id", "anthropic": "Request-Id X-Request-Id",
	} {
		h := http.Header{}
		f, err := Parse(name)
		if err != nil || f.Name() != name {
			t.Fatalf("%s: %v, %v", name, f, err)
		}
		f.ShowIDs(h, request.IDs{RequestID: "req_1", GenerationID: "gen-1"})
		if shown := strings.Join(slices.Sorted(maps.Keys(h)), " "); shown != headers {
			t.Errorf("%s: %s, want %s", name, shown, headers)
		}
	}
	if _, err := Parse("OpenAI"); err == nil || !strings.Contains(err.Error(), `unknown family "OpenAI"; known families: openai, openrouter, anthropic`) {
		t.Errorf("error %v", err)
	}
}

func TestFamilyOfUnknownURLs(t *testing.T) {
	for path, want := range map[string]string{
		"/v1/nothing": "openai", "/api/v1/nothing": "openrouter", "/v1": "", "/api/v2/x": "", "/": "", "/v10/x": "",
	} {
		got := ""
		if f, ok := Of(path); ok {
			got = f.Name()
		}
		if got != want {
			t.Errorf("%q: %q, want %q", path, got, want)
		}
	}
}
