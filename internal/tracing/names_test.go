package tracing

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
)

// conventions are the names of v1.41.0, the last version of the package that has those of GenAI.
var conventions = []attribute.Key{
	semconv.GenAIOperationNameKey, semconv.GenAIProviderNameKey, semconv.GenAIRequestModelKey, semconv.GenAIRequestStreamKey,
	semconv.GenAIRequestMaxTokensKey, semconv.GenAIRequestTemperatureKey, semconv.GenAIRequestTopPKey, semconv.GenAIRequestChoiceCountKey,
	semconv.GenAIRequestSeedKey, semconv.GenAIResponseIDKey, semconv.GenAIResponseModelKey, semconv.GenAIResponseFinishReasonsKey,
	semconv.GenAIResponseTimeToFirstChunkKey, semconv.GenAIUsageInputTokensKey, semconv.GenAIUsageOutputTokensKey,
	semconv.GenAIUsageCacheReadInputTokensKey, semconv.GenAIUsageReasoningOutputTokensKey, semconv.OpenAIAPITypeKey,
	semconv.HTTPRequestMethodKey, semconv.HTTPRequestResendCountKey, semconv.HTTPResponseStatusCodeKey,
	semconv.ServerAddressKey, semconv.ServerPortKey, semconv.ErrorTypeKey,
}

// newer are names that the conventions have had since, with what v1.41.0 has instead.
var newer = map[attribute.Key]attribute.Key{
	CacheWriteTokens: semconv.GenAIUsageCacheCreationInputTokensKey,
}

// spanAttributes are the attributes in names.go.
func spanAttributes(t *testing.T) (keys []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "names.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			name, _ := strconv.Unquote(call.Args[0].(*ast.BasicLit).Value)
			keys = append(keys, name)
		}
		return true
	})
	if len(keys) < 30 {
		t.Fatalf("only %v were found", keys)
	}
	return keys
}

func TestAttributesAreThoseOfTheConventions(t *testing.T) {
	unused := slices.Concat(conventions, slices.Collect(maps.Keys(newer)))
	for _, name := range spanAttributes(t) {
		i := slices.Index(unused, attribute.Key(name))
		if i < 0 && !strings.HasPrefix(name, "gatehouse.") {
			t.Errorf("%s: the conventions have no such name, or two constants have it", name)
		} else if i >= 0 {
			unused = slices.Delete(unused, i, i+1)
		}
	}
	if len(unused) > 0 {
		t.Errorf("no attribute is named %v", unused)
	}
}

// The manual has a row for each attribute, and for no other.
func TestTheManualHasEachAttribute(t *testing.T) {
	page, err := os.ReadFile("../../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## Traces\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var documented []string
	for row := range strings.Lines(section) {
		first, _, ok := strings.Cut(strings.TrimPrefix(row, "| "), " |")
		if !ok || !strings.HasPrefix(row, "| `") {
			continue
		}
		for _, name := range regexp.MustCompile("`([a-z_.]+)`").FindAllStringSubmatch(first, -1) {
			documented = append(documented, name[1])
		}
	}
	attributes := spanAttributes(t)
	slices.Sort(attributes)
	slices.Sort(documented)
	if !slices.Equal(documented, attributes) {
		t.Errorf("the manual has\n%q\nwant\n%q", documented, attributes)
	}
}

// Values that the conventions define.
func TestProvidersHaveTheNamesOfTheConventions(t *testing.T) {
	known := map[string]bool{}
	for _, v := range []attribute.KeyValue{
		semconv.GenAIProviderNameOpenAI, semconv.GenAIProviderNameGCPVertexAI, semconv.GenAIProviderNameGCPGemini,
		semconv.GenAIProviderNameAnthropic, semconv.GenAIProviderNameCohere, semconv.GenAIProviderNameAzureAIInference,
		semconv.GenAIProviderNameAzureAIOpenAI, semconv.GenAIProviderNameIBMWatsonxAI, semconv.GenAIProviderNameAWSBedrock,
		semconv.GenAIProviderNamePerplexity, semconv.GenAIProviderNameXAI, semconv.GenAIProviderNameDeepseek,
		semconv.GenAIProviderNameGroq, semconv.GenAIProviderNameMistralAI,
	} {
		known[v.Value.AsString()] = true
	}
	for _, p := range knownProviders {
		if !known[p.name] {
			t.Errorf("%s: %q is no name of the conventions (azure.ai.openai is written so)", p.host, p.name)
		}
	}
	for host, want := range map[string]string{
		"api.openai.com": "openai", "API.OpenAI.com": "openai", "mine.openai.azure.com": "azure.ai.openai",
		"bedrock-runtime.eu-west-1.amazonaws.com": "aws.bedrock", "europe-west4-aiplatform.googleapis.com": "gcp.vertex_ai",
		"aiplatform.googleapis.com": "gcp.vertex_ai", "openrouter.ai": "mine", "notapi.x.ai": "mine", "127.0.0.1": "mine",
	} {
		if got := ProviderName(host, "mine"); got != want {
			t.Errorf("%s: %q, want %q", host, got, want)
		}
	}
}
