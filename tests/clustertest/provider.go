//go:build unix

package clustertest

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/faults"
)

// catalog has the prices of the metered models, with so many decimals that sums must be exact, and
// of the fake one.
const catalog = `{"models":[
	{"id":"metered/quick","context_length":100000,"price":{"prompt":"1.25","completion":"10.000000007"}},
	{"id":"metered/slow","context_length":100000,"price":{"prompt":"1.25","completion":"10.000000007"}},
	{"id":"metered/held","context_length":100000,"price":{"prompt":"1.25","completion":"10.000000007"}},
	{"id":"fake/echo","context_length":100000,"price":{"prompt":"1","completion":"10"}}
]}`

// slow is how long the model metered/slow takes.
const slow = 50 * time.Millisecond

// Provider is the provider of the cluster. Besides the models of package faults it has metered ones,
// whose calls report a usage by chance: quick, slow, and held, which ends with its client or by
// Release.
type Provider struct {
	Origin string

	mu       sync.Mutex // guards the following
	random   *rand.Rand
	inside   map[string]int // calls under way of a user, see Most
	most     map[string]int
	released chan struct{}
}

func startProvider(t T) *Provider {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Provider{
		Origin: "http://" + listener.Addr().String(), random: rand.New(rand.NewPCG(1, 2)),
		inside: make(map[string]int), most: make(map[string]int), released: make(chan struct{}),
	}
	other := faults.New()
	other.Unrecorded = true
	mux := http.NewServeMux()
	mux.HandleFunc("POST /metered/v1/chat/completions", p.metered)
	mux.Handle("/", other)
	server := &http.Server{Handler: mux}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { server.Close() })
	return p
}

// Inside is how many metered calls with this user are under way, and the most that were at once.
func (p *Provider) Inside(user string) (now, most int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.inside[user], p.most[user]
}

// Release ends the calls of the model held.
func (p *Provider) Release() {
	p.mu.Lock()
	defer p.mu.Unlock()
	close(p.released)
	p.released = make(chan struct{})
}

type meteredCall struct {
	Model     string
	User      string
	Stream    bool
	MaxTokens int `json:"max_tokens"`
	MaxOutput int `json:"max_completion_tokens"`
}

func (p *Provider) metered(w http.ResponseWriter, r *http.Request) {
	var in meteredCall
	body, err := io.ReadAll(r.Body)
	if err != nil || json.Unmarshal(body, &in) != nil {
		http.Error(w, "no JSON", http.StatusBadRequest)
		return
	}
	most := max(in.MaxTokens, in.MaxOutput, 1)
	p.mu.Lock()
	p.inside[in.User]++
	p.most[in.User] = max(p.most[in.User], p.inside[in.User])
	prompt, completion := 1+p.random.IntN(4), 1+p.random.IntN(most)
	released := p.released
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		p.inside[in.User]--
		p.mu.Unlock()
	}()
	usage := fmt.Sprintf(`{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d}`, prompt, completion, prompt+completion)
	if in.Stream {
		p.stream(w, r, in.Model, usage, released)
		return
	}
	if !pause(r, in.Model, released) {
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(answer)-len("%s")+len(usage)))
	fmt.Fprintf(w, answer, usage)
}

// pause is how long a model takes. It reports whether the client is still there.
func pause(r *http.Request, model string, released chan struct{}) bool {
	switch {
	case strings.HasSuffix(model, "slow"):
		timer := time.NewTimer(slow)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-r.Context().Done():
			return false
		}
	case strings.HasSuffix(model, "held"):
		select {
		case <-released:
		case <-r.Context().Done():
			return false
		}
	}
	return true
}

const (
	answer = `{"id":"chatcmpl-m","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"metered"},"finish_reason":"stop"}],"usage":%s}`
	chunk  = `data: {"id":"chatcmpl-m","object":"chat.completion.chunk","created":1,"model":"m","choices":%s%s}` + "\n\n"
)

func (p *Provider) stream(w http.ResponseWriter, r *http.Request, model, usage string, released chan struct{}) {
	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprintf(w, chunk, `[{"index":0,"delta":{"role":"assistant","content":"metered"},"finish_reason":null}]`, "")
	_ = http.NewResponseController(w).Flush()
	if !pause(r, model, released) {
		return
	}
	fmt.Fprintf(w, chunk, `[{"index":0,"delta":{},"finish_reason":"stop"}]`, "")
	fmt.Fprintf(w, chunk+"data: [DONE]\n\n", "[]", `,"usage":`+usage)
}
