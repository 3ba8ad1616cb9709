package api

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"
	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// toolsKeys is a key that may use all tools of a server but one. Its single slot shows whether a call
// gave back what it held.
const toolsKeys = `
	key full {
		secret {env.KEY_FULL}
		scopes mcp:call activity:read chat:write models:read
		concurrency 1
		mcp tools tools read_* echo
	}
`

// hostile is an MCP server that does what the called tool's name says.
type hostile struct {
	*httptest.Server
	elsewhere atomic.Int64 // requests at another address
	left      atomic.Int64 // requests whose client has left
}

func startHostile(t *testing.T) *hostile {
	h := new(hostile)
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { h.elsewhere.Add(1) }))
	h.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { h.serve(w, r, other.URL) }))
	t.Cleanup(h.CloseClientConnections)
	t.Cleanup(h.Close)
	t.Cleanup(other.Close)
	return h
}

const (
	hidden     = `{"tools":[{"name":"secret_tool"},{"name":"read_a"}]}`
	huge       = 100 << 20
	eventsType = "text/event-stream"
)

func (h *hostile) serve(w http.ResponseWriter, r *http.Request, elsewhere string) {
	var m struct {
		ID     json.RawMessage
		Params struct{ Name string }
	}
	body, _ := io.ReadAll(r.Body)
	_ = json.Unmarshal(body, &m)
	contentType, status, text := "application/json", 200, ""
	result := func(id, result string) string { return `{"jsonrpc":"2.0","id":` + id + `,"result":` + result + `}` }
	good := result(string(m.ID), `{"content":[{"type":"text","text":"good"}]}`)
	switch m.Params.Name {
	case "echo":
		text = good
	case "read_redirect":
		w.Header().Set("Location", elsewhere)
		status = 307
	case "read_html":
		contentType, text = "text/html", "<h1>secret_tool</h1>"
	case "read_no_type":
		contentType, text = "", good
	case "read_other_id":
		text = result("99", hidden)
	case "read_other_id_in_stream":
		contentType, text = eventsType, "data: "+result("99", hidden)+"\n\ndata: "+good+"\n\n"
	case "read_batch":
		text = "[" + result("99", hidden) + "," + good + "]"
	case "read_two":
		text = good + result("99", hidden)
	case "read_twice":
		text = strings.Replace(good, `"result"`, `"result":`+hidden+`,"result"`, 1)
	case "read_compressed":
		w.Header().Set("Content-Encoding", "gzip")
		text = good
	case "read_nothing", "":
	case "read_cut":
		w.Header().Set("Content-Length", "1000")
		text = good
	case "read_no_answer_in_stream":
		contentType, text = eventsType, ": hello\n\n"
	case "read_list":
		text = result(string(m.ID), hidden)
	case "read_huge", "read_huge_event", "read_endless":
		h.pour(w, r, m.Params.Name)
		return
	}
	if contentType != "" {
		w.Header().Set("Content-Type", contentType)
	}
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text)
}

// pour writes without end, until the gateway leaves.
func (h *hostile) pour(w http.ResponseWriter, r *http.Request, name string) {
	piece := strings.Repeat("x", 64<<10)
	first := `{"jsonrpc":"2.0","id":7,"result":{"content":"`
	switch name {
	case "read_huge":
		w.Header().Set("Content-Type", "application/json")
	case "read_huge_event":
		w.Header().Set("Content-Type", eventsType)
		first = "data: " + first
	case "read_endless":
		w.Header().Set("Content-Type", eventsType)
		first, piece = "", `data: {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info"}}`+"\n\n"
	}
	_, _ = io.WriteString(w, first)
	for sent := 0; sent < huge && r.Context().Err() == nil; sent += len(piece) {
		if _, err := io.WriteString(w, piece); err != nil {
			break
		}
	}
	h.left.Add(1)
}

