package operator

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"
	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// slowTools is an MCP server of the older versions with one session, a stream of its own that says
// hello and nothing more, and tools that answer when they may.
type slowTools struct {
	*httptest.Server
	called chan struct{} // a tool was
	answer chan struct{} // lets a tool answer
	gone   chan struct{} // a client has left the stream of the server's own
}

func startSlowTools(t *testing.T) *slowTools {
	s := &slowTools{called: make(chan struct{}, 1), answer: make(chan struct{}), gone: make(chan struct{}, 9)}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(s.Close)
	return s
}

func (s *slowTools) serve(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	text := string(body)
	switch {
	case r.Method == http.MethodGet:
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "id: 1\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n\n")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
		s.gone <- struct{}{}
		return
	case strings.Contains(text, `"initialize"`):
		w.Header().Set("Mcp-Session-Id", "the-session")
	case r.Header.Get("Mcp-Session-Id") != "the-session":
		w.WriteHeader(http.StatusNotFound)
		return
	case strings.Contains(text, `"tools/call"`):
		s.called <- struct{}{}
		<-s.answer
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":7,"result":{"content":[]}}`)
}

// speak is a request of a session of the older versions; session is "" before it has begun.
func speak(h *harness.Gateway, secret, method, session, message string) *http.Request {
	r := h.Client.Request("/mcp/slow", "", message)
	r.Method = method
	r.Header = http.Header{
		"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
		"Authorization": {"Bearer " + secret}, "Mcp-Protocol-Version": {"2025-11-25"},
	}
	if session != "" {
		r.Header.Set("Mcp-Session-Id", session)
	}
	return r
}

// openStream opens the stream of a session, and returns once its first event is there. What follows it
// is sent when the stream has ended.
func openStream(h *harness.Gateway, secret, session string) (rest chan string) {
	h.T.Helper()
	resp, err := h.Client.HTTP.Do(speak(h, secret, http.MethodGet, session, ""))
	if err != nil || resp.StatusCode != http.StatusOK {
		h.T.Fatal(err, resp)
	}
	events := bufio.NewReader(resp.Body)
	for {
		line, err := events.ReadString('\n')
		if err != nil {
			h.T.Fatal(err)
		}
		if line == "\n" {
			break
		}
	}
	rest = make(chan string, 1)
	go func() {
		text, err := io.ReadAll(events)
		_ = resp.Body.Close()
		rest <- fmt.Sprint(string(text), err)
	}()
	return rest
}

const (
	beginSession = `{"jsonrpc":"2.0","id":7,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	listTools    = `{"jsonrpc":"2.0","id":7,"method":"tools/list"}`
	runTool      = `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"run"}}`
)

func wantSpoken(h *harness.Gateway, r *http.Request, status int) harness.Answer {
	h.T.Helper()
	a := h.Client.Send(r)
	if a.Status != status || a.Err != nil {
		h.T.Fatalf("%d %s %v, want %d", a.Status, a.Body, a.Err, status)
	}
	return a
}

// A reload ends the stream that stays open, and its client opens it again. A call that runs goes on, and
// so does the session, also over a restart.
func TestAReloadEndsOpenStreamsAndNoCallOfATool(t *testing.T) {
	s := startSlowTools(t)
	const key = "gk-test-slow-5f2b8c71d0e94a36"
	setup := harness.Setup{Keys: "key slow {\nsecret " + key + "\nscopes mcp:call activity:read\nmcp slow\n}\n", Options: "mcp slow {\nurl " + s.URL + "/mcp\n}\n"}
	h := harness.Start(t, setup)
	session := wantSpoken(h, speak(h, key, "POST", "", beginSession), 200).Header.Get("Mcp-Session-Id")
	if session != "the-session" {
		t.Fatalf("session %q", session)
	}
	rest := openStream(h, key, session)
	ended := make(chan harness.Answer, 1)
	go func() { ended <- h.Client.Send(speak(h, key, "POST", session, runTool)) }()
	<-s.called
	h.Become(setup)
	if text := <-rest; text != "<nil>" {
		t.Errorf("the stream ended with %q", text)
	}
	<-s.gone
	close(s.answer)
	if a := <-ended; a.Status != 200 || !jsontest.Has(t, a.Body, `{"content":[]}`) {
		t.Errorf("the call ended with %d %s %v", a.Status, a.Body, a.Err)
	}
	rest = openStream(h, key, session)
	wantSpoken(h, speak(h, key, "POST", session, listTools), 200)

	h.Stop()
	if text := <-rest; text != "<nil>" {
		t.Errorf("at the shutdown the stream ended with %q", text)
	}
	if err := h.Reload(setup); err != nil {
		t.Fatal(err)
	}
	wantSpoken(h, speak(h, key, "POST", session, listTools), 200)
	wantSpoken(h, speak(h, key, "POST", "another-session", listTools), 404)
}

// A key that was disabled at run time loses its open streams.
func TestADisabledKeyLosesItsOpenStream(t *testing.T) {
	s := startSlowTools(t)
	h := harness.Start(t, harness.Setup{Keys: managerKeys, Options: "mcp slow {\nurl " + s.URL + "/mcp\n}\nruntime_keys {\nscopes mcp:call\nmcp slow\n}\n"})
	key := makeKey(h, `,"mcp":["slow/*"]`)
	session := wantSpoken(h, speak(h, key.secret, "POST", "", beginSession), 200).Header.Get("Mcp-Session-Id")
	rest := openStream(h, key.secret, session)
	changeKey(h, key, `{"disabled":true}`)
	if text := <-rest; text != "<nil>" {
		t.Errorf("the stream ended with %q", text)
	}
	<-s.gone
	rows := h.Client.Get("/api/v1/activity?code=invalid_api_key", "manager")
	if !strings.Contains(string(rows.Body), `"GET /mcp/{id}"`) {
		t.Errorf("%s", rows.Body)
	}
}
