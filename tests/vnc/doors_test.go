package vnc

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// What a tool of the server of desktops does, routes do too: these tests come in by both doors.

const (
	controlPath = "/v1/workstations/card/control"
	click       = `{"action":"left_click","screenshot":{"max_ms":0}}`
	nothing     = `{"action":"screenshot","screenshot":{"max_ms":0}}`
	readerKey   = "key reader {\nsecret {env.KEY_ACTIVITY}\nscopes activity:read\n}\n"
)

// startDoors has a desktop, the server of desktops with more options, and keys with lines of their own.
func startDoors(t *testing.T, server, options, keys string) *harness.Gateway {
	return harness.StartVNC(t, harness.Setup{
		Keys: readerKey + keys, Options: "mcp desktops {\ndesktops\n" + server + "}\n" + options, VNC: "automation control\n" + testCard,
	})
}

func deskKey(env, lines string) string {
	return "key " + env + " {\nsecret {env.KEY_" + env + "}\nscopes mcp:call workstations:automate workstations:connect\n" + lines + "}\n"
}

func TestAToolThatAKeyMayNotCallIsNoRouteOfIts(t *testing.T) {
	h := startDoors(t, "tools deny request_help\n", "tenant other {\nmcp desktops tools look wait\n}\n",
		deskKey("FULL", "mcp desktops\n")+deskKey("NARROW", "mcp desktops tools look\n")+deskKey("MODELS", "")+
			deskKey("CHAT", "mcp desktops tools list_desktops\n")+deskKey("OTHER", "tenant other\n"))
	const press, help, take = `{"action":"left_click"}`, `{"action":"request_help","note":"x"}`, `{"action":"take"}`
	for _, c := range []struct {
		key, method, path, body string
		status                  int
		code                    string
	}{
		{"full", "POST", inputPath, nothing, 200, ""},
		{"full", "GET", cardShot + "?wait=1", "", 200, ""},
		{"full", "POST", controlPath, help, 403, "insufficient_scope"}, // nobody may call it
		{"full", "POST", controlPath, take, 404, "not_found"},          // it has no session
		{"narrow", "GET", cardShot, "", 200, ""},
		{"narrow", "GET", cardShot + "?wait=1", "", 403, "insufficient_scope"},
		{"narrow", "POST", inputPath, press, 403, "insufficient_scope"},
		{"narrow", "POST", inputPath, `{"action":"fly"}`, 403, "insufficient_scope"},
		{"narrow", "POST", controlPath, take, 403, "insufficient_scope"},
		{"narrow", "POST", controlPath, help, 403, "insufficient_scope"},
		{"models", "POST", inputPath, nothing, 200, ""}, // its scope is enough
		{"models", "GET", cardShot, "", 200, ""},
		{"models", "POST", controlPath, take, 404, "not_found"},
		{"chat", "GET", cardShot, "", 403, "insufficient_scope"},
		{"other", "POST", inputPath, press, 403, "insufficient_scope"}, // by the lines of its tenant
		{"other", "GET", cardShot, "", 404, "not_found"},
	} {
		var a harness.Answer
		if c.method == "GET" {
			a = h.Client.Get(c.path, c.key)
		} else {
			a = h.Client.Post(c.path, c.key, c.body)
		}
		if c.code != "" {
			harness.WantRefusal(t, c.path, a, c.status, c.code)
		} else if a.Status != c.status {
			t.Errorf("%s %s %s: %d %s", c.key, c.path, c.body, a.Status, a.Body)
		}
	}
	row := h.Records.Row(h.Client.Post(inputPath, "narrow", press).Header.Get("X-Request-Id"))
	if got := harness.At(row, "refused_by"); got != "key NARROW: mcp desktops" {
		t.Errorf("it is refused by %v", got)
	}
}

