package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/mcp"
	"github.com/gatehouse-proxy/gatehouse/internal/mcp/demo"
)

// to sends requests to a server in memory.
func to(server http.RoundTripper) Sender {
	return func(ctx context.Context, method string, h http.Header, body []byte) (*http.Response, error) {
		req, err := http.NewRequestWithContext(ctx, method, "http://server.invalid/mcp", bytes.NewReader(body))
		if err != nil {
			return nil, err
		}
		req.Header = h
		return server.RoundTrip(req)
	}
}

// server is a server that answers each message by its method.
type server func(req *http.Request, method string) (status int, contentType, body string)

func (s server) RoundTrip(req *http.Request) (*http.Response, error) {
	body, _ := io.ReadAll(req.Body)
	m, _ := mcp.Parse(body)
	if m == nil {
		m = new(mcp.Message)
	}
	status, contentType, text := s(req, m.Method)
	text = strings.ReplaceAll(text, "ID", string(m.ID))
	return &http.Response{StatusCode: status, Body: io.NopCloser(strings.NewReader(text)),
		Header: http.Header{"Content-Type": {contentType}, mcp.HeaderSession: req.Header[mcp.HeaderSession]}}, nil
}

func names(tools []Tool) (names []string) {
	for _, tool := range tools {
		names = append(names, tool.Name)
	}
	return names
}

func TestTheDemoServerHasItsTools(t *testing.T) {
	c, err := Connect(t.Context(), to(demo.New(time.Now)))
	if err != nil || c.Version != mcp.Latest {
		t.Fatalf("%+v, %v", c, err)
	}
	tools, err := c.Tools(t.Context())
	if err != nil || !slices.Equal(names(tools), []string{"echo", "time", "slow", "error"}) || len(tools[0].InputSchema) == 0 {
		t.Errorf("%v, %v", tools, err)
	}
}

// old is a server of the era of sessions; probed is its answer to server/discover.
func old(probed func() (int, string, string), ended *bool) server {
	const session = "s1"
	return func(req *http.Request, method string) (int, string, string) {
		version := req.Header.Get(mcp.HeaderVersion)
		switch {
		case method == "server/discover":
			return probed()
		case method == "initialize" && version == "":
			req.Header.Set(mcp.HeaderSession, session)
			return 200, "application/json", `{"jsonrpc":"2.0","id":ID,"result":{"protocolVersion":"2025-06-18","capabilities":{}}}`
		case version != "2025-06-18" || req.Header.Get(mcp.HeaderSession) != session || req.Header.Get(mcp.HeaderMethod) != "":
			return 400, "text/plain", "no"
		case req.Method == http.MethodDelete:
			*ended = true
			return 405, "", ""
		case method == "notifications/initialized":
			return 202, "", ""
		}
		return 200, "text/event-stream", "id: 1\ndata:\n\n" +
			`data: {"jsonrpc":"2.0","id":"x","method":"ping"}` + "\n\n" +
			`data: {"jsonrpc":"2.0","id":99,"result":{"tools":[{"name":"of another request"}]}}` + "\n\n" +
			`data: {"jsonrpc":"2.0","id":ID,"result":{"tools":[{"name":"a"}]}}` + "\n\n"
	}
}

