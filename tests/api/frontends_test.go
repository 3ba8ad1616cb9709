package api

import (
	"path"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/faults"
	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// The calls of chat front ends as their own code sends them: Open WebUI 0.12.4 with aiohttp 3.14.5,
// LibreChat (@librechat/api 1.7.34) with axios 1.16.0, form-data 4.0.4 and openai-node, and its
// rag_api with langchain-openai.
const (
	openWebUI = "Open WebUI"
	libreChat = "LibreChat"
)

// part is a field of a form as a front end writes it: an HTTP library has its own order of headers.
// The provider gets the header that sent is, where the client's own words are left out.
type part struct{ header, value, sent string }

// sentText and sentFile are the headers that the provider gets.
func sentText(name string) string { return `Content-Disposition: form-data; name="` + name + `"` }

func sentFile(name, file, mediaType string) string {
	return sentText(name) + `; filename="file` + path.Ext(file) + "\"\r\nContent-Type: " + mediaType
}

func aiohttpText(name, value string) part {
	return part{"Content-Type: text/plain; charset=utf-8\r\nContent-Disposition: form-data; name=\"" + name + `"`, value, sentText(name)}
}

func aiohttpFile(name, file, mediaType, value string) part {
	return part{"Content-Type: " + mediaType + "\r\nContent-Disposition: form-data; name=\"" + name + `"; filename="` + file + `"`, value, sentFile(name, file, mediaType)}
}

func axiosText(name, value string) part {
	return part{sentText(name), value, sentText(name)}
}

func axiosFile(name, file, mediaType, value string) part {
	return part{`Content-Disposition: form-data; name="` + name + `"; filename="` + file + "\"\r\nContent-Type: " + mediaType, value, sentFile(name, file, mediaType)}
}

// boundaries are of the form that the libraries make.
var boundaries = map[string]string{openWebUI: "58833d72eefe45a4a395e47648f8b967", libreChat: "--------------------------f3acba494c1b2941599e4ac7"}

// accepts are the headers that the libraries add.
var accepts = map[string]map[string]string{
	openWebUI: {"Accept": "*/*", "Accept-Encoding": "gzip, deflate", "User-Agent": "Python/3.11 aiohttp/3.14.5"},
	libreChat: {"Accept": "application/json, text/plain, */*", "Accept-Encoding": "gzip, compress, deflate, br", "User-Agent": "axios/1.16.0"},
}

type dialogue struct {
	client, name string
	path, json   string // no json and no form: a GET
	form         []part
	length       bool // the form says how long it is; else it comes in chunks

	media, shows string         // of the answer: its type, and a part of it
	row          map[string]any // members of the row of the activity
	sent         string         // a part of what the provider gets; "": the form, with its own name of the model
}

var (
	spokenCall = map[string]any{"model": "fake/echo", "stream": false}
	tokensOf   = func(prompt, completion string) map[string]any {
		return map[string]any{"model": "fake/echo", "prompt_tokens": harness.Number(prompt), "completion_tokens": harness.Number(completion)}
	}
)

var dialogues = []dialogue{
	{client: openWebUI, name: "models", path: "/v1/models", media: "application/json", shows: `"id":"test/echo","object":"model"`},
	{
		client: openWebUI, name: "chat", path: harness.ChatV1,
		json:  `{"stream": false, "model": "fake/echo", "messages": [{"role": "system", "content": "short"}, {"role": "user", "content": "a title"}], "max_tokens": 1000}`,
		media: "application/json", shows: `"content":"You said: a title"`, row: tokensOf("2", "4"), sent: `"max_tokens": 1000`,
	},
	{
		client: openWebUI, name: "chat, streamed", path: harness.ChatV1,
		json:  `{"stream": true, "model": "fake/echo", "messages": [{"role": "user", "content": [{"type": "text", "text": "look"}, {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}]}], "stream_options": {"include_usage": true}, "temperature": 0.7}`,
		media: "text/event-stream", shows: `"usage":{"prompt_tokens":`, row: map[string]any{"model": "fake/echo", "stream": true}, sent: `"temperature": 0.7`,
	},
	{
		client: openWebUI, name: "responses", path: "/v1/responses",
		json:  `{"model": "fake/echo", "stream": true, "instructions": "short", "input": [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hello"}]}]}`,
		media: "text/event-stream", shows: "response.completed", row: map[string]any{"model": "fake/echo", "stream": true}, sent: `"instructions": "short"`,
	},
	{
		client: openWebUI, name: "embeddings", path: "/v1/embeddings", json: `{"input": ["a b", "c"], "model": "fake/echo"}`,
		media: "application/json", shows: `"embedding":[`, row: tokensOf("3", "0"), sent: `"input": ["a b", "c"]`,
	},
	{
		client: openWebUI, name: "rerank", path: rerankV1, json: `{"model": "fake/echo", "query": "red", "documents": ["a", "red"], "top_n": 2}`,
		media: "application/json", shows: `"relevance_score":1`, row: spokenCall, sent: `"top_n": 2`,
	},
	{
		client: openWebUI, name: "images", path: imagesV1, json: `{"model": "fake/echo", "prompt": "a red fox", "n": 1, "size": "512x512", "response_format": "b64_json"}`,
		media: "application/json", shows: `"b64_json":"a red fox"`, row: map[string]any{"model": "fake/echo", "images": harness.Number("1")}, sent: `"response_format": "b64_json"`,
	},
	{
		client: openWebUI, name: "an edited image", path: editsV1, length: true,
		form: []part{
			aiohttpText("model", "fake/echo"), aiohttpText("prompt", "a red fox"), aiohttpText("n", "1"), aiohttpText("size", "512x512"), aiohttpText("response_format", "b64_json"),
			aiohttpFile("image", "7c8f.png", "image/png", png),
		},
		media: "application/json", shows: `"b64_json":"a red fox"`, row: map[string]any{"model": "fake/echo", "images": harness.Number("1")},
	},
	{
		client: openWebUI, name: "several edited images", path: editsV1, length: true,
		form: []part{
			aiohttpText("model", "fake/echo"), aiohttpText("prompt", "a red fox"), aiohttpFile("image[]", "7c8f.png", "image/png", png), aiohttpFile("image[]", "7c90.webp", "image/webp", png),
		},
		media: "application/json", shows: `"b64_json":"a red fox"`, row: map[string]any{"model": "fake/echo", "images": harness.Number("1")},
	},
	{
		client: openWebUI, name: "speech", path: speechV1, json: `{"input": "ten and ten characte", "voice": "alloy", "model": "fake/echo"}`,
		media: "audio/mpeg", shows: "\xff\xf3", row: spokenCall, sent: `"voice": "alloy"`,
	},
	{
		client: openWebUI, name: "transcription", path: transcriptsV1,
		form:  []part{aiohttpText("model", "fake/echo"), aiohttpText("language", "en"), aiohttpFile("file", "my%20voice.webm", "application/octet-stream", heard)},
		media: "application/json", shows: `"text":"` + faults.Transcript, row: tokensOf("14", "5"),
	},
	{
		client: openWebUI, name: "transcription in JSON", path: transcriptsOR, json: `{"model": "router/echo", "language": "en", "input_audio": {"data": "UklGRg==", "format": "webm"}}`,
		media: "application/json", shows: `"text":"` + faults.Transcript, row: map[string]any{"model": "router/echo"}, sent: `"language": "en"`,
	},

	{client: libreChat, name: "models", path: "/v1/models?user=65f1c0", media: "application/json", shows: `"id":"test/echo","object":"model"`},
	{
		client: libreChat, name: "chat", path: harness.ChatV1,
		json:  `{"model":"fake/echo","temperature":0,"user":"65f1c0","stream":false,"messages":[{"role":"user","content":"a title"}]}`,
		media: "application/json", shows: `"content":"You said: a title"`, row: tokensOf("2", "4"), sent: `"user":"65f1c0"`,
	},
	{
		client: libreChat, name: "chat, streamed", path: harness.ChatV1,
		json:  `{"model":"fake/echo","user":"65f1c0","stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"system","content":"short"},{"role":"user","content":[{"type":"text","text":"hello"}]}]}`,
		media: "text/event-stream", shows: `"usage":{"prompt_tokens":`, row: map[string]any{"model": "fake/echo", "stream": true}, sent: `"user":"65f1c0"`,
	},
	{
		client: libreChat, name: "embeddings", path: "/v1/embeddings", json: `{"input":[[64,293],[272]],"model":"fake/echo","encoding_format":"base64"}`,
		media: "application/json", shows: `"embedding":"`, row: tokensOf("3", "0"), sent: `"input":[[64,293],[272]]`,
	},
	{
		client: libreChat, name: "images", path: imagesV1, json: `{"model":"fake/echo","prompt":"a red fox","n":1,"background":"auto","output_format":"png","quality":"auto","size":"auto"}`,
		media: "application/json", shows: `"b64_json":"a red fox"`, row: map[string]any{"model": "fake/echo", "images": harness.Number("1")}, sent: `"background":"auto"`,
	},
	{
		client: libreChat, name: "edited images", path: editsV1,
		form: []part{
			axiosText("model", "fake/echo"), axiosText("prompt", "a red fox"), axiosText("quality", "auto"), axiosText("size", "auto"),
			axiosFile("image[]", "a b.png", "image/png", png), axiosFile("image[]", "c.png", "image/png", png),
		},
		media: "application/json", shows: `"b64_json":"a red fox"`, row: map[string]any{"model": "fake/echo", "images": harness.Number("1")},
	},
	{
		client: libreChat, name: "speech", path: speechV1, json: `{"input":"ten and ten characte","model":"fake/echo","voice":"alloy"}`,
		media: "audio/mpeg", shows: "\xff\xf3", row: spokenCall, sent: `"voice":"alloy"`,
	},
	{
		client: libreChat, name: "transcription", path: transcriptsV1, // the sound comes first
		form:  []part{axiosFile("file", "audio.webm", "video/webm", heard), axiosText("model", "fake/echo"), axiosText("language", "en")},
		media: "application/json", shows: `"text":"` + faults.Transcript, row: tokensOf("14", "5"),
	},
}

// body is the form with a name of the model.
func (d *dialogue) body() string {
	if d.form == nil {
		return d.json
	}
	return d.write(func(p part) (string, string) { return p.header, p.value })
}

// forwarded is the form that the provider gets.
func (d *dialogue) forwarded() string {
	return d.write(func(p part) (string, string) { return p.sent, strings.TrimPrefix(p.value, "fake/") })
}

func (d *dialogue) write(field func(part) (header, value string)) string {
	var b strings.Builder
	for _, p := range d.form {
		header, value := field(p)
		b.WriteString("--" + boundaries[d.client] + "\r\n" + header + "\r\n\r\n" + value + "\r\n")
	}
	b.WriteString("--" + boundaries[d.client] + "--\r\n")
	return b.String()
}

func TestChatFrontEndsAreServed(t *testing.T) {
	h := harness.Start(t, harness.Setup{})
	for _, d := range dialogues {
		t.Run(d.client+" "+d.name, func(t *testing.T) {
			r := h.Client.Request(d.path, "full", d.body())
			for name, value := range accepts[d.client] {
				r.Header.Set(name, value)
			}
			if d.form != nil {
				r.Header.Set("Content-Type", "multipart/form-data; boundary="+boundaries[d.client])
				if !d.length {
					r.ContentLength = -1
				}
			}
			a := h.Client.Send(r)
			if media, _, _ := strings.Cut(a.Header.Get("Content-Type"), ";"); a.Status != 200 || media != d.media || !strings.Contains(string(a.Body), d.shows) {
				t.Fatalf("%d %q %.300s", a.Status, media, a.Body)
			}
			if d.row == nil {
				return
			}
			row := h.Records.Row(a.Header.Get("X-Request-Id"))
			for key, want := range d.row {
				if got := harness.At(row, key); got != want {
					t.Errorf("row[%s] = %v, want %v", key, got, want)
				}
			}
			requests := h.Provider.Fake.Requests()
			up := requests[len(requests)-1]
			if d.form != nil && string(up.Body) != d.forwarded() || !strings.Contains(string(up.Body), d.sent) {
				t.Errorf("the provider got %.300q", up.Body)
			}
			if agent := strings.Join(up.Header("User-Agent"), " "); strings.Contains(agent, "aiohttp") || strings.Contains(agent, "axios") {
				t.Errorf("the provider got the caller's User-Agent %q", agent)
			}
		})
	}
}
