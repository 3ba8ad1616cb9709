package soak

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/faults"
)

// serveProvider puts the fake provider behind a handler that notes which call has arrived, and that
// answers for the models with a meter itself.
func (s *soak) serveProvider() {
	behind := faults.New()
	behind.Unrecorded = true
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		s.t.Fatal(err)
	}
	s.h.Provider.Origin = "http://" + listener.Addr().String()
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		n := markIn(string(body))
		if n >= 0 && n < len(s.notes) {
			s.notes[n].seen.Or(seenArrived)
			if waits, ok := s.waiting.LoadAndDelete(n); ok {
				close(waits.(chan struct{}))
			}
		}
		if strings.HasPrefix(r.URL.Path, "/metered/") {
			meteredAnswer(w, body, usageOf(n))
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		behind.ServeHTTP(w, r)
	})}
	go func() { _ = server.Serve(listener) }()
	s.t.Cleanup(func() { _ = server.Close() })
}

// soakUsage is the usage that a metered answer reports. Prompt includes Cached and Written,
// Completion Reasoning.
type soakUsage struct {
	Prompt, Cached, Written, Completion, Reasoning int64
	Cost                                           int64 // 1e-12 USD
}

func usageOf(n int) soakUsage {
	rng := rand.New(rand.NewPCG(*soakSeed+1, uint64(n)))
	u := soakUsage{Prompt: 1 + rng.Int64N(40_000), Completion: 1 + rng.Int64N(2_000), Cost: rng.Int64N(1e9)}
	u.Cached, u.Written, u.Reasoning = rng.Int64N(u.Prompt/2+1), rng.Int64N(u.Prompt/2+1), rng.Int64N(u.Completion+1)
	return u
}

// nano is the price by the catalog's rates of metered/model, rounded up once.
func (u soakUsage) nano() int64 {
	// Nano-USD per million tokens: prompt, cached, written, completion, reasoning.
	rates := [5]int64{1_250_000_000, 125_000_000, 1_562_500_000, 10_000_000_007, 12_500_000_000}
	if u.Prompt >= 20_001 { // written and reasoning have no rate of their own there
		rates = [5]int64{2_500_000_000, 300_000_000, 2_500_000_000, 15_300_000_000, 15_300_000_000}
	}
	sum := new(big.Int)
	for i, n := range [5]int64{u.Prompt - u.Cached - u.Written, u.Cached, u.Written, u.Completion - u.Reasoning, u.Reasoning} {
		sum.Add(sum, new(big.Int).Mul(big.NewInt(n), big.NewInt(rates[i])))
	}
	sum.Add(sum, big.NewInt(999_999))
	return sum.Div(sum, big.NewInt(1_000_000)).Int64()
}

// reported is the reported cost in nano-USD, rounded up.
func (u soakUsage) reported() int64 { return (u.Cost + 999) / 1000 }

func meteredAnswer(w http.ResponseWriter, body []byte, u soakUsage) {
	var in struct {
		Model  string
		Stream bool
	}
	_ = json.Unmarshal(body, &in) // the gateway sends none that is not JSON
	audio := 0
	if in.Model == "audio" { // not requested, and it has no price
		audio = 1
	}
	usage := fmt.Sprintf(`{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d,"cost":0.%012d,`+
		`"prompt_tokens_details":{"cached_tokens":%d,"cache_write_tokens":%d,"audio_tokens":%d},"completion_tokens_details":{"reasoning_tokens":%d}}`,
		u.Prompt, u.Completion, u.Prompt+u.Completion, u.Cost, u.Cached, u.Written, audio, u.Reasoning)
	if !in.Stream {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"id":"chatcmpl-m","object":"chat.completion","created":1,"model":"model","choices":[{"index":0,"message":{"role":"assistant","content":"metered"},"finish_reason":"stop"}],"usage":%s}`, usage)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	const head = `{"id":"chatcmpl-m","object":"chat.completion.chunk","created":1,"model":"model","choices":`
	fmt.Fprintf(w, "data: %s[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"metered\"},\"finish_reason\":null}]}\n\n", head)
	_ = http.NewResponseController(w).Flush()
	fmt.Fprintf(w, "data: %s[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: %s[],\"usage\":%s}\n\ndata: [DONE]\n\n", head, head, usage)
}

// soakHandler runs before the gateway's handler. It counts arriving calls and, if a call asks for
// it, panics while the gateway reads or writes.
type soakHandler struct{}

// currentSoak is the running soak; a child process has none.
var currentSoak atomic.Pointer[soak]

const soakPanicHeader = "X-Soak-Panic"

func init() {
	caddy.RegisterModule(soakHandler{})
	httpcaddyfile.RegisterHandlerDirective("soak_door", func(h httpcaddyfile.Helper) (caddyhttp.MiddlewareHandler, error) {
		h.Next()
		return soakHandler{}, nil
	})
}

func (soakHandler) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers.soak_door", New: func() caddy.Module { return new(soakHandler) }}
}

func (soakHandler) ServeHTTP(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler) error {
	s := currentSoak.Load()
	n := markIn(r.Header.Get("X-Client-Request-Id"))
	if s == nil || n < 0 || n >= len(s.notes) {
		return next.ServeHTTP(w, r)
	}
	seen := &s.notes[n].seen
	seen.Add(seenEntered)
	switch r.Header.Get(soakPanicHeader) {
	case "read":
		r.Body = panickingBody{r.Body, seen}
	case "write":
		w = panickingWriter{&caddyhttp.ResponseWriterWrapper{ResponseWriter: w}, seen}
	}
	return next.ServeHTTP(w, r)
}

type panickingBody struct {
	io.ReadCloser
	seen *atomic.Uint32
}

func (b panickingBody) Read([]byte) (int, error) {
	b.seen.Or(seenPanicked)
	panic(http.ErrAbortHandler) // the panic that net/http does not print
}

type panickingWriter struct {
	*caddyhttp.ResponseWriterWrapper
	seen *atomic.Uint32
}

func (w panickingWriter) Write([]byte) (int, error) {
	w.seen.Or(seenPanicked)
	panic(http.ErrAbortHandler)
}
