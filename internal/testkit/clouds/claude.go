package clouds

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Claude is Claude on Vertex AI and on Bedrock, in front of a provider that has
// Anthropic's API under /v1.
type Claude struct {
	behind http.Handler

	mu       sync.Mutex // guards the following
	requests []Request
}

// NewClaude returns a face of a provider.
func NewClaude(behind http.Handler) *Claude { return &Claude{behind: behind} }

// Requests returns what arrived, oldest first.
func (c *Claude) Requests() []Request {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]Request(nil), c.requests...)
}

var (
	vertexClaude  = regexp.MustCompile(`/publishers/anthropic/models/([^/:]+):(rawPredict|streamRawPredict)$`)
	bedrockClaude = regexp.MustCompile(`^/model/([^/]+)/(invoke|invoke-with-response-stream)$`)

	// knownBetas are those that the platforms of this face know.
	knownBetas = []string{"context-1m-2025-08-07", "context-management-2025-06-27", "interleaved-thinking-2025-05-14"}
)

func (c *Claude) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody))
	if err != nil {
		return
	}
	c.mu.Lock()
	c.requests = append(c.requests, Request{r.URL.RequestURI(), r.Header.Clone(), body})
	c.mu.Unlock()
	var asked map[string]any
	if err := json.Unmarshal(body, &asked); err != nil {
		googleError(w, 400, "INVALID_ARGUMENT", "Invalid JSON payload received.")
		return
	}
	if found := countPath.FindStringSubmatch(r.URL.EscapedPath()); found != nil {
		countOnBedrock(w, r, found[1], body)
		return
	}
	if found := vertexClaude.FindStringSubmatch(r.URL.Path); found != nil {
		c.vertex(w, r, asked, found[1], found[2] == "streamRawPredict")
		return
	}
	if found := bedrockClaude.FindStringSubmatch(r.URL.EscapedPath()); found != nil {
		c.bedrock(w, r, asked, strings.ReplaceAll(found[1], "%3A", ":"), found[2] != "invoke")
		return
	}
	googleError(w, 404, "NOT_FOUND", "Publisher Model was not found.")
}

func (c *Claude) vertex(w http.ResponseWriter, r *http.Request, asked map[string]any, model string, stream bool) {
	for _, beta := range strings.Split(r.Header.Get("Anthropic-Beta"), ",") {
		if beta != "" && !slices.Contains(knownBetas, beta) {
			anthropicError(w, fmt.Sprintf("Unexpected value(s) `%s` for the `anthropic-beta` header.", beta))
			return
		}
	}
	path := "/v1/messages"
	switch count := model == "count-tokens"; {
	case !strings.HasPrefix(r.Header.Get("Authorization"), "Bearer ") || r.Header.Get("X-Api-Key") != "":
		googleError(w, 401, "UNAUTHENTICATED", "Request had invalid authentication credentials.")
		return
	case asked["anthropic_version"] != "vertex-2023-10-16" && asked["anthropic_version"] != "2026-10-21":
		anthropicError(w, `anthropic_version: "..." is not a valid version`)
		return
	case r.Header.Get("Anthropic-Version") != "", count == (asked["model"] == nil), !count && stream != (asked["stream"] == true):
		anthropicError(w, "model, stream: Extra inputs are not permitted")
		return
	case count:
		path += "/count_tokens"
	default:
		asked["model"] = model
	}
	delete(asked, "anthropic_version")
	c.forward(w, r, path, asked, r.Header.Get("Anthropic-Beta"))
}

func (c *Claude) bedrock(w http.ResponseWriter, r *http.Request, asked map[string]any, model string, stream bool) {
	betas, _ := asked["anthropic_beta"].([]any)
	for _, beta := range betas {
		if !slices.Contains(knownBetas, fmt.Sprint(beta)) {
			awsError(w, 400, "ValidationException", "invalid beta flag")
			return
		}
	}
	switch {
	case r.Header.Get("Authorization") == "":
		awsError(w, 403, "MissingAuthenticationTokenException", "Missing Authentication Token")
		return
	case asked["anthropic_version"] != "bedrock-2023-05-31" && asked["anthropic_version"] != "2026-10-21":
		awsError(w, 400, "ValidationException", "anthropic_version: Field required")
		return
	case asked["model"] != nil || asked["stream"] != nil || r.Header.Get("Anthropic-Version") != "": // the SDK sends beta features in both places
		awsError(w, 400, "ValidationException", "model, stream: Extra inputs are not permitted")
		return
	case stream && strings.Contains(r.Header.Get("Accept"), "text/event-stream"):
		awsError(w, 400, "ValidationException", "Accept")
		return
	}
	delete(asked, "anthropic_version")
	delete(asked, "anthropic_beta")
	asked["model"] = model[strings.LastIndexAny(model, ".")+1:]
	if stream {
		asked["stream"] = true
		w = &chunkFrames{ResponseWriter: w}
	}
	names := make([]string, len(betas))
	for i, beta := range betas {
		names[i] = fmt.Sprint(beta)
	}
	c.forward(w, r, "/v1/messages", asked, strings.Join(names, ","))
}