// callOf is the call of a tool by a client of 2025-11-25.
func callOf(h *harness.Gateway, tool string) *http.Request {
	r := h.Client.Request("/mcp/tools", "full", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"`+tool+`","arguments":{}}}`)
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("Mcp-Protocol-Version", "2025-11-25")
	return r
}

func startTools(t *testing.T, url string) *harness.Gateway {
	return harness.Start(t, harness.Setup{Keys: toolsKeys,
		Options: "mcp tools {\nurl " + url + "/mcp\nmax_result 1MiB\n}\n"})
}

// However an MCP server answers, the client gets one answer to its own request, nothing that it may not
// see, and can call again at once.
func TestAnMCPServerCannotDoWhatItLikes(t *testing.T) {
	server := startHostile(t)
	h := startTools(t, server.URL)
	for tool, want := range map[string]string{
		"read_redirect":            "upstream_error",
		"read_html":                "upstream_error",
		"read_no_type":             "upstream_error",
		"read_other_id":            "upstream_error",
		"read_other_id_in_stream":  "upstream_error",
		"read_batch":               "upstream_error",
		"read_two":                 "upstream_error",
		"read_twice":               "upstream_error",
		"read_compressed":          "upstream_error",
		"read_nothing":             "upstream_error",
		"read_cut":                 "upstream_error",
		"read_no_answer_in_stream": "upstream_error",
		"read_huge":                "upstream_error",
		"read_huge_event":          "upstream_error",
		"read_list":                "",
	} {
		a := h.Client.Send(callOf(h, tool))
		text := string(a.Body)
		if !jsontest.Has(t, text, `{"id":7}`) || jsontest.String(t, text, "code") != want {
			t.Errorf("%s: %d %.300q, want the code %q", tool, a.Status, text, want)
		}
		if strings.Contains(text, "secret_tool") {
			t.Errorf("%s: the client sees %.300q", tool, text)
		}
		if a := h.Client.Send(callOf(h, "echo")); !strings.Contains(string(a.Body), "good") {
			t.Errorf("a call after %s: %d %s", tool, a.Status, a.Body)
		}
	}
	if server.elsewhere.Load() != 0 {
		t.Error("a redirect was followed")
	}
	if !harness.Eventually(func() bool { return server.left.Load() == 2 }) {
		t.Errorf("of 2 answers without end, %d were left", server.left.Load())
	}
}

// A client that leaves an answer without end ends it at the server, and its slot is free.
func TestALeftAnswerOfAnMCPServerEnds(t *testing.T) {
	server := startHostile(t)
	h := startTools(t, server.URL)
	s := h.Client.Open(callOf(h, "read_endless"))
	s.MustNext()
	s.Disconnect()
	if !harness.Eventually(func() bool { return server.left.Load() == 1 }) {
		t.Error("the server still answers")
	}
	if !harness.Eventually(func() bool { return strings.Contains(string(h.Client.Send(callOf(h, "echo")).Body), "good") }) {
		t.Error("its slot is not free")
	}
}

// What a client sends that can be read in two ways reaches no server.
func TestAnMCPClientCannotDoWhatItLikes(t *testing.T) {
	var received atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Mcp-Method") != "server/discover" { // the gateway asks for versions by itself
			received.Add(1)
		}
	}))
	defer server.Close()
	h := startTools(t, server.URL)
	const echo = `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo"}}`
	for why, c := range map[string]struct {
		body   string
		header map[string]string // of the request; Name=A,B is sent as two
		status int
	}{
		"a batch":               {"[" + echo + "]", nil, 400},
		"two messages":          {echo + echo, nil, 400},
		"another case":          {strings.Replace(echo, `"name"`, `"Name":"secret_tool","name"`, 1), nil, 400},
		"an escaped key":        {strings.Replace(echo, `"name"`, `"\u006eame":"secret_tool","name"`, 1), nil, 400},
		"no JSON":               {"\xff" + echo, nil, 400},
		"a deep body":           {strings.Replace(echo, `"echo"`, strings.Repeat("[", 10_000), 1), nil, 400},
		"a form":                {echo, map[string]string{"Content-Type": "text/plain"}, 415},
		"another method":        {echo, map[string]string{"Mcp-Method": "tools/list"}, 400},
		"another name":          {echo, map[string]string{"Mcp-Name": "read_a"}, 400},
		"an unknown version":    {echo, map[string]string{"Mcp-Protocol-Version": "2024-11-05"}, 400},
		"a stateless one":       {echo, map[string]string{"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "echo"}, 400},
		"a session of nobody":   {echo, map[string]string{"Mcp-Session-Id": "s"}, 404},
		"a page of another":     {echo, map[string]string{"Origin": "https://evil.example"}, 403},
		"a tool not allowed":    {strings.Replace(echo, "echo", "secret_tool", 1), nil, 200},
		"a name of many bytes":  {strings.Replace(echo, "echo", strings.Repeat("a", 5000), 1), nil, 200},
		"a notification of one": {strings.Replace(echo, `"id":7,`, "", 1), nil, 400},
	} {
		r := h.Client.Request("/mcp/tools", "full", c.body)
		for name, value := range c.header {
			r.Header.Set(name, value)
		}
		a := h.Client.Send(r)
		if a.Status != c.status || !strings.Contains(string(a.Body), `"error"`) {
			t.Errorf("%s: %d %.300s, want %d", why, a.Status, a.Body, c.status)
		}
	}
	twice := h.Client.Request("/mcp/tools", "full", echo)
	twice.Header["Mcp-Protocol-Version"] = []string{"2025-11-25", "2026-07-28"}
	if a := h.Client.Send(twice); a.Status != 400 {
		t.Errorf("two versions: %d %s", a.Status, a.Body)
	}
	if n := received.Load(); n != 0 {
		t.Errorf("the server received %d requests", n)
	}
}
