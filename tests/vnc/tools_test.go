package vnc

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"
	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

const (
	runOfAgent = "4bf92f3577b34da6a3ce929d0e0e4736"
	toolsKeys  = `
		key bot {
			secret {env.KEY_FULL}
			scopes mcp:call chat:write models:read workstations:automate
			mcp desktops
		}
		key looker {
			secret {env.KEY_NARROW}
			scopes mcp:call workstations:automate
			mcp desktops tools look
		}
		key nobody {
			secret {env.KEY_OTHER}
			scopes mcp:call
			mcp desktops
		}
		key outside {
			secret {env.KEY_MODELS}
			scopes mcp:call workstations:automate
			tenant other
			mcp desktops
		}
		key reader {
			secret {env.KEY_ACTIVITY}
			scopes activity:read
		}
`
)

// toolAnswer is what a tool has answered, or the error instead.
type toolAnswer struct {
	Result struct {
		Content []struct{ Type, Text, Data, MimeType string }
		IsError bool
	}
	Error *struct{ Message string }
}

func (a *toolAnswer) text() string {
	var all []string
	for _, c := range a.Result.Content {
		all = append(all, c.Text)
	}
	return strings.TrimSpace(strings.Join(all, " "))
}

// useTool calls a tool of the built-in server of desktops.
func useTool(t *testing.T, h *harness.Gateway, key, tool, arguments string) (answer toolAnswer) {
	t.Helper()
	r := h.Client.Request("/mcp/desktops", key, `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"`+tool+`","arguments":`+arguments+`}}`)
	r.Header.Set("Mcp-Protocol-Version", "2025-11-25")
	r.Header.Set("Traceparent", "00-"+runOfAgent+"-00f067aa0ba902b7-01")
	a := h.Client.Send(r)
	if err := json.Unmarshal(a.Body, &answer); err != nil || a.Status != 200 {
		t.Fatalf("%s: %d %s", tool, a.Status, a.Body)
	}
	return answer
}

func startToolsAtDesktops(t *testing.T, vnc string) *harness.Gateway {
	return harness.StartVNC(t, harness.Setup{Keys: toolsKeys, Options: "mcp desktops {\ndesktops\nprice act 0.25usd\n}\n", VNC: vnc})
}

