//go:build linux

package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
)

// dutiesOff are duties that the rows named gateway do not pay for; those of gateway-on do.
const dutiesOff = "limits, budgets and prices, guardrails"

// proof is the evidence of the gateways over all rounds: a duty that was off shows as a zero,
// whatever this program assumes.
type proof struct {
	Calls    int `json:"calls"`             // of the load client, with a good key
	Refused  int `json:"refused"`           // with a wrong key
	Limited  int `json:"limited"`           // with a key whose rate is used up
	LogLines int `json:"log_lines"`         // in the process logs
	Recorded int `json:"activity_requests"` // found through the activity route
	Tokens   int `json:"activity_prompt_tokens"`
	Turned   int `json:"activity_limited"` // rows of calls that the rate refused
	Series   int `json:"metric_series"`    // of the last round

	Duties  []dutyProof `json:"duties,omitempty"`
	Missing []string    `json:"missing,omitempty"`
}

const (
	activityPath = "/api/v1/activity"
	// byDay asks for one row a day and model, so that a page holds them all.
	byDay       = "group_by=day"
	limitedOnly = "key=spent&status=429"
)

// collect reads the traces of a round's gateway before it is stopped.
func (p *proof) collect(ctx context.Context, f *fleet, did made) {
	s := f.servers[len(f.servers)-1]
	p.Calls += did.calls + 2 // one call found the gateway ready, one used the rate of a key up
	p.Refused += did.refused
	p.Limited += did.limited
	lines, err := countLines(s.log)
	p.LogLines += lines
	p.note("log", err)
	all, err := activityOf(ctx, s.addr, f.secrets.audit, "")
	p.note("activity", err)
	limited, err := activityOf(ctx, s.addr, f.secrets.audit, limitedOnly)
	p.note("activity", err)
	p.Recorded += all.requests - limited.requests
	p.Tokens += all.prompt
	p.Turned += limited.requests
	page, err := s.adminGet(ctx, "/metrics")
	p.Series = countSeries(page)
	p.note("metrics", err)
	p.collectDuties(ctx, f, did.duties)
}

// note records what could not be read.
func (p *proof) note(what string, err error) { p.Missing = noteOnce(p.Missing, what, err) }

// noteOnce appends a reason that is not in the list yet; without an error there is no reason.
func noteOnce(missing []string, what string, err error) []string {
	if err == nil {
		return missing
	}
	text := fmt.Sprintf("%s: %v", what, err)
	if slices.Contains(missing, text) {
		return missing
	}
	return append(missing, text)
}

func (p *proof) lines() []string {
	out := []string{
		"duties on: key look-up and scope, one walk of the body with the duplicate-key check, model renamed both ways, provider credential, header allow-lists, usage, activity in SQLite, metrics, one log line a call",
		fmt.Sprintf("their traces: of %d calls, %d refused for their key and %d for their rate, %d log lines; %d requests with %d prompt tokens and %d refused for their rate in the activity; %d metric series",
			p.Calls, p.Refused, p.Limited, p.LogLines, p.Recorded, p.Tokens, p.Turned, p.Series),
		"off at the gateway, on at gateway-on: " + dutiesOff,
	}
	for _, d := range p.Duties {
		out = append(out, d.lines()...)
	}
	for _, m := range p.Missing {
		out = append(out, "not proved: "+m)
	}
	return out
}

func countLines(path string) (int, error) {
	file, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	lines, buf := 0, make([]byte, readSize)
	for {
		n, err := file.Read(buf)
		lines += bytes.Count(buf[:n], []byte{'\n'})
		if err == io.EOF {
			return lines, nil
		}
		if err != nil {
			return lines, err
		}
	}
}

// countSeries counts the gateway's own series on a page of metrics.
func countSeries(page []byte) int {
	n := 0
	for line := range strings.Lines(string(page)) {
		if strings.HasPrefix(line, "gatehouse_") {
			n++
		}
	}
	return n
}

// sums are what the gateway recorded of some calls.
type sums struct{ requests, prompt int }

// activityOf adds up what the gateway recorded of the calls that a query selects; the key must be
// able to read it.
func activityOf(ctx context.Context, addr, key, query string) (all sums, err error) {
	var rows struct {
		Data []struct {
			Requests int `json:"requests"`
			Prompt   int `json:"prompt_tokens"`
		} `json:"data"`
	}
	if query != "" {
		query = "&" + query
	}
	if err := fetchJSON(ctx, http.MethodGet, "http://"+addr+activityPath+"?"+byDay+query, key, &rows); err != nil {
		return all, err
	}
	for _, row := range rows.Data {
		all.requests += row.Requests
		all.prompt += row.Prompt
	}
	return all, nil
}
