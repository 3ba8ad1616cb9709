//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
)

// dutiesOff are duties of the finished gateway whose code does not exist yet, so
// that no figure here pays for them. A duty leaves this list with its first commit.
const dutiesOff = "rate, token and concurrency limits; budgets; guardrails"

// proof is what the gateways left behind over all rounds: a duty that was off
// shows as a zero, whatever this program believes.
type proof struct {
	Calls    int      `json:"calls"`             // of the load client, with a good key
	Refused  int      `json:"refused"`           // with a wrong key
	LogLines int      `json:"log_lines"`         // in the process logs
	Recorded int      `json:"activity_requests"` // found through the activity route
	Tokens   int      `json:"activity_prompt_tokens"`
	Series   int      `json:"metric_series"` // of the last round
	Missing  []string `json:"missing,omitempty"`
}

// activityPath asks for one row a day and model, so that a page holds them all.
const activityPath = "/api/v1/activity?group_by=day"

// collect reads the traces of a round's gateway before it is stopped.
func (p *proof) collect(ctx context.Context, f *fleet, calls, refused int) {
	s := f.servers[len(f.servers)-1]
	p.Calls += calls
	p.Refused += refused
	lines, err := countLines(s.log)
	p.LogLines += lines
	p.note("log", err)
	requests, tokens, err := activity(ctx, s.addr, f.secrets.audit)
	p.Recorded += requests
	p.Tokens += tokens
	p.note("activity", err)
	page, err := s.adminGet(ctx, "/metrics")
	p.Series = countSeries(page)
	p.note("metrics", err)
}

// note keeps what could not be read.
func (p *proof) note(what string, err error) { p.Missing = noteOnce(p.Missing, what, err) }

// noteOnce appends a reason that is not in the list yet; no error is no reason.
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
		fmt.Sprintf("their traces: of %d calls and %d refused for their key, %d log lines; %d requests with %d prompt tokens in the activity; %d metric series",
			p.Calls, p.Refused, p.LogLines, p.Recorded, p.Tokens, p.Series),
		"duties not built yet, not in these figures: " + dutiesOff,
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

// activity adds up what the gateway recorded, asked for with a key that may read it.
func activity(ctx context.Context, addr, key string) (requests, tokens int, err error) {
	ctx, cancel := context.WithTimeout(ctx, ioTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+activityPath, nil)
	if err != nil {
		return 0, 0, err
	}
	req.Close = true
	req.Header.Set("Authorization", "Bearer "+key)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, 0, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return 0, 0, fmt.Errorf("status %d", res.StatusCode)
	}
	var rows struct {
		Data []struct {
			Requests     int `json:"requests"`
			PromptTokens int `json:"prompt_tokens"`
		} `json:"data"`
	}
	if err := json.NewDecoder(io.LimitReader(res.Body, maxPage)).Decode(&rows); err != nil {
		return 0, 0, fmt.Errorf("decoding: %w", err)
	}
	for _, row := range rows.Data {
		requests += row.Requests
		tokens += row.PromptTokens
	}
	return requests, tokens, nil
}