func TestAnOlderServerGetsASession(t *testing.T) {
	for why, probed := range map[string]func() (int, string, string){
		"empty":     func() (int, string, string) { return 400, "", "" },
		"text":      func() (int, string, string) { return 400, "text/plain", "Bad Request: Server not initialized" },
		"not found": func() (int, string, string) { return 404, "text/html", "" },
		"own error": func() (int, string, string) {
			return 400, "application/json", `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Unsupported protocol version"}}`
		},
		"unknown method": func() (int, string, string) {
			return 200, "application/json", `{"jsonrpc":"2.0","id":ID,"error":{"code":-32601,"message":"no"}}`
		},
		"list of versions": func() (int, string, string) {
			return 400, "application/json", `{"jsonrpc":"2.0","id":ID,"error":{"code":-32022,"message":"","data":{"supported":["2025-06-18"]}}}`
		},
		"only other ones": func() (int, string, string) {
			return 200, "application/json", `{"jsonrpc":"2.0","id":ID,"result":{"supportedVersions":["2025-06-18"]}}`
		},
	} {
		ended := false
		c, err := Connect(t.Context(), to(old(probed, &ended)))
		if err != nil || c.Version != "2025-06-18" {
			t.Errorf("%s: %+v, %v", why, c, err)
			continue
		}
		tools, err := c.Tools(t.Context())
		if err != nil || !slices.Equal(names(tools), []string{"a"}) {
			t.Errorf("%s: %v, %v", why, tools, err)
		}
		if err := c.Close(t.Context()); err != nil || !ended {
			t.Errorf("%s: ended %v, %v", why, ended, err)
		}
	}
}

func TestAListEndsItsSession(t *testing.T) {
	ended := false
	version, tools, err := List(t.Context(), to(old(func() (int, string, string) { return 404, "", "" }, &ended)))
	if err != nil || version != "2025-06-18" || !slices.Equal(names(tools), []string{"a"}) || !ended {
		t.Errorf("%q, %v, %v, ended %v", version, tools, err, ended)
	}
	if _, _, err := List(t.Context(), to(server(func(*http.Request, string) (int, string, string) { return 401, "", "" }))); err == nil {
		t.Error("a refusal is no error")
	}
}

func TestARefusalIsNotAnOlderServer(t *testing.T) {
	for why, answer := range map[string]struct {
		status int
		body   string
		code   int
	}{
		"no key":            {401, ``, 0},
		"down":              {503, ``, 0},
		"headers":           {400, `{"jsonrpc":"2.0","id":ID,"error":{"code":-32020,"message":"the server's words"}}`, -32020},
		"no common version": {400, `{"jsonrpc":"2.0","id":ID,"error":{"code":-32022,"message":"","data":{"supported":["2030-01-01"]}}}`, -32022},
	} {
		_, err := Connect(t.Context(), to(server(func(_ *http.Request, method string) (int, string, string) {
			if method != "server/discover" {
				t.Errorf("%s: sends %s", why, method)
			}
			return answer.status, "application/json", answer.body
		})))
		e, ok := errors.AsType[*Error](err)
		if !ok || e.Status != answer.status || e.Code != answer.code || strings.Contains(err.Error(), "words") {
			t.Errorf("%s: %v", why, err)
		}
	}
}

// modern answers server/discover, and the rest by answer.
func modern(answer func(page int) string) server {
	page := 0
	return func(_ *http.Request, method string) (int, string, string) {
		if method == "server/discover" {
			return 200, "application/json", `{"jsonrpc":"2.0","id":ID,"result":{"supportedVersions":["2026-07-28"]}}`
		}
		page++
		return 200, "application/json", `{"jsonrpc":"2.0","id":ID,"result":` + answer(page) + `}`
	}
}

// closing counts how many bodies are open.
type closing struct {
	io.Reader
	open *int
}

func (c closing) Close() error { *c.open--; return nil }

