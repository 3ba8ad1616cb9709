package toolcall

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/mcp"
	"github.com/gatehouse-proxy/gatehouse/internal/request"
)

// A thousand calls at once each get their own answer, and none is held in the end. Those larger than
// what is copied are read by the transport while others use buffers again.
func TestAThousandCallsAtOnce(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(req.Body)
		m, fault := mcp.Parse(body)
		if err != nil || fault != nil {
			w.WriteHeader(http.StatusTeapot)
			return
		}
		answer := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[],"length":%d}}`, m.ID, len(body))
		if len(m.ID)%2 == 0 {
			w.Header().Set("Content-Type", asJSON)
			_, _ = io.WriteString(w, answer)
			return
		}
		w.Header().Set("Content-Type", asEvents)
		_, _ = io.WriteString(w, event(1, progress)+event(2, answer))
	}))
	defer server.Close()
	r := newRig(t, http.DefaultTransport, func(r *rig) { r.config.URL = server.URL + "/mcp" })
	found, err := r.ring.Authenticate(secret, r.Now())
	if err != nil {
		t.Fatal(err)
	}
	const calls, atOnce = 1000, 100
	turn, ended := make(chan struct{}, atOnce), sync.WaitGroup{}
	for i := range calls {
		turn <- struct{}{}
		ended.Go(func() {
			defer func() { <-turn }()
			body := strings.Replace(toolCall("echo"), `"id":7`, fmt.Sprintf(`"id":%d`, i), 1)
			body = strings.Replace(body, "hello", strings.Repeat("x", (i%3)*10_000), 1)
			w := httptest.NewRecorder()
			q, err := request.Begin(&r.Deps.Deps.Deps, w, post(body), request.Caller{Credential: found, Secret: secret}, request.Route{Name: "POST /mcp/{id}", Family: "mcp", Recorded: true}, request.IDs{RequestID: fmt.Sprint("req_", i)})
			if err != nil {
				t.Error(err)
				return
			}
			err = Serve(&r.Deps, q, "files", nil)
			q.Finish()
			want := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"content":[],"length":%d}}`, i, len(body))
			if err != nil || !strings.Contains(w.Body.String(), want) {
				t.Errorf("%d: %v %s", i, err, w.Body)
			}
		})
	}
	ended.Wait()
	if len(r.rows) != calls {
		t.Errorf("%d rows", len(r.rows))
	}
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	r.released(t)
}
