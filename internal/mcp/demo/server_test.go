package demo

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/mcp"
	"github.com/gatehouse-proxy/gatehouse/internal/mcp/builtin"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"
)

var eras = map[string]string{
	mcp.Latest:         `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"progressToken":"p"}`,
	mcp.LatestSessions: `"_meta":{"progressToken":"p"}`,
}

// ask sends a message of a version. Its params come before _meta.
func ask(t *testing.T, version, method, name, params string) *http.Response {
	t.Helper()
	return send(t.Context(), t, version, method, name, `{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":{`+params+eras[version]+`}}`)
}

func send(ctx context.Context, t *testing.T, version, method, name, body string) *http.Response {
	t.Helper()
	req, _ := http.NewRequestWithContext(ctx, http.MethodPost, "http://demo.invalid/mcp", strings.NewReader(body))
	req.Header.Set(mcp.HeaderVersion, version)
	if version == mcp.Latest {
		req.Header.Set(mcp.HeaderMethod, method)
		req.Header.Set(mcp.HeaderName, name)
	}
	server := New(func() time.Time { return time.Unix(0, 0) })
	resp, err := server.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	return resp
}

func TestTools(t *testing.T) {
	for _, test := range []struct{ tool, arguments, want string }{
		{"echo", `{"text":"<ä>"}`, `"content":[{"text":"\u003cä\u003e","type":"text"}],"isError":false`},
		{"echo", `{}`, `"isError":true`},
		{"time", `{}`, `"content":[{"text":"1970-01-01T00:00:00Z","type":"text"}],"isError":false`},
		{"error", `{}`, `"isError":true`},
		{"slow", `{"seconds":31}`, `"isError":true`},
		{"slow", `{"seconds":0}`, `"isError":true`},
		{"none", `{}`, `"error":{"code":-32602,"message":"Unknown tool: none"}`},
		{"echo", `{"text":1}`, `"code":-32602`},
	} {
		for version := range eras {
			resp := ask(t, version, "tools/call", test.tool, `"name":"`+test.tool+`","arguments":`+test.arguments+`,`)
			body, _ := io.ReadAll(resp.Body)
			if resp.Header.Get("Content-Type") != "application/json" || !strings.Contains(string(body), test.want) || !jsontest.Has(t, body, `{"id":1}`) {
				t.Errorf("%s %s of %s: %d %s", test.tool, test.arguments, version, resp.StatusCode, body)
			}
			result := len(jsontest.Values(t, body, "result")) > 0
			if has := jsontest.Has(t, body, `{"resultType":"complete"}`); has != (result && version == mcp.Latest) {
				t.Errorf("%s of %s: %s", test.tool, version, body)
			}
		}
	}
}

func TestWhatAClientAsksFirst(t *testing.T) {
	for _, test := range []struct {
		version, method, params string
		status                  int
		want                    string
	}{
		{mcp.Latest, "server/discover", "", 200, `"supportedVersions":["2026-07-28",`},
		{mcp.Latest, "tools/list", "", 200, `"cacheScope":"public"`},
		{mcp.Latest, "initialize", "", 404, `"code":-32601`},
		{"2026-07-29", "tools/list", "", 400, `"supported":["2026-07-28",`},
		{mcp.Latest, "prompts/list", "", 404, `"code":-32601`},
		{mcp.LatestSessions, "prompts/list", "", 200, `"code":-32601`},
		{mcp.LatestSessions, "initialize", `"protocolVersion":"2025-06-18",`, 200, `"protocolVersion":"2025-06-18"`},
		{mcp.LatestSessions, "initialize", `"protocolVersion":"2026-07-28",`, 200, `"protocolVersion":"2025-11-25"`},
		{mcp.LatestSessions, "ping", "", 200, `"result":{}`},
		{mcp.LatestSessions, "tools/list", "", 200, `"name":"echo"`},
	} {
		resp := ask(t, test.version, test.method, "", test.params)
		body, _ := io.ReadAll(resp.Body)
		if resp.StatusCode != test.status || !strings.Contains(string(body), test.want) {
			t.Errorf("%s of %s: %d %s", test.method, test.version, resp.StatusCode, body)
		}
	}
	for body, status := range map[string]int{
		`{"jsonrpc":"2.0","method":"notifications/cancelled"}`: 202,
		`[]`:                                   400,
		strings.Repeat(" ", builtin.MaxBody+1): 413,
	} {
		if resp := send(t.Context(), t, mcp.LatestSessions, "", "", body); resp.StatusCode != status {
			t.Errorf("%.60s: %d", body, resp.StatusCode)
		}
	}
	get, _ := http.NewRequest(http.MethodGet, "http://demo.invalid", nil)
	if resp, _ := New(time.Now).RoundTrip(get); resp.StatusCode != 405 || resp.Header.Get("Allow") != "POST" {
		t.Errorf("GET: %d", resp.StatusCode)
	}
}

func TestTheStatelessEraWantsCapabilities(t *testing.T) {
	resp := send(t.Context(), t, mcp.Latest, "tools/list", "", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`)
	body, _ := io.ReadAll(resp.Body)
	if resp.StatusCode != 400 || !jsontest.Has(t, body, `{"code":-32602}`) {
		t.Errorf("%d %s", resp.StatusCode, body)
	}
}

func TestSlowSaysHowFarItIs(t *testing.T) {
	for version := range eras {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			resp := ask(t, version, "tools/call", "slow", `"name":"slow","arguments":{"seconds":2},`)
			body, err := io.ReadAll(resp.Body)
			progress := `data: {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p","progress":1,"total":2}}` + "\n\n"
			if err != nil || !strings.HasPrefix(string(body), progress+"data: ") || !jsontest.Has(t, jsontest.Events(t, body)[1], `{"id":1}`) || !strings.Contains(string(body), "That took 2 s.") {
				t.Errorf("%v, %s", err, body)
			}
			if took := time.Since(began); took != 2*time.Second {
				t.Errorf("took %v", took)
			}
		})
	}
}

func TestSlowTakesAsLongAsItIsAsked(t *testing.T) {
	for arguments, want := range map[string]time.Duration{`{}`: 3 * time.Second, `{"seconds":1}`: time.Second, `{"seconds":30}`: 30 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			resp := ask(t, mcp.LatestSessions, "tools/call", "slow", `"name":"slow","arguments":`+arguments+`,`)
			body, err := io.ReadAll(resp.Body)
			if took := time.Since(began); err != nil || took != want || resp.ContentLength != -1 || !jsontest.Has(t, body, `{"isError":false}`) {
				t.Errorf("%s took %v, %v: %s", arguments, took, err, body)
			}
		})
	}
}

func TestSlowStopsWhenItsCallerLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, leave := context.WithCancel(t.Context())
		resp := send(ctx, t, mcp.LatestSessions, "tools/call", "slow", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow"}}`)
		time.AfterFunc(1500*time.Millisecond, leave)
		body, err := io.ReadAll(resp.Body)
		if !errors.Is(err, context.Canceled) || string(body) != ": working\n\n" {
			t.Errorf("%v, %q", err, body)
		}
		resp = ask(t, mcp.LatestSessions, "tools/call", "slow", `"name":"slow",`)
		time.AfterFunc(time.Millisecond, func() { resp.Body.Close() })
		if _, err := io.ReadAll(resp.Body); !errors.Is(err, http.ErrBodyReadAfterClose) {
			t.Errorf("%v", err)
		}
	})
}
