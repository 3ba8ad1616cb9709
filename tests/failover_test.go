package tests

import (
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// failoverKeys are a key that may call aliases only, and one that reads what became of it.
const failoverKeys = `
	key full {
		secret {env.KEY_FULL}
		scopes chat:write models:read activity:read
		models team/*
		budget 10usd/day
	}
	key activity {
		secret {env.KEY_ACTIVITY}
		scopes activity:read providers:read
	}
`

// startFailover boots Caddy with an alias team/NAME for each row: models of package faults at the
// provider first, or at the one before a colon. Each model is a group of its own.
func startFailover(t *testing.T, s setup, aliases map[string][]string) (*harness, setup) {
	t.Helper()
	h := prepare(t)
	described := make(map[string]string)
	for alias, targets := range aliases {
		s.options += "\nalias team/" + alias + " {\n"
		for i, target := range targets {
			of, model, given := strings.Cut(target, ":")
			if !given {
				of, model = []string{"first", "second", "third"}[i], target
			}
			s.options += "group {\ntarget " + of + "/" + model + "\n}\n"
			described[of+"/"+model] = fmt.Sprintf(`{"id":%q,"context_length":%d,"price":{"prompt":"%d","completion":"%d"}}`, of+"/"+model, 3000-1000*i, 1+i, 10+i)
		}
		s.options += "}"
	}
	models := strings.Join(slices.Collect(maps.Values(described)), ",")
	if err := os.WriteFile(filepath.Join(h.dir, "prices.json"), []byte(`{"models":[`+models+`]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	s.options += "\ncatalog DIR/prices.json"
	if s.keys == "" {
		s.keys = failoverKeys
	}
	if s.providers == "" {
		for _, name := range []string{"first", "second", "third"} {
			s.providers += "provider " + name + " {\nbase_url PROVIDER/v1\napi_key {env.PROVIDER_KEY}\nmodels *\ndiscover off\n}\n"
		}
	}
	if err := h.reload(s); err != nil {
		t.Fatal(err)
	}
	return h, s
}

// attempted is each attempt of a row of the activity or of a generation: "target code".
func attempted(row any) (all []string) {
	list, _ := at(row, "attempted").([]any)
	for _, a := range list {
		target, _ := at(a, "target").(string)
		code, _ := at(a, "code").(string)
		all = append(all, strings.TrimSpace(target+" "+code))
	}
	return all
}

func TestACallGoesOnToTheNextTarget(t *testing.T) {
	h, _ := startFailover(t, setup{options: "timeouts {\nheader 300ms\n}"}, map[string][]string{
		"busy": {"after-none-err-503", "echo"}, "reset": {"reset", "echo"}, "silent": {"hang", "echo"}, "limited": {"after-2-err-429", "echo"},
	})
	for alias, first := range map[string]string{
		"busy": "first/after-none-err-503 upstream_error", "reset": "first/reset upstream_error",
		"silent": "first/hang timeout_first_byte", "limited": "first/after-2-err-429 upstream_rate_limited",
	} {
		for _, path := range []string{chatV1, responsesV1, chatRouter, responsesOR, "/v1/messages"} {
			for _, more := range []string{"", `,"stream":true`} {
				h.upstream.Reset()
				if path == "/v1/messages" {
					more += `,"max_tokens":100`
				}
				r := h.request(path, "full", bodyFor(path, "team/"+alias, more))
				r.Header.Set("Anthropic-Version", "2023-06-01")
				a := h.send(r)
				if a.status != 200 || !strings.Contains(string(a.body), `"model":"second/echo"`) || !strings.Contains(string(a.body), "hello") {
					t.Errorf("%s %s%s: %d %s", alias, path, more, a.status, a.body)
				}
				row := h.row(a.header.Get("X-Request-Id"))
				asked := strings.Join(attempted(row), ", ")
				// After some failures the target cools, and the second is asked at once.
				if asked != first+", second/echo" && asked != "second/echo" || at(row, "provider_name") != "second" {
					t.Errorf("%s %s%s: attempts %s; %v", alias, path, more, asked, row)
				}
				generation := h.get("/api/v1/generation?id="+a.header.Get("X-Request-Id"), "activity")
				if got := strings.Join(attempted(at(parse(t, generation.body), "data")), ", "); got != asked {
					t.Errorf("the generation has %q: %s", got, generation.body)
				}
				prompt, completion, cost := numberIn(t, row, "prompt_tokens"), numberIn(t, row, "completion_tokens"), numberIn(t, row, "usage")
				if want := (2*prompt + 11*completion) / 1e6; cost < want*0.999 || cost > want*1.001 {
					t.Errorf("%v and %v tokens cost %v", prompt, completion, cost)
				}
			}
		}
	}
}

func numberIn(t *testing.T, row any, member string) float64 {
	t.Helper()
	n, _ := at(row, member).(json.Number)
	f, err := n.Float64()
	if err != nil {
		t.Fatal(member, err)
	}
	return f
}

// command runs a caddy command and returns what it prints.
func (h *harness) command(args ...string) string {
	h.t.Helper()
	self, err := os.Executable()
	if err != nil {
		h.t.Fatal(err)
	}
	c := exec.CommandContext(h.t.Context(), self)
	c.Args = append([]string{"caddy"}, args...)
	out, err := c.CombinedOutput()
	if err != nil {
		h.t.Fatalf("%v: %s", err, out)
	}
	return string(out)
}

// DESIGN: what the caller is told is the gateway's table, with the shortest pause.
func TestWhatACallerIsToldIfAllTargetsFail(t *testing.T) {
	h, _ := startFailover(t, setup{}, map[string][]string{
		"limited": {"after-9-err-429", "after-7-err-429"}, "broken": {"after-none-err-503", "err-502"}, "locked": {"err-401", "err-403"},
		"refused": {"too-long", "echo"},
	})
	for alias, c := range map[string]struct {
		status int
		code   string
		retry  int // the least Retry-After, in seconds; the gateway's own is spread
		again  string
	}{
		"limited": {429, "upstream_rate_limited", 7, ""}, "broken": {502, "upstream_error", 10, ""}, "locked": {502, "upstream_auth_error", 60, "false"},
		"refused": {400, "context_length_exceeded", 0, "false"},
	} {
		for _, more := range []string{"", `,"stream":true`} {
			a := h.post(chatV1, "full", chat("team/"+alias, more))
			wantRefusal(t, alias, a, c.status, c.code)
			wantHeaders(t, a, "X-Should-Retry", c.again)
			if n, _ := strconv.Atoi(a.header.Get("Retry-After")); n < c.retry || n > 2*c.retry || c.code == "upstream_rate_limited" && n > 7 {
				t.Errorf("%s: Retry-After %q, want at least %d", alias, a.header.Get("Retry-After"), c.retry)
			}
		}
	}
}

func TestASessionStaysAtItsTarget(t *testing.T) {
	h, _ := startFailover(t, setup{options: "alias team/even {\ngroup {\ntarget first/echo\ntarget second/echo\ntarget third/echo\n}\n}"},
		map[string][]string{"x": {"echo", "echo", "echo"}})
	of := func(more string, header ...string) string {
		r := h.request(chatV1, "full", chat("team/even", more))
		if len(header) > 0 {
			r.Header.Set(header[0], header[1])
		}
		a := h.send(r)
		model, _ := at(parse(t, a.body), "model").(string)
		return model
	}
	seen := make(map[string]bool)
	for i := range 20 {
		id := fmt.Sprint("conversation-", i)
		first := of(`,"prompt_cache_key":"` + id + `"`)
		for range 3 {
			if again := of("", "X-Session-Id", id); again != first {
				t.Errorf("session %s was at %s, then at %s", id, first, again)
			}
		}
		seen[first] = true
	}
	if len(seen) != 3 {
		t.Errorf("20 sessions went to %v", seen)
	}
}

// What a target has met is known to all aliases, after a reload too, and an operator sees it.
func TestTheHealthOfTargetsIsShownAndKept(t *testing.T) {
	h, s := startFailover(t, setup{global: "admin unix//DIR/admin"}, map[string][]string{"locked": {"err-401", "echo"}, "other": {"err-401", "echo"}})
	call := func(alias string) []string {
		a := h.post(chatV1, "full", chat("team/"+alias, ""))
		if a.status != 200 {
			t.Fatalf("%s: %d %s", alias, a.status, a.body)
		}
		return attempted(h.row(a.header.Get("X-Request-Id")))
	}
	if got := call("locked"); len(got) != 2 {
		t.Errorf("attempts %q", got)
	}
	if got := call("other"); strings.Join(got, " ") != "second/echo" {
		t.Errorf("another alias asks %q", got)
	}
	shown := func(state string) {
		t.Helper()
		out := h.command("gatehouse", "providers", "--address", "unix//"+h.dir+"/admin")
		if !regexp.MustCompile(`first +first/err-401 +` + state + ` .* lasting `).MatchString(out) {
			t.Errorf("the command shows\n%s", out)
		}
	}
	shown("cooling")
	s.options += "\non_disconnect drain 5s"
	h.change(h.caddyfile(s))
	list := h.get("/v1/providers", "activity")
	var found any
	for _, p := range at(parse(t, list.body), "data").([]any) {
		targets, _ := at(p, "targets").([]any)
		for _, target := range targets {
			if at(target, "id") == "first/err-401" {
				found = target
			}
		}
	}
	if at(found, "last_failure_class") != "lasting" || at(found, "failures") != number("1") {
		t.Errorf("after a reload: %s", list.body)
	}
	metrics := string(h.get("/metrics", "").body)
	for _, line := range []string{
		`gatehouse_provider_attempts_total{code="upstream_auth_error",outcome="auth",provider="first"} 1`, `gatehouse_provider_attempts_total{code="",outcome="ok",provider="second"} 2`,
		`gatehouse_provider_up{`,
	} {
		if !strings.Contains(metrics, line) {
			t.Errorf("no %s in the metrics:\n%s", line, metrics)
		}
	}
	shown("probing") // the configuration may have what was missing
}

// A caller of an alias can rely on the least of its targets.
func TestAnAliasIsListedAsTheLeastOfItsTargets(t *testing.T) {
	h, _ := startFailover(t, setup{}, map[string][]string{"x": {"echo", "echo", "echo"}})
	a := h.get("/api/v1/models", "full")
	list, _ := at(parse(t, a.body), "data").([]any)
	if len(list) != 1 || at(list, 0, "id") != "team/x" || at(list, 0, "context_length") != number("1000") ||
		at(list, 0, "pricing", "prompt") != "0.000003" || at(list, 0, "pricing", "completion") != "0.000012" {
		t.Errorf("%s", a.body)
	}
}

// Each endpoint of a provider is a target of its own: one that is down leaves the other in use.
func TestTheEndpointsOfAProviderAreCooledApart(t *testing.T) {
	down, err := net.Listen("tcp", "127.0.0.1:0") // and closed: nobody listens there
	if err != nil {
		t.Fatal(err)
	}
	_ = down.Close()
	h, _ := startFailover(t, setup{keys: strings.Replace(failoverKeys, "team/*", "pair/*", 1), providers: `
		provider pair {
			endpoint east {
				base_url http://` + down.Addr().String() + `/v1
			}
			endpoint west {
				base_url PROVIDER/v1
			}
			models *
			discover off
		}`}, map[string][]string{"x": {"pair:echo"}})
	for range 20 {
		if a := h.post(chatV1, "full", chat("pair/echo", "")); a.status != 200 {
			t.Fatalf("%d %s", a.status, a.body)
		}
	}
	states := make(map[any]any)
	targets, _ := at(parse(t, h.get("/v1/providers", "activity").body), "data", 0, "targets").([]any)
	for _, target := range targets {
		states[at(target, "id")] = at(target, "state")
	}
	if states["pair/echo@east"] != "cooling" || states["pair/echo@west"] != "healthy" {
		t.Errorf("the endpoints are %v", states)
	}
}