func (c *Claude) forward(w http.ResponseWriter, r *http.Request, path string, asked map[string]any, beta string) {
	asked["model"], _, _ = strings.Cut(fmt.Sprint(asked["model"]), "@") // the date of a version
	text, _ := json.Marshal(asked)
	behind := httptest.NewRequestWithContext(r.Context(), http.MethodPost, path, bytes.NewReader(text))
	behind.Header.Set("Content-Type", "application/json")
	behind.Header.Set("Anthropic-Version", "2023-06-01")
	behind.Header.Set("X-Api-Key", "behind")
	if beta != "" {
		behind.Header.Set("Anthropic-Beta", beta)
	}
	c.behind.ServeHTTP(w, behind)
}

func anthropicError(w http.ResponseWriter, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusBadRequest)
	text, _ := json.Marshal(message)
	_, _ = fmt.Fprintf(w, `{"type":"error","error":{"type":"invalid_request_error","message":%s}}`, text)
}

// awsError answers with an error of AWS.
func awsError(w http.ResponseWriter, status int, name, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Amzn-Errortype", name+":http://internal.amazon.com/coral/com.amazon.bedrock/")
	w.WriteHeader(status)
	text, _ := json.Marshal(message)
	_, _ = fmt.Fprintf(w, `{"message":%s}`, text)
}

// chunkFrames puts the events of a stream into frames of AWS, as InvokeModel does.
type chunkFrames struct {
	http.ResponseWriter
	status int
	body   []byte
}

// Unwrap lets the provider reset the connection.
func (f *chunkFrames) Unwrap() http.ResponseWriter { return f.ResponseWriter }

func (f *chunkFrames) WriteHeader(status int) {
	f.status = status
	f.Header().Del("Content-Length")
	if status == http.StatusOK {
		f.Header().Set("Content-Type", "application/vnd.amazon.eventstream")
	}
	f.ResponseWriter.WriteHeader(status)
}

func (f *chunkFrames) Write(p []byte) (int, error) {
	if f.status != http.StatusOK {
		return f.ResponseWriter.Write(p)
	}
	f.body = append(f.body, p...)
	for {
		event, rest, ok := bytes.Cut(f.body, []byte("\n\n"))
		if !ok {
			return len(p), nil
		}
		f.body = rest
		_, data, ok := strings.Cut(string(event), "data:")
		if !ok {
			continue
		}
		data = strings.Replace(strings.TrimSpace(data), `"type":"message_stop"`, `"type":"message_stop","amazon-bedrock-invocationMetrics":{"inputTokenCount":1}`, 1)
		payload := `{"bytes":"` + base64.StdEncoding.EncodeToString([]byte(data)) + `","p":"abcdefgh"}`
		if _, err := f.ResponseWriter.Write(Frame(payload, ":message-type", "event", ":event-type", "chunk", ":content-type", "application/json")); err != nil {
			return 0, err
		}
	}
}

// Frame is a frame of AWS with headers that are texts.
func Frame(payload string, headers ...string) []byte {
	var h []byte
	for i := 0; i < len(headers); i += 2 {
		h = append(append(h, byte(len(headers[i]))), headers[i]...)
		h = append(binary.BigEndian.AppendUint16(append(h, 7), uint16(len(headers[i+1]))), headers[i+1]...)
	}
	out := binary.BigEndian.AppendUint32(nil, uint32(16+len(h)+len(payload)))
	out = binary.BigEndian.AppendUint32(out, uint32(len(h)))
	out = binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out))
	out = append(append(out, h...), payload...)
	return binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out))
}
