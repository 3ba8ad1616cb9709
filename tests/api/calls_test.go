package api

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/faults"
	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

func TestAChatReachesTheProviderAndComesBackUnderItsOwnName(t *testing.T) {
	h := harness.Start(t, harness.Setup{Secure: true})
	for _, path := range []string{harness.ChatV1, harness.ChatRouter, h.Client.Secure + harness.ChatV1, h.Client.Secure + harness.ChatRouter} {
		a := h.Client.Post(path, "chat", harness.Chat("fake/echo:free", ""))
		body := harness.Parse(t, a.Body)
		if a.Status != 200 || harness.At(body, "model") != "fake/echo:free" || harness.At(body, "choices", 0, "message", "content") != "You said: say hello" {
			t.Fatalf("%s: %d %s", path, a.Status, a.Body)
		}
		row := h.Records.Row(a.Header.Get("X-Request-Id"))
		for key, want := range map[string]any{
			"model": "fake/echo:free", "provider_name": "fake", "key": "chat", "status": harness.Number("200"), "code": nil, "stream": false,
			"prompt_tokens": harness.Number("2"), "completion_tokens": harness.Number("4"), "finish_reason": "stop", "usage_source": "provider",
			"route": "POST " + strings.TrimPrefix(path, h.Client.Secure), "attempts": harness.Number("1"), "requests": harness.Number("1"),
		} {
			if got := harness.At(row, key); got != want {
				t.Errorf("%s: row[%s] = %v, want %v", path, key, got, want)
			}
		}
		if harness.IsOpenRouter(path) {
			if harness.At(body, "id") != a.Header.Get("X-Generation-Id") || harness.At(row, "id") != harness.At(body, "id") {
				t.Errorf("%s: id %v, X-Generation-Id %s, row %v", path, harness.At(body, "id"), a.Header.Get("X-Generation-Id"), harness.At(row, "id"))
			}
		}
		up := h.Provider.Request(1)
		if up.Path != "/v1/chat/completions" || harness.At(harness.Parse(t, up.Body), "model") != "echo:free" {
			t.Errorf("%s: upstream %s %s", path, up.Path, up.Body)
		}
	}
}

func TestTheBuiltInProviderAnswersOnTheSamePath(t *testing.T) {
	h := harness.Start(t, harness.Setup{})
	for _, path := range []string{harness.ChatV1, harness.ChatRouter, harness.ResponsesV1, harness.ResponsesRouter} {
		a := h.Client.Post(path, "chat", harness.Body(path, "test/echo", ""))
		if a.Status != 200 || harness.At(harness.Parse(t, a.Body), "model") != "test/echo" || !strings.Contains(string(a.Body), "say hello") {
			t.Errorf("%s: %d %s", path, a.Status, a.Body)
		}
		events, err := h.Client.Open(h.Client.Request(path, "chat", harness.Body(path, "test/echo", harness.Streaming))).Rest()
		if err != nil || len(events) < 5 {
			t.Errorf("%s: %d events, %v", path, len(events), err)
		}
		if row := h.Records.Row(a.Header.Get("X-Request-Id")); harness.At(row, "provider_name") != "test" || harness.At(row, "completion_tokens") == harness.Number("0") {
			t.Errorf("%s: %v", path, row)
		}
	}
	if n := len(h.Provider.Fake.Requests()); n != 0 {
		t.Errorf("the other provider got %d requests", n)
	}
}

// strange is a body with white space, escapes, number forms and unknown fields. Only the model may
// change on the way.
const strange = "\n{ \"x_vendor\" : {\"b\":1.50e3, \"a\":[ ] ,\"big\":123456789012345678901234567890},\t\"model\":\"fake/echo\" ,\n" +
	`"messages":[{"role":"user","content":"\u0067r\u00fc\u00DFe \ud83d\ude42 é \/ end"},{"role":"assistant","content":null,"refusal":null,"tool_calls":[]},` +
	`{"role":"user","content":[{"type":"text","text":"x"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AA=="}}]}],` +
	`"response_format":{"type":"json_schema","json_schema":{"name":"n","schema":{"type":"object"}}},"tools":[{"type":"function","function":{"name":"f"}}],"top_k":1e0 }` + "\n"

func TestUnknownFieldsReachTheProviderByteForByte(t *testing.T) {
	h := harness.Start(t, harness.Setup{})
	want := strings.Replace(strange, "fake/echo", "echo", 1)
	for i, path := range []string{harness.ChatV1, harness.ChatRouter} {
		if a := h.Client.Post(path, "chat", strange); a.Status != 200 {
			t.Fatalf("%s: %d %s", path, a.Status, a.Body)
		}
		if got := string(h.Provider.Request(i + 1).Body); got != want {
			t.Errorf("%s:\ngot  %q\nwant %q", path, got, want)
		}
	}
	body := strings.NewReplacer("fake/echo", "fake/echo", `"messages"`, `"input"`, `{"type":"text"`, `{"type":"input_text"`).Replace(strange)
	if a := h.Client.Post(harness.ResponsesV1, "chat", body); a.Status != 200 {
		t.Fatalf("responses: %d %s", a.Status, a.Body)
	}
	if got, want := string(h.Provider.Request(3).Body), strings.Replace(body, "fake/echo", "echo", 1); got != want {
		t.Errorf("responses:\ngot  %q\nwant %q", got, want)
	}
}

