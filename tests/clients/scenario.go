//go:build linux

package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gatehouse-proxy/gatehouse/tests/process"
)

// scenario is a run of a client and what is expected of it. Zero values expect nothing, unless
// their comment says otherwise.
type scenario struct {
	name   string
	model  string // its name at the gateway
	prompt string // see the model "agent" of internal/fake
	// key has the options of the gateway key besides the two scopes.
	key []string
	// wrong means that the gateway does not know the key.
	wrong bool
	// options are the client's options.
	options []string

	says    string        // by the model, as the client shows it
	fails   []string      // instead of it, all in the error that the client shows
	calls   int           // that reach the provider, exactly; each is a row of the activity
	refused int           // more calls that the provider refuses before
	most    int           // requests of the client to the gateway; 0: as many as calls
	within  time.Duration // 0: runTimeout
	costs   bool          // each row has a price
	// carries are texts in the first request that the provider receives: the client must still send
	// what the scenario is about.
	carries []string
	secret  string
}

// budget is a key whose calls must have a price before they are sent.
var budget = []string{"budget 10usd/day"}

// tooled is a key that may use the built-in MCP server.
var tooled = []string{"mcp demo"}

// desked is a key that may use the desktops of the built-in MCP server.
var desked = []string{"mcp desktops"}

// spent is a key whose budget is too small for any call.
var spent = []string{"budget 1 tokens/day"}

// mcp reports whether the client has an MCP server.
func (s scenario) mcp() bool { return strings.HasPrefix(s.name, "mcp-") }

// sockets reports whether the gateway serves Responses over WebSockets.
func (s scenario) sockets() bool { return strings.HasPrefix(s.name, "socket-") }

// desktop reports whether the client fills in the form on the desktop.
func (s scenario) desktop() bool { return strings.HasSuffix(s.name, "desktop") }

// fill is a prompt that has the model "agent" look at the desktop, fill in the form and ask for help, with
// tools whose names begin so.
func fill(tools string) string {
	var steps []string
	for _, step := range []string{
		`look {"desktop":"desk1"}`,
		`act {"desktop":"desk1","actions":[{"type":"click","button":"left","x":405,"y":157},{"type":"type","text":"Ada Lovelace"},{"type":"click","button":"left","x":315,"y":225}]}`,
		`act {"desktop":"desk1","action":"left_click","coordinate":[500,300]}`,
		`act {"desktop":"desk1","action":"type","text":"first"}`,
		`act {"desktop":"desk1","actions":[{"type":"click","button":"left","x":820,"y":640}]}`,
		`request_help {"desktop":"desk1","note":"Is the form right?"}`,
	} {
		steps = append(steps, "use "+tools+step)
	}
	return strings.Join(steps, "\nthen ")
}

// fillTools are the calls of tools that fill leads to.
const fillTools = 6

func (s scenario) keyName(client string) string { return client + "." + s.name }

// gatewayKey is the key that the gateway knows. Of a wrong one it has another secret.
func (s scenario) gatewayKey(client string) key {
	k := key{s.keyName(client), s.secret, s.key}
	if s.wrong {
		k.secret = process.Secret()
	}
	return k
}

// judge checks an observation.
func (s scenario) judge(r *process.Result, seen observation) {
	if len(s.fails) == 0 {
		r.Check(s.name+": shows the model's answer", shows(seen, s.says))
	} else {
		r.Check(s.name+": shows the error", showsError(seen, s.fails))
	}
	r.Check(s.name+": ends in time", within(seen.took, cmp.Or(s.within, runTimeout)))
	r.Check(s.name+": asks the gateway no more than it must", count(len(seen.asked), 1, cmp.Or(s.most, s.calls+s.refused)))
	r.Check(s.name+": reaches the provider", count(len(seen.upstream), s.calls+s.refused, s.calls+s.refused))
	if len(s.carries) > 0 {
		r.Check(s.name+": sends what the scenario is about", carries(seen, s.carries))
	}
	answered := slices.DeleteFunc(slices.Clone(seen.rows), func(row row) bool { return row.Status != 200 || row.Method != "" || row.Model == "" || row.ofDesktop() })
	r.Check(s.name+": is in the activity", count(len(answered), s.calls, s.calls))
	called := slices.DeleteFunc(slices.Clone(seen.rows), func(row row) bool { return row.Status != 200 || row.Method != "tools/call" })
	if s.desktop() {
		r.Check(s.name+": fills in the form on the desktop", filled(seen.form))
		r.Check(s.name+": is one run", oneRun(append(answered, called...)))
	}
	if s.mcp() {
		tools := 0
		if s.desktop() {
			tools = fillTools
		}
		if slices.Equal(s.key, tooled) {
			tools = 1
		}
		r.Check(s.name+": calls the tool through the gateway", count(len(called), tools, tools))
	}
	if s.costs && len(answered) > 0 {
		r.Check(s.name+": has a cost", priced(answered))
	}
}

func shows(seen observation, text string) error {
	if seen.failed != "" {
		return fmt.Errorf("it failed: %s", seen.failed)
	}
	if !strings.Contains(seen.said, text) {
		return fmt.Errorf("%q, want %q in it", seen.said, text)
	}
	return nil
}

func showsError(seen observation, texts []string) error {
	for _, text := range texts {
		if !strings.Contains(seen.failed, text) {
			return fmt.Errorf("%q, want %q in it; the model said %q", seen.failed, text, seen.said)
		}
	}
	return nil
}

func within(took, limit time.Duration) error {
	if took >= limit {
		return fmt.Errorf("%.1f s, want less than %.1f s", took.Seconds(), limit.Seconds())
	}
	return nil
}

func count(n, least, most int) error {
	if n < least || n > most {
		return fmt.Errorf("%d times, want %d to %d", n, least, most)
	}
	return nil
}

func carries(seen observation, texts []string) error {
	if len(seen.upstream) == 0 {
		return fmt.Errorf("the provider received nothing")
	}
	for _, text := range texts {
		if body := string(seen.upstream[0].Body); !strings.Contains(body, text) {
			return fmt.Errorf("%s is not in the %d bytes that the provider received", text, len(body))
		}
	}
	return nil
}

// oneRun checks that all calls have one trace.
func oneRun(rows []row) error {
	for _, row := range rows {
		if row.TraceID == "" || row.TraceID != rows[0].TraceID {
			return fmt.Errorf("%+v is not of the run of %+v", row, rows[0])
		}
	}
	return nil
}

func priced(rows []row) error {
	for _, row := range rows {
		if !row.Priced || row.Usage <= 0 {
			return fmt.Errorf("%+v", row)
		}
	}
	return nil
}
