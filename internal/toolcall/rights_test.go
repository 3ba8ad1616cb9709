package toolcall

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/mcp"
	"github.com/gatehouse-proxy/gatehouse/internal/pattern"
	"github.com/gatehouse-proxy/gatehouse/internal/toolserver"
)

const allTools = "list read_file read_log write_file"

// toolList answers a request to list all tools.
func toolList() string {
	var tools []string
	for name := range strings.FieldsSeq(allTools) {
		tools = append(tools, `{"name":"`+name+`","inputSchema":{"type":"object"},"x-new":[1.50]}`)
	}
	return `{"jsonrpc":"2.0","id":7,"result":{"resultType":"complete","tools":[` + strings.Join(tools, ",") + `],"ttlMs":9000,"cacheScope":"public"}}`
}

// Access is the intersection of server, tenant and key, the same for the list of tools and for a call.
func TestAToolIsListedAndCallableByServerTenantAndKey(t *testing.T) {
	rights := map[string]toolserver.Rights{
		"all": {}, "none": {Deny: pattern.List{"*"}},
		"read": {Allow: pattern.List{"read_*", "list"}}, "safe": {Deny: pattern.List{"write_*"}},
	}
	for _, c := range []struct{ server, tenant, key, want string }{
		{"all", "", "files/*", allTools},
		{"all", "files/read_*", "files/*", "read_file read_log"},
		{"all", "files/*", "files/*_file", "read_file write_file"},
		{"all", "files/read_*", "files/write_*", ""},
		{"read", "", "files/*", "list read_file read_log"},
		{"read", "files/*_file", "files/*", "read_file"},
		{"safe", "", "files/*_file", "read_file"},
		{"safe", "files/list", "files/*", "list"},
		{"none", "", "files/*", ""},
	} {
		for _, events := range []bool{false, true} {
			contentType, wrap := asJSON, func(s string) string { return s }
			if events {
				contentType, wrap = asEvents, func(s string) string { return "id: 1\ndata: " + s + "\n\n" }
			}
			r := newRig(t, answering(200, contentType, wrap(toolList())), func(r *rig) {
				r.config.Tools = rights[c.server]
				r.spec.Tools, r.spec.TenantTools = strings.Fields(c.key), strings.Fields(c.tenant)
			})
			w := r.serve(post(message("tools/list", "")))
			var listed struct {
				Result struct {
					Tools []struct {
						Name string
						New  json.RawMessage `json:"x-new"`
					}
					TTL   int    `json:"ttlMs"`
					Scope string `json:"cacheScope"`
				}
			}
			_, text, _ := strings.Cut(w.Body.String(), "{")
			if err := json.Unmarshal([]byte("{"+text), &listed); err != nil {
				t.Fatalf("%v: %s", err, w.Body)
			}
			var names, callable []string
			for _, tool := range listed.Result.Tools {
				names = append(names, tool.Name)
				if string(tool.New) != "[1.50]" {
					t.Errorf("a member that the gateway does not know is %s", tool.New)
				}
			}
			if got := strings.Join(names, " "); got != c.want || listed.Result.TTL != 0 || listed.Result.Scope != "private" {
				t.Errorf("%+v, events %v: listed %q, %s", c, events, got, w.Body)
			}
			asked := 0
			r.Servers = r.answeredBy(t, answering(200, asJSON, result), &asked)
			for name := range strings.FieldsSeq(allTools) {
				before := asked
				w := r.serve(post(toolCall(name)))
				code, _ := errorIn(t, w.Body.Bytes())
				switch {
				case code == 0 && asked == before+1:
					callable = append(callable, name)
				case code != mcp.CodeInvalidParams || asked != before || w.Code != 200:
					t.Errorf("%+v, %s: %d %s", c, name, w.Code, w.Body)
				}
			}
			if got := strings.Join(callable, " "); got != c.want {
				t.Errorf("%+v: callable are %q", c, got)
			}
		}
	}
}

func TestAServerThatTheKeyDoesNotNameDoesNotExist(t *testing.T) {
	r := newRig(t, answering(200, asJSON, result), func(r *rig) { r.spec.Tools = []string{"other/*"} })
	hidden := r.serve(post(toolCall("echo")))
	r.Servers = nil
	absent := r.serve(post(toolCall("echo")))
	if hidden.Code != 404 || hidden.Body.String() != absent.Body.String() || absent.Code != 404 {
		t.Errorf("%d %s, %d %s", hidden.Code, hidden.Body, absent.Code, absent.Body)
	}
}

func TestATenantWithoutTheServerHidesIt(t *testing.T) {
	r := newRig(t, answering(200, asJSON, result), func(r *rig) { r.spec.TenantTools = []string{"other/*"} })
	if w := r.serve(post(toolCall("echo"))); w.Code != 404 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// The row of a refusal names the option that an operator has to change.
func TestTheRowNamesTheOptionThatRefusedATool(t *testing.T) {
	for want, change := range map[string]func(*rig){
		"key dev: mcp files": func(r *rig) { r.spec.Tools = []string{"files/read_*"} },
		"mcp files: tools":   func(r *rig) { r.config.Tools.Deny = pattern.List{"echo"} },
		"key dev: mcp":       func(r *rig) { r.spec.Tools = []string{"other/*"} },
	} {
		r := newRig(t, answering(200, asJSON, result), change)
		r.serve(post(toolCall("echo")))
		if row := r.row(t); row.RefusedBy != want || row.Code == "" {
			t.Errorf("%q: %s, %q", want, row.Code, row.RefusedBy)
		}
	}
}

// A server of somebody else has nothing of the caller's desktops, in no part of a request.
func TestOnlyTheServerOfDesktopsHasThoseOfItsCaller(t *testing.T) {
	type own struct{}
	for _, builtIn := range []bool{false, true} {
		var given any
		r := newRig(t, roundTrip(func(req *http.Request) (*http.Response, error) {
			given = req.Context().Value(own{})
			return answering(200, asJSON, result)(req)
		}), func(r *rig) {
			r.config.Desktops = builtIn
			r.own = func(ctx context.Context) context.Context { return context.WithValue(ctx, own{}, true) }
		})
		if w := r.serve(post(toolCall("read_file"))); w.Code != 200 {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		if (given != nil) != builtIn {
			t.Errorf("a server of desktops (%v) is given %v", builtIn, given)
		}
	}
}