func TestALargeBodyArrivesUnchangedButForTheModel(t *testing.T) {
	h := harness.Start(t, harness.Setup{Secure: true})
	text := strings.Repeat("0123456789 äöü \\n ", 2<<20/20)
	for i, path := range []string{harness.ChatV1, h.Client.Secure + harness.ChatRouter, harness.ResponsesV1} {
		body := harness.Body(path, "fake/echo", `,"metadata":{"big":"`+text+`"}`) // not in the prompt, which is echoed
		if a := h.Client.Post(path, "chat", body); a.Status != 200 {
			t.Fatalf("%s: %d %.300s", path, a.Status, a.Body)
		}
		want := strings.Replace(body, "fake/echo", "echo", 1)
		sum := sha256.Sum256([]byte(want))
		up := h.Provider.Request(i + 1)
		if up.BodyBytes != int64(len(want)) || up.BodySHA256 != hex.EncodeToString(sum[:]) {
			t.Errorf("%s: %d bytes arrived, want %d", path, up.BodyBytes, len(want))
		}
	}
}

func TestModelsOutsideTheKeysListDoNotExistForIt(t *testing.T) {
	h := harness.Start(t, harness.Setup{})
	for _, path := range []string{harness.ChatV1, harness.ChatRouter, harness.ResponsesV1, harness.ResponsesRouter} {
		for _, model := range []string{"fake/step", "nobody/echo", "echo", "fake", "fake/", ""} {
			a := h.Client.Post(path, "narrow", harness.Body(path, model, ""))
			if model == "" {
				continue // TestBadBodiesAreRefusedAndNotForwarded
			}
			harness.WantRefusal(t, path, a, 404, "model_not_found")
			if row := h.Records.Row(a.Header.Get("X-Request-Id")); harness.At(row, "code") != "model_not_found" || harness.At(row, "model") != model {
				t.Errorf("%s: row %v", path, row)
			}
		}
		if a := h.Client.Post(path, "narrow", harness.Body(path, "fake/echo", "")); a.Status != 200 {
			t.Errorf("%s: %d %s", path, a.Status, a.Body)
		}
	}
	if n := len(h.Provider.Fake.Requests()); n != 4 {
		t.Errorf("%d requests were forwarded, want 4", n)
	}
	for path, want := range map[string]int{"/v1/models/test/echo": 200, "/v1/models/fake/step": 404, "/api/v1/model/test/echo": 200, "/api/v1/model/fake/step": 404} {
		if a := h.Client.Get(path, "narrow"); a.Status != want {
			t.Errorf("%s: %d %s", path, a.Status, a.Body)
		}
	}
}

// upstreamHeaders are all headers that a provider gets.
var upstreamHeaders = map[string]bool{
	"Host": true, "Content-Type": true, "Accept": true, "Accept-Encoding": true, "User-Agent": true, "Authorization": true, "Content-Length": true,
}

func TestTheProviderSeesHeadersOfOursOnly(t *testing.T) {
	h := harness.Start(t, harness.Setup{})
	r := h.Client.Request(harness.ChatV1, "full", harness.Chat("fake/echo", ""))
	for name, value := range map[string]string{
		"User-Agent": "OpenAI/Python", "X-Stainless-Lang": "python", "Cookie": "a=b", "OpenAI-Organization": "org", "HTTP-Referer": "https://app.example",
		"X-Title": "app", "X-Api-Key": "k", "Accept-Encoding": "gzip", "X-Forwarded-For": "198.51.100.7", "Forwarded": "for=198.51.100.7", "Traceparent": "00-1-1-01",
	} {
		r.Header.Set(name, value)
	}
	h.Client.Send(r)
	up := h.Provider.Request(1)
	for _, header := range up.Headers {
		if !upstreamHeaders[header[0]] {
			t.Errorf("the provider got %s: %s", header[0], header[1])
		}
	}
	for name, want := range map[string]string{"Authorization": "Bearer " + harness.ProviderKey, "Accept-Encoding": "identity", "User-Agent": "gatehouse", "Accept": "application/json"} {
		if got := up.Header(name); len(got) != 1 || got[0] != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestTheProvidersAccountHeadersStayInside(t *testing.T) {
	h := harness.Start(t, harness.Setup{})
	for _, more := range []string{"", harness.Streaming} {
		a := h.Client.Post(harness.ChatV1, "full", harness.Chat("fake/leaky-headers", more))
		for name, values := range a.Header {
			switch name {
			case "Content-Type", "Content-Length", "Date", "X-Request-Id", "Cache-Control", "X-Accel-Buffering":
				continue
			case "Server":
				if values[0] == "Caddy" {
					continue
				}
			}
			t.Errorf("stream %v: the client got %s: %v", more != "", name, values)
		}
		if a.Status != 200 || strings.Contains(string(a.Body), faults.SecretText) {
			t.Errorf("%d %s", a.Status, a.Body)
		}
	}
}
