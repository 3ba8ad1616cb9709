package runtimekeys_test

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/policy"

	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/runtimekeys"
	"github.com/gatehouse-proxy/gatehouse/internal/store"
)

var noon = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

// clock is the time that a test controls.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

func openStore(t testing.TB, dir string) *store.Store {
	t.Helper()
	st, err := store.Open(dir, store.Options{Schemas: []store.Schema{runtimekeys.Schema}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	return st
}

// open returns the keys of a table.
func open(t testing.TB, table runtimekeys.Table) (*runtimekeys.Keys, *clock) {
	t.Helper()
	c := &clock{noon}
	s := runtimekeys.New(c.now, rand.Reader)
	if err := s.Open(context.Background(), table); err != nil {
		t.Fatal(err)
	}
	return s, c
}

// block allows chat, and what change adds or takes away.
func block(change func(*runtimekeys.Block)) *runtimekeys.Block {
	b := &runtimekeys.Block{Scopes: keys.ChatWrite | keys.ModelsRead, Max: 1000, Shared: &policy.Limits{}}
	if change != nil {
		change(b)
	}
	return b
}

// edit returns the edit that a body asks for.
func edit(t testing.TB, create bool, body string) (*runtimekeys.Edit, error) {
	t.Helper()
	workspace := ""
	if create {
		workspace = keys.WorkspaceID("acme")
	}
	e := runtimekeys.NewEdit(create, workspace, noon)
	var members map[string]json.RawMessage
	if err := json.Unmarshal([]byte(body), &members); err != nil {
		t.Fatal(err)
	}
	for name, value := range members {
		known, err := e.Member(name, value)
		if !known {
			t.Fatalf("%s is not known", name)
		}
		if err != nil {
			return nil, err
		}
	}
	return e, nil
}

func mustEdit(t testing.TB, create bool, body string) *runtimekeys.Edit {
	t.Helper()
	e, err := edit(t, create, body)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func create(t testing.TB, s *runtimekeys.Keys, b *runtimekeys.Block, body string) (*runtimekeys.Key, string) {
	t.Helper()
	key, secret, err := s.Create(context.Background(), b, "acme", mustEdit(t, true, body), "")
	if err != nil {
		t.Fatal(err)
	}
	return key, secret
}

func update(t testing.TB, s *runtimekeys.Keys, b *runtimekeys.Block, hash, body string) *runtimekeys.Key {
	t.Helper()
	key, err := s.Update(context.Background(), b, acme, hash, mustEdit(t, false, body))
	if err != nil {
		t.Fatal(err)
	}
	return key
}

var acme = keys.EveryTenant("acme")

// opens reports whether a secret is good.
func opens(s *runtimekeys.Keys, b *runtimekeys.Block, secret string, at time.Time) bool {
	_, _, err := s.Authenticate(b, secret, at)
	return err == nil
}

func budgets(k *policy.KeyLimits) map[string]bool {
	set := map[string]bool{}
	for _, s := range k.Subjects {
		for _, b := range s.Budgets {
			if b.Limit != limits.NoLimit {
				set[b.String()] = true
			}
		}
	}
	return set
}

// memory is a table that keeps nothing. Its changes fail with err.
type memory struct{ err error }

func (memory) Load(context.Context, func(runtimekeys.Record) error) error { return nil }
func (m *memory) Change(_ context.Context, judge runtimekeys.Judge) error {
	_, _, err := judge()
	return cmp.Or(err, m.err)
}
