package mcp_test

import (
	"context"
	"errors"
	"net/http"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// timeout ends a test that hangs.
const timeout = 30 * time.Second

const latest, sessions = "2026-07-28", "2025-11-25"

func env(t *testing.T, name string) string {
	t.Helper()
	value := os.Getenv(name)
	if value == "" {
		t.Fatalf("%s is not set", name)
	}
	return value
}

// keyed sends a key with each request.
type keyed string

func (k keyed) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	req.Header.Set("Authorization", "Bearer "+string(k))
	return http.DefaultTransport.RoundTrip(req)
}

func connect(t *testing.T, server, key string, options *mcp.ClientOptions) (*mcp.ClientSession, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	t.Cleanup(cancel)
	client := mcp.NewClient(&mcp.Implementation{Name: "suite", Version: "1"}, options)
	session, err := client.Connect(ctx, &mcp.StreamableClientTransport{
		Endpoint:   env(t, "GATEWAY_ORIGIN") + "/mcp/" + server,
		HTTPClient: &http.Client{Transport: keyed(key)},
		MaxRetries: -1,
	}, nil)
	if err == nil {
		t.Cleanup(func() { session.Close() })
	}
	return session, err
}

func started(t *testing.T, server, key string, options *mcp.ClientOptions) *mcp.ClientSession {
	t.Helper()
	session, err := connect(t, server, key, options)
	if err != nil {
		t.Fatalf("%s: %v", server, err)
	}
	return session
}

func call(t *testing.T, s *mcp.ClientSession, tool string, arguments any) *mcp.CallToolResult {
	t.Helper()
	result, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	return result
}

func text(r *mcp.CallToolResult) string {
	for _, content := range r.Content {
		if t, ok := content.(*mcp.TextContent); ok {
			return t.Text
		}
	}
	return ""
}

func tools(t *testing.T, s *mcp.ClientSession) (names []string) {
	t.Helper()
	list, err := s.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
	}
	return names
}

// code is the code of the error with which a call is refused.
func code(err error) int64 {
	if refused, ok := errors.AsType[*jsonrpc.Error](err); ok {
		return refused.Code
	}
	return 0
}

func TestToolsRoundTrip(t *testing.T) {
	s := started(t, "demo", env(t, "GATEWAY_API_KEY"), nil)
	if got := tools(t, s); !slices.Equal(got, []string{"echo", "time", "slow", "error"}) {
		t.Errorf("tools %q", got)
	}
	if echo := call(t, s, "echo", map[string]any{"text": "hü <b>"}); text(echo) != "hü <b>" || echo.IsError {
		t.Errorf("echo: %+v", echo)
	}
	if failed := call(t, s, "error", nil); !failed.IsError {
		t.Errorf("error: %+v", failed)
	}
	if _, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "none"}); code(err) != jsonrpc.CodeInvalidParams {
		t.Errorf("unknown tool: %v", err)
	}
}

func TestProgressComesBeforeTheAnswer(t *testing.T) {
	var seen []float64
	s := started(t, "demo", env(t, "GATEWAY_API_KEY"), &mcp.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
			seen = append(seen, r.Params.Progress)
		},
	})
	params := &mcp.CallToolParams{Name: "slow", Arguments: map[string]any{"seconds": 2}}
	params.SetProgressToken("p")
	result, err := s.CallTool(t.Context(), params)
	if err != nil || text(result) != "That took 2 s." || !slices.Equal(seen, []float64{1}) {
		t.Errorf("%+v, %v, progress %v", result, err, seen)
	}
}

func TestAKeyHasItsToolsAndNoOthers(t *testing.T) {
	s := started(t, "demo", env(t, "GATEWAY_NARROW_KEY"), nil)
	if got := tools(t, s); !slices.Equal(got, []string{"echo"}) {
		t.Errorf("tools %q", got)
	}
	if _, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "time"}); code(err) != jsonrpc.CodeInvalidParams {
		t.Errorf("another tool: %v", err)
	}
}

func TestAWrongKeyOrServerEndsAtOnce(t *testing.T) {
	for server, key := range map[string]string{"demo": "gh-wrong", "stateless": env(t, "GATEWAY_NARROW_KEY"), "none": env(t, "GATEWAY_API_KEY")} {
		if _, err := connect(t, server, key, nil); err == nil || errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v", server, err)
		}
	}
}

func TestAServerAsksTheClient(t *testing.T) {
	options := &mcp.ClientOptions{
		//nolint:staticcheck // deprecated for new servers; those of the older versions ask
		CreateMessageHandler: func(context.Context, *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
			//nolint:staticcheck // as above
			return &mcp.CreateMessageResult{Role: "assistant", Model: "m", Content: &mcp.TextContent{Text: "sampled"}}, nil
		},
		ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"name": "Ada", "username": "ada", "email": "a@example.com"}}, nil
		},
	}
	old := started(t, "sessions", env(t, "GATEWAY_API_KEY"), options)
	if got := old.InitializeResult().ProtocolVersion; got != sessions {
		t.Errorf("version %q", got)
	}
	for tool, arguments := range map[string]any{"test_sampling": map[string]any{"prompt": "hello"}, "test_elicitation": map[string]any{"message": "who?"}} {
		if r := call(t, old, tool, arguments); r.IsError {
			t.Errorf("%s: %s", tool, text(r))
		}
	}
	s := started(t, "stateless", env(t, "GATEWAY_API_KEY"), options)
	if got := s.InitializeResult().ProtocolVersion; got != latest {
		t.Errorf("version %q", got)
	}
	for _, tool := range []string{"test_input_required_result_sampling", "test_input_required_result_elicitation"} {
		if r := call(t, s, tool, map[string]any{}); r.IsError {
			t.Errorf("%s: %s", tool, text(r))
		}
	}
}