// The tool's rate, price and row are the route's; both doors count together.
func TestARouteCountsAndCostsWhatItsToolDoes(t *testing.T) {
	h := startDoors(t, "price act 0.25usd\nprice look 0.1usd\n", "", deskKey("FULL", "mcp desktops\nrate 5/min\nbudget 1usd/day\n")+deskKey("MODELS", "budget 0.3usd/day\n"))
	useTool(t, h, "full", "act", `{"desktop":"card","action":"wait","duration":0,"screenshot":{"max_ms":0}}`)
	acted := h.Client.Want(200, "POST", inputPath, "full", click)
	looked := h.Client.Want(200, "GET", still, "full", "")
	r := h.Client.Request(still, "full", "")
	r.Header.Set("If-None-Match", looked.Header.Get("ETag"))
	known := h.Client.Send(r)
	for id, want := range map[string]string{
		looked.Header.Get("X-Request-Id"): "desktops desktops/look 0.1 200 card", acted.Header.Get("X-Request-Id"): "desktops desktops/act 0.25 200 card",
		known.Header.Get("X-Request-Id"): "desktops desktops/look 0.1 304 card",
	} {
		row := h.Records.Row(id)
		got := fmt.Sprint(harness.At(row, "provider_name"), " ", harness.At(row, "model"), " ", harness.At(row, "usage"), " ", harness.At(row, "status"), " ", harness.At(row, "workstation"))
		if got != want {
			t.Errorf("the row is %s, want %s", got, want)
		}
	}
	h.Client.Want(200, "GET", still, "full", "")
	harness.WantRefusal(t, cardShot, h.Client.Get(cardShot, "full"), 429, "rate_limit_exceeded")
	harness.WantRefusal(t, inputPath, h.Client.Post(inputPath, "full", click), 429, "rate_limit_exceeded")
	if a := useTool(t, h, "full", "look", `{"desktop":"card"}`); a.Error == nil {
		t.Errorf("the tool has a rate of its own: %+v", a)
	}

	h.Client.Want(200, "POST", inputPath, "models", nothing)
	a := h.Client.Post(inputPath, "models", nothing)
	harness.WantRefusal(t, inputPath, a, 402, "budget_exceeded")
	if row := h.Records.Row(a.Header.Get("X-Request-Id")); harness.At(row, "model") != "desktops/act" || fmt.Sprint(harness.At(row, "usage")) != "0" {
		t.Errorf("the row of a refusal is %v", row)
	}
}

func TestARouteTakesTheSlotOfItsTool(t *testing.T) {
	h := startDoors(t, "", "", deskKey("FULL", "mcp desktops\nconcurrency 2\n"))
	h.Client.Want(200, "GET", still, "full", "")
	waiting, leave := context.WithCancel(t.Context())
	defer leave()
	var waits sync.WaitGroup
	for range 2 {
		waits.Go(func() {
			r := h.Client.Request(still+"&wait=60", "full", "").WithContext(waiting)
			if status, body, err := h.Client.Try(r); err == nil {
				t.Errorf("a call that waits got %d %s", status, body)
			}
		})
	}
	const session = 1
	harness.WantInFlight(h, session+2)
	a := h.Client.Get(cardShot+"?max_width=64", "full")
	harness.WantRefusal(t, cardShot, a, 429, "concurrency_limit_exceeded")
	harness.WantRefusal(t, inputPath, h.Client.Post(inputPath, "full", click), 429, "concurrency_limit_exceeded")
	leave()
	waits.Wait()
	harness.WantInFlight(h, session)
	h.Client.Want(200, "GET", cardShot, "full", "")
}

// Guardrails of the server, of keys and of the gateway read what a route types, and the note for a person.
func TestGuardrailsReadWhatARouteTypes(t *testing.T) {
	const guardrails = "guardrail no-codes {\ndeny words \"launch code\"\n}\nguardrail mail {\nredact email\n}\n"
	c, address := keepingCard(t)
	h := harness.StartVNC(t, harness.Setup{
		Keys: deskKey("FULL", "mcp desktops\n"), Options: guardrails + "mcp desktops {\ndesktops\nguardrails no-codes mail\n}\n",
		VNC: "automation control\nworkstation card " + address + "\n",
	})
	a := h.Client.Post(inputPath, "full", `{"actions":[{"type":"move","x":1,"y":1},{"type":"type","text":"the launch code is 7"}]}`)
	harness.WantRefusal(t, inputPath, a, 422, "guardrail_blocked")
	harness.WantRefusal(t, controlPath, h.Client.Post(controlPath, "full", `{"action":"request_help","note":"a launch code"}`), 422, "guardrail_blocked")
	if got := c.events(0); got != "" {
		t.Errorf("the workstation got %s", got)
	}
	h.Client.Want(200, "POST", inputPath, "full", `{"action":"type","text":"a@b.example","screenshot":{"max_ms":0}}`)
	if got := c.events(0); got == "" || len(got) > len("+\uffe1 +[ -[ ")*len("[REDACTED:email]") || got[0] != '+' {
		t.Errorf("the workstation got %s", got)
	}
	h.Client.Want(200, "POST", controlPath, "full", `{"action":"request_help","note":"write to a@b.example"}`)
	control := harness.Parse(t, h.Client.Get(controlPath, "full").Body)
	if note := fmt.Sprint(harness.At(control, "requests", 0, "note")); note == "" || note == "write to a@b.example" {
		t.Errorf("the note is %q", note)
	}
}
