package api

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

const completionOf3 = `{"id":"c1","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}],` +
	`"usage":{"prompt_tokens":2,"completion_tokens":1,"total_tokens":3}}`

// rawProvider returns a provider block whose connections the test answers, and its listener.
func rawProvider(t *testing.T, connection func(n int, conn net.Conn)) (block string, listener net.Listener) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for n := 1; ; n++ {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = conn.Close() }()
				connection(n, conn)
			}()
		}
	}()
	return "provider raw {\nbase_url http://" + listener.Addr().String() + "/v1\nmodels m\n}\n", listener
}

func readRequest(from *bufio.Reader) bool {
	r, err := http.ReadRequest(from)
	if err != nil {
		return false
	}
	_, err = io.Copy(io.Discard, r.Body)
	return err == nil
}

// Callers that come back about when the provider closes kept connections never notice it.
func TestAShortKeepAliveOfAProviderIsNeverSeen(t *testing.T) {
	const keepAlive, workers, calls = 20 * time.Millisecond, 16, 100
	server := &http.Server{IdleTimeout: keepAlive, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, completionOf3)
	})}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })
	h := harness.Start(t, harness.Setup{
		Keys:      harness.FullKey("budget 1000000 tokens/total"),
		Providers: "provider raw {\nbase_url http://" + listener.Addr().String() + "/v1\nmodels m\n}\n",
	})
	var failed atomic.Int32
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			next := time.NewTicker(keepAlive)
			defer next.Stop()
			for range calls {
				if a := h.Client.Post(harness.ChatV1, "full", harness.Hello("raw/m")); a.Status != http.StatusOK {
					failed.Add(1)
				}
				<-next.C
			}
		})
	}
	wg.Wait()
	if spent := h.Records.Key("full").Budgets[0].Spent.String(); failed.Load() > 0 || spent != fmt.Sprint(3*workers*calls) {
		t.Errorf("%d of %d calls failed, %s tokens were spent", failed.Load(), workers*calls, spent)
	}
}
