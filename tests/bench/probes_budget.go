//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// nanoPerUSD is the resolution of money.
const nanoPerUSD = 1_000_000_000

// balance is one budget in the answer of the gateway's admin endpoint. Amounts are decimal texts,
// of USD or of tokens.
type balance struct {
	Subject  string      `json:"subject"`
	Unit     string      `json:"unit"`
	Spent    json.Number `json:"spent"`
	Reserved json.Number `json:"reserved"`
}

// budgetsPath is the admin endpoint's list of all budgets.
const budgetsPath = "/gatehouse/budgets"

func (s *server) balances(ctx context.Context) ([]balance, error) {
	page, err := s.adminGet(ctx, budgetsPath)
	if err != nil {
		return nil, err
	}
	var all []balance
	if err := json.Unmarshal(page, &all); err != nil {
		return nil, fmt.Errorf("decoding: %w", err)
	}
	return all, nil
}

// nano parses an amount of USD, which is far from the precision of a float64.
func nano(usd json.Number) (int64, error) {
	f, err := usd.Float64()
	return int64(f*nanoPerUSD + 0.5), err
}

// spent is what the budgets of the key and of its tenant have counted.
func (s *server) spent(ctx context.Context) (key, tenant, tokens int64, err error) {
	all, err := s.balances(ctx)
	if err != nil {
		return 0, 0, 0, err
	}
	for _, b := range all {
		switch {
		case b.Unit == "tokens":
			tokens, err = b.Spent.Int64()
		case b.Subject == "key:"+benchKey:
			key, err = nano(b.Spent)
		case b.Subject == "tenant:"+benchTenant:
			tenant, err = nano(b.Spent)
		}
		if err != nil {
			return 0, 0, 0, fmt.Errorf("budget of %s: %w", b.Subject, err)
		}
	}
	return key, tenant, tokens, nil
}

// probeReservation holds a stream open and looks for its reservation: in the balances of key and
// tenant, and by its ID in the files of the database.
func probeReservation(ctx context.Context, p *prober) error {
	id, leave, err := p.opened(ctx, modelHeld)
	if err != nil {
		return err
	}
	defer leave()
	all, err := p.balances(ctx)
	if err != nil {
		return err
	}
	money := 0
	for _, b := range all {
		if n, err := b.Reserved.Float64(); err != nil || n <= 0 {
			return fmt.Errorf("the %s budget of %s has %q reserved", b.Unit, b.Subject, b.Reserved)
		}
		if b.Unit == "usd" {
			money++
		}
	}
	if money != 2 {
		return fmt.Errorf("%d budgets of money, not those of key and tenant", money)
	}
	return onDisk(p.dir, id+"/"+benchKey)
}

// onDisk expects the text in a file of the database below dir. The write-ahead log is such a file
// too.
func onDisk(dir, text string) error {
	found := errors.New("found")
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasPrefix(d.Name(), "gatehouse.db") {
			return err
		}
		content, err := os.ReadFile(path)
		if err == nil && bytes.Contains(content, []byte(text)) {
			return found
		}
		return err
	})
	if err == nil {
		return fmt.Errorf("%q is in no file of the database", text)
	}
	if errors.Is(err, found) {
		return nil
	}
	return err
}

// row is one call in the activity.
type row struct {
	Status     int         `json:"status"`
	Source     string      `json:"usage_source"`
	Priced     bool        `json:"priced"`
	Cost       json.Number `json:"usage"`
	OutputCap  int         `json:"output_cap"`
	Completion int         `json:"completion_tokens"`
}

// rows are the newest calls that the query selects.
func (p *prober) rows(ctx context.Context, query string) ([]row, error) {
	var page struct{ Data []row }
	err := askActivity(ctx, p.addr, p.secrets.audit, query, &page)
	return page.Data, err
}

// settleWait bounds how long a probe waits until answered calls are charged.
const settleWait = 3 * time.Second