func TestEachRequestHasItsOwnIDAndTheCursorOfThePageBefore(t *testing.T) {
	var sent []string
	open := 0
	next := modern(func(page int) string { return fmt.Sprintf(`{"tools":[],"nextCursor":"%.*s"}`, 3-page, "ab") })
	send := to(next)
	c, err := Connect(t.Context(), func(ctx context.Context, method string, h http.Header, body []byte) (*http.Response, error) {
		sent = append(sent, string(body))
		resp, err := send(ctx, method, h, body)
		open++
		resp.Body = closing{resp.Body, &open}
		return resp, err
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Tools(t.Context()); err != nil || open != 0 {
		t.Errorf("%d bodies are open, %v", open, err)
	}
	for i, want := range [][]string{{`"id":1,`}, {`"id":2,`}, {`"id":3,`, `"cursor":"ab"`}, {`"id":4,`, `"cursor":"a"`}} {
		for _, part := range want {
			if i >= len(sent) || !strings.Contains(sent[i], part) {
				t.Errorf("request %d lacks %s: %q", i, part, sent)
			}
		}
	}
}

func TestWhatIsNoAnswer(t *testing.T) {
	const good = `{"jsonrpc":"2.0","id":ID,"result":{"tools":[]}}`
	for why, c := range map[string]struct{ contentType, body string }{
		"nothing":                 {"application/json", ``},
		"another id":              {"application/json", `{"jsonrpc":"2.0","id":99,"result":{"tools":[]}}`},
		"no message":              {"application/json", `{"tools":[]}`},
		"an error of no object":   {"application/json", `{"jsonrpc":"2.0","id":ID,"error":1}`},
		"a stream without an end": {"text/event-stream", strings.Repeat("data: {\"jsonrpc\":\"2.0\",\"method\":\"a\"}\n\n", maxEvents) + "data: " + good + "\n\n"},
		"a stream without one":    {"text/event-stream", ": hello\n\n"},
		"a page":                  {"text/html", good},
	} {
		c2, err := Connect(t.Context(), to(server(func(_ *http.Request, method string) (int, string, string) {
			if method == "server/discover" {
				return 200, "application/json", `{"jsonrpc":"2.0","id":ID,"result":{"supportedVersions":["2026-07-28"]}}`
			}
			return 200, c.contentType, c.body
		})))
		if err != nil {
			t.Fatal(err)
		}
		if tools, err := c2.Tools(t.Context()); err == nil {
			t.Errorf("%s: %v", why, tools)
		}
	}
}

func TestASessionOfAnUnknownVersionIsNotUsed(t *testing.T) {
	for _, version := range []string{"2024-11-05", "2026-07-28", ""} {
		_, err := Connect(t.Context(), to(server(func(_ *http.Request, method string) (int, string, string) {
			if method == "initialize" {
				return 200, "application/json", `{"jsonrpc":"2.0","id":ID,"result":{"protocolVersion":"` + version + `"}}`
			}
			return 400, "", ""
		})))
		if !errors.Is(err, errAnswer) {
			t.Errorf("%q: %v", version, err)
		}
	}
	_, err := Connect(t.Context(), to(server(func(*http.Request, string) (int, string, string) { return 400, "", "" })))
	if err == nil || err.Error() != "the MCP server answered with HTTP status 400" {
		t.Errorf("a server that refuses both: %v", err)
	}
}

func TestAllPagesAreRead(t *testing.T) {
	list := func(answer func(int) string) ([]Tool, error) {
		t.Helper()
		c, err := Connect(t.Context(), to(modern(answer)))
		if err != nil {
			t.Fatal(err)
		}
		return c.Tools(t.Context())
	}
	tools, err := list(func(page int) string {
		next := ""
		if page < 3 {
			next = `,"nextCursor":"c"`
		}
		return fmt.Sprintf(`{"tools":[{"name":"t%d"}]%s}`, page, next)
	})
	if err != nil || !slices.Equal(names(tools), []string{"t1", "t2", "t3"}) {
		t.Errorf("%v, %v", tools, err)
	}
	if _, err := list(func(int) string { return `{"tools":[],"nextCursor":"again"}` }); !errors.Is(err, mcp.ErrTools) {
		t.Errorf("endless pages: %v", err)
	}
	many := `{"tools":[` + strings.Repeat(`{"name":"a"},`, mcp.MaxTools) + `{"name":"a"}]}`
	if _, err := list(func(int) string { return many }); !errors.Is(err, mcp.ErrTools) {
		t.Errorf("too many: %v", err)
	}
	for _, result := range []string{`{"tools":1}`, `[]`, `{"tools":[]},"x":`} {
		if _, err := list(func(int) string { return result }); !errors.Is(err, errAnswer) {
			t.Errorf("%s: %v", result, err)
		}
	}
}
