package operator

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// tool is the message that calls a tool of the versions with sessions.
func tool(name string) string {
	return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + name + `","arguments":{"text":"canary-argument"}}}`
}

// What keys and operators see of MCP servers: lists, rows, explanations.
func TestToolsAreSeenByKeysAndOperators(t *testing.T) {
	h := harness.Vacant(t)
	admin := "unix//" + h.Dir + "/admin"
	c := h.Run(harness.Setup{
		Keys: "key full {\nsecret {env.KEY_FULL}\nscopes models:read activity:read mcp:call\nmcp demo\nmcp away\n}\nkey other {\nsecret {env.KEY_OTHER}\nscopes mcp:call\nmcp demo tools time\n}\n" +
			"key chat {\nsecret {env.KEY_CHAT}\nscopes chat:write\n}\n",
		Options: "mcp demo {\ndemo\nprice echo 0.01usd\ntools deny slow\n}\nmcp away {\nurl http://127.0.0.1:9/mcp\n}\n", Global: "admin " + admin,
	})
	ids := map[string]string{}
	for _, call := range [][3]string{{"full", "demo", "echo"}, {"full", "demo", "error"}, {"other", "demo", "echo"}, {"full", "demo", "slow"}, {"full", "away", "any"}} {
		a := h.Client.Post("/mcp/"+call[1], call[0], tool(call[2]))
		ids[strings.Join(call[:], " ")] = a.Header.Get("X-Request-Id")
		if a.Status != 200 {
			t.Errorf("%v: %d %s", call, a.Status, a.Body)
		}
	}
	for key, want := range map[string]string{
		"full": `{"object":"list","data":[{"id":"away","object":"mcp_server","url":"/mcp/away","status":"failing","last_error":"upstream_error","since":"`, "other": `{"object":"list","data":[{"id":"demo",`,
	} {
		if a := h.Client.Get("/v1/mcp", key); a.Status != 200 || !strings.HasPrefix(string(a.Body), want) {
			t.Errorf("%s: %d %s", key, a.Status, a.Body)
		}
	}
	if a := h.Client.Get("/v1/mcp", "chat"); a.Status != 403 || !strings.Contains(string(a.Body), "mcp:call") {
		t.Errorf("without the scope: %d %s", a.Status, a.Body)
	}
	if a := h.Client.Get("/v1/mcp?limit=1", "full"); a.Status != 400 {
		t.Errorf("an unknown parameter: %d %s", a.Status, a.Body)
	}
	rows := func(query string) (all []map[string]any) {
		var page struct{ Data []map[string]any }
		if err := json.Unmarshal(h.Client.Get("/api/v1/activity?"+query, "full").Body, &page); err != nil {
			t.Fatal(err)
		}
		return page.Data
	}
	if all := rows("family=mcp"); len(all) != 5 {
		t.Errorf("%d rows of tools: %v", len(all), all)
	}
	if all := rows("family=openai"); len(all) != 2 { // what was refused of the list
		t.Errorf("other rows: %v", all)
	}
	paid := rows("model=demo/echo&key=full")
	if len(paid) != 1 || paid[0]["method"] != "tools/call" || paid[0]["usage"] != 0.01 || paid[0]["is_error"] != nil || paid[0]["answer_bytes"].(float64) < 50 {
		t.Errorf("a paid call: %v", paid)
	}
	for args, wants := range map[string][]string{
		"mcp":                           {"SERVER", "away    failing", "upstream_error", "demo    ok"},
		"mcp demo":                      {"echo   yes      0.01  Returns the text.", "slow   no"},
		"activity --family mcp":         {"demo/error  200 tool error", "0.010000", "404 tool_not_found"},
		"why " + ids["full demo echo"]:  {"tool demo/echo", "Method      tools/call", "demo answered at the first attempt", "0.01 USD"},
		"why " + ids["other demo echo"]: {"404 tool_not_found", "key other: mcp demo", "it was not asked"},
		"why " + ids["full demo slow"]:  {"404 tool_not_found", "mcp demo: tools"},
		"why " + ids["full away any"]:   {"502 upstream_error", "away was asked once"},
		"why " + ids["full demo error"]: {"Tool error  true"},
		"series --by provider":          {"demo", "0.0100"},
	} {
		out, failure, err := c.Operate(append(strings.Fields(args), "--address", admin)...)
		for _, want := range wants {
			if err != nil || !strings.Contains(out, want) || strings.Contains(out, "canary") {
				t.Errorf("%s: no %q in\n%s%s%v", args, want, out, failure, err)
			}
		}
	}
	if _, failure, err := c.Operate("mcp", "away", "--address", admin); err == nil || !strings.Contains(failure, `the MCP server "away" does not list its tools`) {
		t.Errorf("a server that is away: %v %s", err, failure)
	}
}
