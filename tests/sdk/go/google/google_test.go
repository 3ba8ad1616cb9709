package google_test

import (
	"context"
	"encoding/base64"
	"errors"
	"iter"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/genai"
)

// timeout ends a test that hangs.
const timeout = 30 * time.Second

const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

func env(t *testing.T, name string) string {
	t.Helper()
	value := os.Getenv(name)
	if value == "" {
		t.Fatalf("%s is not set", name)
	}
	return value
}

func direct(t *testing.T) bool { return env(t, "GATEWAY_TARGET") == "direct" }

func name(t *testing.T, model string) string {
	if direct(t) {
		return "gemini-" + model
	}
	return env(t, "GATEWAY_TARGET") + "/gemini-" + model
}

func ctx(t *testing.T) context.Context {
	c, cancel := context.WithTimeout(t.Context(), timeout)
	t.Cleanup(cancel)
	return c
}

// client asks a version of the API, "" for the SDK's own, with a key, "" for the caller's.
func client(t *testing.T, version, key string) *genai.Client {
	t.Helper()
	host, own := "", ""
	if direct(t) {
		host, own = env(t, "FAKE_ORIGIN")+"/gemini", env(t, "FAKE_API_KEY")
	} else {
		host, own = env(t, "GATEWAY_ORIGIN"), env(t, "GATEWAY_API_KEY")
	}
	if key != "" {
		own = key
	}
	c, err := genai.NewClient(ctx(t), &genai.ClientConfig{
		APIKey: own, Backend: genai.BackendGeminiAPI, HTTPOptions: genai.HTTPOptions{BaseURL: host, APIVersion: version},
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func ask(t *testing.T, model string, contents []*genai.Content, config *genai.GenerateContentConfig) *genai.GenerateContentResponse {
	t.Helper()
	reply, err := client(t, "v1beta", "").Models.GenerateContent(ctx(t), name(t, model), contents, config)
	if err != nil {
		t.Fatal(err)
	}
	return reply
}

func stream(t *testing.T, model string, contents []*genai.Content, config *genai.GenerateContentConfig) (chunks []*genai.GenerateContentResponse, err error) {
	return gathered(client(t, "v1beta", "").Models.GenerateContentStream(ctx(t), name(t, model), contents, config))
}

func gathered(events iter.Seq2[*genai.GenerateContentResponse, error]) (chunks []*genai.GenerateContentResponse, err error) {
	for chunk, err := range events {
		if err != nil {
			return chunks, err
		}
		chunks = append(chunks, chunk)
	}
	return chunks, nil
}

func echo(prompt string) string { return "You said: " + prompt }

func TestAnAnswerIsGivenUnderEachVersion(t *testing.T) {
	versions := []string{"", "v1", "v1beta", "v1alpha"}
	if direct(t) {
		versions = []string{"v1beta"}
	}
	for _, version := range versions {
		reply, err := client(t, version, "").Models.GenerateContent(ctx(t), name(t, "3-echo"), genai.Text("hello from go"), nil)
		if err != nil {
			t.Fatal(err)
		}
		if reply.Text() != echo("hello from go") || reply.Candidates[0].FinishReason != genai.FinishReasonStop ||
			reply.UsageMetadata.PromptTokenCount == 0 || reply.UsageMetadata.CandidatesTokenCount != 5 {
			t.Errorf("%q: %+v", version, reply)
		}
		if !direct(t) && reply.ModelVersion != name(t, "3-echo") {
			t.Errorf("%q: model %q", version, reply.ModelVersion)
		}
	}
}

func TestAStreamAddsUpToTheWholeAnswer(t *testing.T) {
	for _, model := range []string{"3-echo", "3-reasoning"} {
		chunks, err := stream(t, model, genai.Text("one two three"), nil)
		if err != nil {
			t.Fatal(err)
		}
		said, last := "", chunks[len(chunks)-1]
		for _, chunk := range chunks {
			said += chunk.Text()
		}
		whole := ask(t, model, genai.Text("one two three"), nil)
		if said != whole.Text() || !reflect.DeepEqual(last.UsageMetadata, whole.UsageMetadata) || last.Candidates[0].FinishReason != genai.FinishReasonStop {
			t.Errorf("%s: %q, want %q; the end is %+v", model, said, whole.Text(), last)
		}
	}
}

func TestSettingsAndAnImageReachTheProvider(t *testing.T) {
	image, err := base64.StdEncoding.DecodeString(png)
	if err != nil {
		t.Fatal(err)
	}
	contents := []*genai.Content{genai.NewContentFromParts([]*genai.Part{genai.NewPartFromText("see this"), genai.NewPartFromBytes(image, "image/png")}, genai.RoleUser)}
	reply := ask(t, "3-echo", contents, &genai.GenerateContentConfig{
		MaxOutputTokens: 9, SystemInstruction: genai.NewContentFromText("be brief", genai.RoleUser), ThinkingConfig: &genai.ThinkingConfig{IncludeThoughts: true},
	})
	if reply.Text() != echo("see this") {
		t.Errorf("%q", reply.Text())
	}
}

func TestACallAndItsResultReturn(t *testing.T) {
	tools := &genai.GenerateContentConfig{Tools: []*genai.Tool{{FunctionDeclarations: []*genai.FunctionDeclaration{{
		Name: "get_weather", ParametersJsonSchema: map[string]any{"type": "object", "properties": map[string]any{"city": map[string]any{"type": "string"}}},
	}}}}}
	prompt := genai.Text("how is the weather?")
	streamed, err := stream(t, "3-tools", prompt, tools)
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(streamed, func(r *genai.GenerateContentResponse) bool { return len(r.FunctionCalls()) > 0 })
	for _, reply := range []*genai.GenerateContentResponse{ask(t, "3-tools", prompt, tools), streamed[at]} {
		call := reply.FunctionCalls()[0]
		result := genai.NewContentFromFunctionResponse(call.Name, map[string]any{"output": "sunny"}, genai.RoleUser)
		result.Parts[0].FunctionResponse.ID = call.ID
		// 3-… refuses a call without its signature.
		if again := ask(t, "3-echo", append(slices.Clone(prompt), reply.Candidates[0].Content, result), nil); call.Name != "get_weather" || again.Text() == "" {
			t.Errorf("%+v: %+v", call, again)
		}
	}
}

func TestTokensAreCountedAndTextsEmbedded(t *testing.T) {
	models := client(t, "v1beta", "").Models
	counted, err := models.CountTokens(ctx(t), name(t, "3-echo"), genai.Text("one two three"), nil)
	if err != nil || counted.TotalTokens == 0 {
		t.Errorf("%+v, %v", counted, err)
	}
	embedded, err := models.EmbedContent(ctx(t), name(t, "embedding-001"), append(genai.Text("abc"), genai.Text("defg")...), nil)
	if err != nil || len(embedded.Embeddings) != 2 || embedded.Embeddings[1].Values[0] != 4 {
		t.Errorf("%+v, %v", embedded, err)
	}
}

func TestABlockedPromptSaysSo(t *testing.T) {
	chunks, err := stream(t, "3-blocked", genai.Text("x"), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, reply := range append(chunks, ask(t, "3-blocked", genai.Text("x"), nil)) {
		if reply.PromptFeedback == nil || reply.PromptFeedback.BlockReason != genai.BlockedReasonSafety {
			t.Errorf("%+v", reply)
		}
	}
}

func TestTheListHasTheModelsThatCanBeCalledOnlyGateway(t *testing.T) {
	models := client(t, "", "").Models
	var listed []string
	page, err := models.List(ctx(t), &genai.ListModelsConfig{PageSize: 3})
	for ; err == nil; page, err = page.Next(ctx(t)) {
		for _, m := range page.Items {
			listed = append(listed, m.Name)
		}
	}
	if !errors.Is(err, genai.ErrPageDone) || len(listed) < 4 || !slices.Contains(listed, "models/"+name(t, "3-echo")) ||
		slices.ContainsFunc(listed, func(name string) bool { return !strings.HasPrefix(name, "models/gemini/") }) {
		t.Errorf("%q, %v", listed, err)
	}
	m, err := models.Get(ctx(t), name(t, "3-echo"), nil)
	if err != nil || m.Name != "models/"+name(t, "3-echo") {
		t.Errorf("%+v, %v", m, err)
	}
}

func TestRefusalsAreErrorsOfTheSDKOnlyGateway(t *testing.T) {
	search := &genai.GenerateContentConfig{Tools: []*genai.Tool{{GoogleSearch: &genai.GoogleSearch{}}}}
	for title, c := range map[string]struct {
		key, model string
		config     *genai.GenerateContentConfig
		code       int
		status     string
	}{
		"key":         {"gh-nobody", name(t, "3-echo"), nil, 401, "UNAUTHENTICATED"},
		"model":       {"", name(t, "3-nobody"), nil, 404, "NOT_FOUND"},
		"other API":   {"", "fake/echo", nil, 400, "INVALID_ARGUMENT"},
		"hosted tool": {"", name(t, "3-echo"), search, 403, "PERMISSION_DENIED"},
		"provider":    {"", name(t, "3-err-500"), nil, 502, "UNAVAILABLE"},
		"its rate":    {"", name(t, "3-retry"), nil, 429, "RESOURCE_EXHAUSTED"},
	} {
		_, err := client(t, "", c.key).Models.GenerateContent(ctx(t), c.model, genai.Text("x"), c.config)
		var e genai.APIError
		if !errors.As(err, &e) || e.Code != c.code || e.Status != c.status || e.Message == "" {
			t.Errorf("%s: %v", title, err)
		}
	}
}

func TestABrokenStreamIsAnErrorOnlyGateway(t *testing.T) {
	for _, model := range []string{"3-no-finish", "3-error-late"} { // the SDK alone takes the first for a whole answer
		var e genai.APIError
		if chunks, err := stream(t, model, genai.Text("x"), nil); !errors.As(err, &e) || e.Code != 502 {
			t.Errorf("%s: %v after %d events", model, err, len(chunks))
		}
	}
}
