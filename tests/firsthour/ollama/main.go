// Ollama is a stand-in for Ollama, for those who walk docs/first-hour.md without one: OpenAI's API
// below /v1, without a key, at Ollama's address. Its one model says what it was asked.
//
//	ollama [-listen 127.0.0.1:11434]
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"io"
	"log"
	"net/http"
	"net/http/httputil"
	"strings"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/testprovider"
)

const (
	model   = "qwen3:4b"
	maxBody = 32 << 20 // of a call, as of the provider behind it
	patient = 10 * time.Second
)

func main() {
	listen := flag.String("listen", "127.0.0.1:11434", "`address` to listen on")
	flag.Parse()
	server := http.Server{Addr: *listen, Handler: handler(), ReadHeaderTimeout: patient}
	log.Fatal(server.ListenAndServe())
}

func handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"object":"list","data":[{"id":"`+model+`","object":"model","created":1767225600,"owned_by":"library"}]}`)
	})
	mux.Handle("POST /v1/chat/completions", &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.Out.URL.Scheme, r.Out.URL.Host = "http", "built.in" },
		Transport:     echo{},
		FlushInterval: -1,
	})
	return mux
}

// echo answers in the built-in provider's words, and says the last line alone:
// coding clients put pages before it. It calls no tools, or a client would be sent from one to the next.
type echo struct{}

func (echo) RoundTrip(req *http.Request) (*http.Response, error) {
	var call map[string]any
	if err := json.NewDecoder(io.LimitReader(req.Body, maxBody)).Decode(&call); err != nil {
		return nil, err
	}
	call["model"] = "echo"
	delete(call, "tools")
	delete(call, "tool_choice")
	messages, _ := call["messages"].([]any)
	for _, m := range messages {
		message, _ := m.(map[string]any)
		if parts, _ := message["content"].([]any); len(parts) > 0 {
			part, _ := parts[len(parts)-1].(map[string]any)
			message["content"] = part["text"]
		}
		if text, ok := message["content"].(string); ok {
			text = strings.TrimSpace(text)
			message["content"] = text[strings.LastIndex(text, "\n")+1:]
		}
	}
	body, err := json.Marshal(call)
	if err != nil {
		return nil, err
	}
	asked := req.Clone(req.Context())
	asked.Body, asked.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return (&testprovider.Transport{}).RoundTrip(asked)
}