// A model's call, the tools that it led to and the session at the desktop are one run, in which nothing
// is that was typed.
func TestAModelUsesADesktopByTools(t *testing.T) {
	const marker = "hunter2secret"
	c, address := keepingCard(t)
	h := startToolsAtDesktops(t, "automation control\nworkstation card "+address+"\n")
	r := h.Client.Request(harness.ChatV1, "full", harness.Chat("fake/echo", ""))
	r.Header.Set("Traceparent", "00-"+runOfAgent+"-00f067aa0ba902b7-01")
	h.Client.Send(r)

	if a := useTool(t, h, "full", "list_desktops", `{}`); !jsontest.Has(t, a.text(), `{"desktop":"card"}`) || !jsontest.Has(t, a.text(), `{"automation":"control","holder":"none"}`) {
		t.Errorf("the list is %+v", a)
	}
	look := useTool(t, h, "full", "look", `{"desktop":"card"}`)
	said, stillChanging := strings.CutSuffix(look.text(), ". It is still changing.")
	_, space, _ := strings.Cut(said, ". Repeat with coordinates: ")
	if len(look.Result.Content) != 2 || look.Result.Content[0].MimeType != "image/png" || len(look.Result.Content[0].Data) < 1000 || !strings.HasPrefix(look.text(), "The picture is 1280 x 720, of a desktop of 1280 x 720. Its name is ") ||
		!stillChanging || !jsontest.Has(t, "{"+space+"}", `{"space":{"width":1280,"height":720}}`) {
		t.Errorf("a look is %.300v", look)
	}
	act := useTool(t, h, "full", "act", `{"desktop":"card","actions":[{"type":"click","button":"left","x":300,"y":100},{"type":"type","text":"`+marker+`"}],"screenshot":{"max_ms":100}}`)
	if act.Result.IsError || !strings.HasPrefix(act.text(), "Actions done: 2. The pointer is at 300, 100.") {
		t.Errorf("an act is %.300v", act)
	}
	if got := c.events(0); !strings.HasPrefix(got, "300,100:0 300,100:1 300,100:0 +h -h +u -u") {
		t.Errorf("the workstation got %s", got)
	}
	if a := useTool(t, h, "full", "act", `{"desktop":"card","action":"left_click","coordinate":[1280,0]}`); !a.Result.IsError || !strings.HasPrefix(a.text(), "invalid_value: coordinate: ") {
		t.Errorf("a click outside is %+v", a)
	}
	if a := useTool(t, h, "full", "request_help", `{"desktop":"card","note":"Is it right?"}`); a.Result.IsError {
		t.Errorf("%+v", a)
	}
	control := harness.Parse(t, h.Client.Get("/v1/workstations/card/control", "desk").Body)
	if harness.At(control, "holder") != "agent" || harness.At(control, "requests", 0, "note") != "Is it right?" || harness.At(control, "requests", 0, "key") != "bot" {
		t.Errorf("the control is %v", control)
	}
	session := harness.Parse(t, h.Client.Want(200, http.MethodGet, "/v1/sessions", "desk", "").Body)
	id, _ := harness.At(session, "data", 0, "session_id").(string)
	h.Client.Want(204, http.MethodDelete, "/v1/sessions/"+id, "desk", "")

	var rows []any
	if !harness.Eventually(func() bool {
		rows, _ = harness.At(harness.Parse(t, h.Client.Get("/api/v1/activity?trace_id="+runOfAgent, "desk").Body), "data").([]any)
		return len(rows) == 7
	}) {
		t.Fatalf("the run has %d rows: %v", len(rows), rows)
	}
	var steps []string
	for _, row := range rows { // the newest first
		what := fmt.Sprint(harness.At(row, "model"))
		if role := harness.At(row, "role"); role != nil {
			what = fmt.Sprint("session of the ", role, " at ", harness.At(row, "workstation"))
		}
		steps = append(steps, fmt.Sprint(what, " ", harness.At(row, "usage")))
	}
	const want = "desktops/request_help 0, desktops/act 0.25, desktops/act 0.25, session of the agent at card 0, desktops/look 0, desktops/list_desktops 0, fake/echo 0"
	if got := strings.Join(steps, ", "); got != want {
		t.Errorf("the run is %s", got)
	}
	if text := fmt.Sprint(h.Records.Rows("")); strings.Contains(text, marker) || len(harness.Log.Lines(marker)) > 0 {
		t.Error("what was typed is in a row or in the log")
	}
}

func TestToolsAtDesktopsHaveTheRightsOfTheirCaller(t *testing.T) {
	h := startToolsAtDesktops(t, "automation view\nworkstation card {\ntest_card\n}\nworkstation closed {\ntest_card\nsession {\nautomation off\n}\n}\n")
	for _, c := range []struct{ key, tool, arguments, want string }{
		{"full", "list_desktops", `{}`, `[{"desktop":"card","state":"available","automation":"view","holder":"none"}]`},
		{"full", "act", `{"desktop":"card","action":"left_click"}`, "automation_off: agents may not act on"},
		{"full", "look", `{"desktop":"closed"}`, "automation_off: agents may not look at"},
		{"full", "look", `{"desktop":"none"}`, "not_found: "},
		{"models", "look", `{"desktop":"card"}`, "not_found: "},
		{"models", "list_desktops", `{}`, "There is no desktop that you may use."},
		{"other", "look", `{"desktop":"card"}`, "insufficient_scope: "},
		{"other", "list_desktops", `{}`, "insufficient_scope: "},
		{"other", "request_help", `{"desktop":"card","note":"x"}`, "insufficient_scope: "},
		{"full", "request_help", `{"desktop":"none","note":"x"}`, "not_found: "},
		{"full", "request_help", `{"desktop":"card","note":"` + strings.Repeat("x", 501) + `"}`, "invalid_value: "},
	} {
		if a := useTool(t, h, c.key, c.tool, c.arguments); !strings.HasPrefix(a.text(), c.want) {
			t.Errorf("%s %s %.60s: %.300v, want %s", c.key, c.tool, c.arguments, a, c.want)
		}
	}
	if a := useTool(t, h, "narrow", "act", `{"desktop":"card","action":"left_click"}`); a.Error == nil || a.Error.Message != "Unknown tool: act" {
		t.Errorf("a key with look alone acts: %+v", a)
	}
	if a := useTool(t, h, "narrow", "look", `{"desktop":"card"}`); a.Result.IsError {
		t.Errorf("%+v", a.text())
	}
}
