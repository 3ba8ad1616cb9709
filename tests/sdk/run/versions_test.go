package main

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// sdks are the SDKs by the beginning of a suite's name: the name in docs/compatibility.md, and what
// stands before the version in a manifest.
var sdks = map[string]struct{ documented, pinned string }{
	"openai-python-":     {"openai (Python)", "\nopenai=="},
	"openrouter-python-": {"openrouter (Python)", "\nopenrouter=="},
	"anthropic-python-":  {"anthropic (Python)", "\nanthropic=="},
	"openai-npm-":        {"openai (npm)", `"openai": "`},
	"openrouter-npm-":    {"@openrouter/sdk (TypeScript)", `"npm:@openrouter/sdk@`},
	"anthropic-npm-":     {"@anthropic-ai/sdk (TypeScript)", `"npm:@anthropic-ai/sdk@`},
	"google-python-":     {"google-genai (Python)", "\ngoogle-genai=="},
	"google-npm-":        {"@google/genai (npm)", `"@google/genai": "`},
	"google-go-":         {"google.golang.org/genai (Go)", "google.golang.org/genai"},
	"mcp-python-":        {"mcp (Python)", "\nmcp=="},
	"mcp-npm-":           {"@modelcontextprotocol/sdk (npm)", `"@modelcontextprotocol/sdk": "`},
	"mcp-client-npm-":    {"@modelcontextprotocol/client (npm)", `"@modelcontextprotocol/client": "`},
	"mcp-go-":            {"modelcontextprotocol/go-sdk", "github.com/modelcontextprotocol/go-sdk"},
	"mcp-inspector-":     {"@modelcontextprotocol/inspector (npm)", `"@modelcontextprotocol/inspector": "`},
	"mcp-conformance-":   {"@modelcontextprotocol/conformance (npm)", `"@modelcontextprotocol/conformance": "`},
	"openai-go-":         {"openai-go", "github.com/openai/openai-go/v3 v"},
	"anthropic-go-":      {"anthropic-sdk-go", "github.com/anthropics/anthropic-sdk-go"},
}

var number = regexp.MustCompile(`\d+\.\d+\.\d+`)

func TestTheVersionsOfSuitesArePinnedAndDocumented(t *testing.T) {
	run := make(map[string]map[string]bool)
	for _, s := range suites(peers{}) {
		if version := number.FindString(s.name); version != "" {
			name, _, _ := strings.Cut(s.name, version)
			if run[name] == nil {
				run[name] = make(map[string]bool)
			}
			run[name][version] = true
		}
	}
	var manifests strings.Builder
	for _, name := range []string{"python/requirements.txt", "python/anthropic-1.txt", "node/package.json", "mcp/package.json", "go/go.mod"} {
		manifests.WriteString(read(t, filepath.Join("..", name)))
	}
	documented := make(map[string][]string)
	for line := range strings.Lines(read(t, "../../../docs/compatibility.md")) {
		if cells := strings.Split(line, " | "); len(cells) > 1 {
			name := strings.TrimPrefix(cells[0], "| ")
			documented[name] = append(documented[name], number.FindAllString(cells[1], -1)...)
		}
	}
	for name, versions := range run {
		sdk, known := sdks[name]
		if !known {
			t.Fatalf("no row for the suites %s…", name)
		}
		want := slices.Sorted(maps.Keys(versions))
		if got := slices.Sorted(slices.Values(documented[sdk.documented])); !slices.Equal(got, want) {
			t.Errorf("docs/compatibility.md has %s %q, the suites run %q", sdk.documented, got, want)
		}
		pinned := regexp.MustCompile(regexp.QuoteMeta(sdk.pinned)+`(?:/v\d+ v| v)?(`+number.String()+`)`).FindAllStringSubmatch(manifests.String(), -1)
		var got []string
		for _, match := range pinned {
			got = append(got, match[1])
		}
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("the manifests have %s %q, the suites run %q", sdk.documented, got, want)
		}
	}
	if len(run) != len(sdks) {
		t.Errorf("%d SDKs run, want %d", len(run), len(sdks))
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
