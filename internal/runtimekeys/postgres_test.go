package runtimekeys_test

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/runtimekeys"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/enginetest"
)

func TestAKeyOfOneNodeWorksOnAnotherAtOnce(t *testing.T) {
	_, all := nodes(t, 2, nil) // without events
	b := block(nil)
	for range 5 {
		key, secret := create(t, all[0].Keys, b, `{"name":"one"}`)
		if !opens(all[1].Keys, b, secret, noon) {
			t.Error("a new key is refused on the other node")
		}
		_, fresh, err := all[0].Rotate(t.Context(), acme, key.Hash(), nil, 0)
		if err != nil || !opens(all[1].Keys, b, fresh, noon) {
			t.Errorf("a new secret is refused on the other node; %v", err)
		}
	}
	if !slices.Contains(all[1].changes, "new one") || !slices.Contains(all[1].changes, "changed one") {
		t.Errorf("the other node was told %v", all[1].changes)
	}
}

func TestWhatEndsOnOneNodeEndsOnAnother(t *testing.T) {
	for name, test := range map[string]struct {
		events *peers
		bound  time.Duration
	}{"by an event": {new(peers), 250 * time.Millisecond}, "by the poll": {nil, 2 * time.Second}} {
		t.Run(name, func(t *testing.T) {
			_, all := nodes(t, 2, test.events)
			b := block(nil)
			var took []time.Duration
			ends := func(what, secret string) {
				t.Helper()
				took = append(took, enginetest.Within(t, 3*time.Second, what, func() bool { return !opens(all[1].Keys, b, secret, noon) }))
			}
			key, secret := create(t, all[0].Keys, b, `{"name":"one"}`)
			update(t, all[0].Keys, b, key.Hash(), `{"disabled":true}`)
			ends("disabled", secret)
			update(t, all[0].Keys, b, key.Hash(), `{"disabled":false}`)
			if !opens(all[1].Keys, b, secret, noon) {
				t.Error("a key that is enabled again is refused on the other node")
			}
			_, fresh, err := all[0].Rotate(t.Context(), acme, key.Hash(), nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			ends("rotated", secret)
			if _, err := all[0].Delete(t.Context(), acme, key.Hash()); err != nil {
				t.Fatal(err)
			}
			ends("deleted", fresh)
			if all[1].IsSecret(fresh) || len(all[1].List(acme, runtimekeys.Query{Disabled: true})) != 0 {
				t.Error("the other node still has the key")
			}
			if slices.Sort(took); took[len(took)-1] > test.bound {
				t.Errorf("it takes %v", took)
			}
			enginetest.Within(t, time.Second, "the callback", func() bool {
				all[1].mu.Lock()
				defer all[1].mu.Unlock()
				return slices.Contains(all[1].changes, "deleted one")
			})
		})
	}
}

func TestCreatesOfSeveralNodesDoNotExceedMax(t *testing.T) {
	_, all := nodes(t, 3, nil)
	b := block(func(b *runtimekeys.Block) { b.Max = 10 })
	var group sync.WaitGroup
	var mu sync.Mutex
	made := 0
	for _, n := range all {
		group.Go(func() {
			for range 10 {
				_, _, err := n.Create(t.Context(), b, "acme", mustEdit(t, true, `{"name":"one"}`), "")
				mu.Lock()
				if err == nil {
					made++
				} else if apierror.From(err).Code != apierror.KeysExceeded {
					t.Errorf("got %v", err)
				}
				mu.Unlock()
			}
		})
	}
	group.Wait()
	if made != 10 {
		t.Errorf("%d keys were made", made)
	}
	// A key that one node deletes makes room on another at once.
	if _, err := all[0].Delete(t.Context(), acme, all[0].List(acme, runtimekeys.Query{})[0].Hash()); err != nil {
		t.Fatal(err)
	}
	create(t, all[1].Keys, b, `{"name":"two"}`)
}

func TestAnIdempotencyKeyMakesOneKeyOnAllNodes(t *testing.T) {
	_, all := nodes(t, 3, nil)
	b := block(nil)
	var group sync.WaitGroup
	errs := make([]error, len(all))
	for i, n := range all {
		group.Go(func() {
			_, _, errs[i] = n.Create(t.Context(), b, "acme", mustEdit(t, true, `{"name":"one"}`), "request-1")
		})
	}
	group.Wait()
	refused := 0
	for _, err := range errs {
		if err != nil {
			wantCode(t, err, apierror.InvalidValue)
			refused++
		}
	}
	if refused != 2 {
		t.Errorf("the errors are %v", errs)
	}
}

// Each node changes another member, so all of them must be there at the end.
func TestChangesOfOneKeyOnSeveralNodesDoNotOverwriteEachOther(t *testing.T) {
	_, all := nodes(t, 3, new(peers))
	b := block(nil)
	key, _ := create(t, all[0].Keys, b, `{"name":"one"}`)
	bodies := []string{`{"name":"renamed %d"}`, `{"limit":%d}`, `{"metadata":{"n":"%d"}}`}
	var group sync.WaitGroup
	for i, n := range all {
		group.Go(func() {
			for round := range 20 {
				if _, err := n.Update(t.Context(), b, acme, key.Hash(), mustEdit(t, false, fmt.Sprintf(bodies[i], round))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	for _, n := range all {
		if err := n.feed.CatchUp(t.Context()); err != nil {
			t.Fatal(err)
		}
		got, err := n.Get(acme, key.Hash())
		if err != nil || got.Name != "renamed 19" || *got.Limit != 19e9 || got.Metadata["n"] != "19" || got.Version != 61 {
			t.Errorf("%+v, %v", got, err)
		}
	}
}

func TestADeletedKeyCannotBeChangedByANodeThatDoesNotKnowYet(t *testing.T) {
	_, all := nodes(t, 2, nil)
	b := block(nil)
	key, _ := create(t, all[0].Keys, b, `{"name":"one"}`)
	if err := all[1].feed.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := all[0].Delete(t.Context(), acme, key.Hash()); err != nil {
		t.Fatal(err)
	}
	_, err := all[1].Update(t.Context(), b, acme, key.Hash(), mustEdit(t, false, `{"name":"back"}`))
	wantCode(t, err, apierror.NotFound)
	if len(all[1].List(acme, runtimekeys.Query{})) != 0 {
		t.Error("the key is back")
	}
}

func TestOneReadingServesAllUnknownSecrets(t *testing.T) {
	_, all := nodes(t, 1, nil)
	b := block(nil)
	began := time.Now()
	var group sync.WaitGroup
	for i := range 200 {
		group.Go(func() {
			if opens(all[0].Keys, b, fmt.Sprintf("gh-unknown-secret-number-%06d", i), noon) {
				t.Error("it opens")
			}
		})
	}
	group.Wait()
	if took := time.Since(began); took > time.Second {
		t.Errorf("200 unknown secrets take %v", took)
	}
}

var errNone = errors.New("none")

// A COMMIT without an answer may have been made. The table finds out.
func TestAChangeIsFoundAfterACommitWithoutAnswer(t *testing.T) {
	_, all := nodes(t, 1, nil)
	n, b := all[0], block(nil)
	key, _ := create(t, n.Keys, b, `{"name":"one"}`)
	renamed := key.Record
	renamed.Name = "renamed"
	other := renamed
	other.ID[0] ^= 1
	for name, test := range map[string]struct {
		before, after *runtimekeys.Record
		number        int64
		made          bool
	}{
		"made":              {nil, &key.Record, 1, true},
		"not made":          {nil, &other, 2, false},
		"not changed":       {&key.Record, &renamed, 2, false},
		"number of another": {&key.Record, &renamed, 1, false},
		"not deleted":       {&key.Record, nil, 2, false},
		"deleted":           {&other, nil, 2, true},
	} {
		if err := n.table.Look(t.Context(), test.number, test.before, test.after, errNone); (err == nil) != test.made || errors.Is(err, errNone) {
			t.Errorf("%s: %v", name, err)
		}
	}
	update(t, n.Keys, b, key.Hash(), `{"name":"later"}`)
	if err := n.table.Look(t.Context(), 1, nil, &key.Record, errNone); !errors.Is(err, errNone) {
		t.Errorf("changed again: %v", err)
	}
}
