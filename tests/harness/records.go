package harness

import (
	"bytes"
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/caddykit"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
	"github.com/gatehouse-proxy/gatehouse/internal/report"
)

// Records reads what the gateway keeps of calls: the activity, the keys' spending, the metrics.
type Records struct {
	t      *testing.T
	client *Client
}

// Row is the call's record as GET /api/v1/activity shows it.
func (r *Records) Row(requestID string) any {
	r.t.Helper()
	a := r.client.Get("/api/v1/activity?request_id="+url.QueryEscape(requestID), "activity")
	if a.Status != 200 {
		r.t.Fatalf("activity: %d %s", a.Status, a.Body)
	}
	list := At(Parse(r.t, a.Body), "data")
	if rows, _ := list.([]any); len(rows) != 1 {
		r.t.Fatalf("%d rows for %s: %s", len(rows), requestID, a.Body)
	}
	return At(list, 0)
}

// RowSoon is the record of a call whose end the client does not see.
func (r *Records) RowSoon(query string) any {
	r.t.Helper()
	var list any
	if !Eventually(func() bool {
		list = At(Parse(r.t, r.client.Get("/api/v1/activity?"+query, "activity").Body), "data")
		return At(list, 0) != nil
	}) {
		r.t.Fatalf("no row for %s", query)
	}
	return At(list, 0)
}

// Rows are the tenant's records, of all pages.
func (r *Records) Rows(query string) (rows []any) {
	r.t.Helper()
	for cursor := ""; ; {
		page := Parse(r.t, r.client.Get("/api/v1/activity?limit=1000&"+query+cursor, "activity").Body)
		list, _ := At(page, "data").([]any)
		rows = append(rows, list...)
		next, _ := At(page, "next_cursor").(string)
		if next == "" {
			return rows
		}
		cursor = "&cursor=" + next
	}
}

// KeyInfo is the answer of GET /api/v1/key.
type KeyInfo struct {
	Limit     json.Number `json:"limit"`
	Remaining json.Number `json:"limit_remaining"`
	Reset     string      `json:"limit_reset"`
	Usage     json.Number `json:"usage"`
	Daily     json.Number `json:"usage_daily"`
	Budgets   []struct {
		Unit, Period           string
		Limit, Spent, Reserved json.Number
		ResetsAt               string `json:"resets_at"`
	}
}

// Key is what GET /api/v1/key answers to a key.
func (r *Records) Key(key string) KeyInfo {
	r.t.Helper()
	var body struct{ Data KeyInfo }
	a := r.client.Get("/api/v1/key", key)
	if err := json.Unmarshal(a.Body, &body); err != nil || a.Status != 200 {
		r.t.Fatalf("%d %s: %v", a.Status, a.Body, err)
	}
	return body.Data
}

// Metric is the value of one series, as /metrics writes its name and labels; 0 without it.
func (r *Records) Metric(series string) float64 {
	r.t.Helper()
	for line := range strings.Lines(string(r.client.Get("/metrics", "").Body)) {
		if value, ok := strings.CutPrefix(line, series+" "); ok {
			n, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			if err != nil {
				r.t.Fatal(err)
			}
			return n
		}
	}
	return 0
}

// Balances returns the balances of the running configuration.
func Balances(t *testing.T) []report.Balance {
	t.Helper()
	running, err := caddykit.Running[*gateway.Gateway]()
	if err != nil {
		t.Fatal(err)
	}
	all, err := report.AllBudgets(t.Context(), running.Requests())
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// Nano is an amount in USD as nano-USD.
func Nano(t *testing.T, n json.Number) int64 {
	t.Helper()
	f, err := n.Float64()
	if err != nil {
		t.Fatal(err)
	}
	return int64(f*1e9 + 0.5)
}

// DataFiles is everything in the data directory.
func DataFiles(h *Gateway) string {
	h.T.Helper()
	var all bytes.Buffer
	err := filepath.WalkDir(filepath.Join(h.Dir, "data"), func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if info, err := d.Info(); err != nil || info.Mode().Perm()&0o077 != 0 {
			h.T.Errorf("%s can be read by others: %v %v", d.Name(), info.Mode(), err)
		}
		text, err := os.ReadFile(path)
		all.Write(text)
		return err
	})
	if err != nil || all.Len() == 0 {
		h.T.Errorf("the data directory: %d bytes, %v", all.Len(), err)
	}
	return all.String()
}
