package runtimekeys_test

import (
	"errors"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/runtimekeys"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/enginetest"
)

func TestWithoutTheDatabaseKeysWorkAndAreNotChanged(t *testing.T) {
	server := enginetest.StartPostgres(t)
	dsn := migrate(t, server.Database(t))
	events, dir := new(peers), t.TempDir()
	a, err := join(t, dsn, t.TempDir(), events)
	if err != nil {
		t.Fatal(err)
	}
	b, err := join(t, dsn, dir, events)
	if err != nil {
		t.Fatal(err)
	}
	block := block(nil)
	kept, secret := create(t, a.Keys, block, `{"name":"kept"}`)
	gone, lost := create(t, a.Keys, block, `{"name":"gone"}`)
	if _, err := a.Delete(t.Context(), acme, gone.Hash()); err != nil {
		t.Fatal(err)
	}
	if err := b.feed.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	server.Kill()
	_, _, err = a.Create(t.Context(), block, "acme", mustEdit(t, true, `{"name":"new"}`), "")
	wantCode(t, err, apierror.StorageUnavailable)
	_, err = a.Update(t.Context(), block, acme, kept.Hash(), mustEdit(t, false, `{"disabled":true}`))
	wantCode(t, err, apierror.StorageUnavailable)
	if !opens(a.Keys, block, secret, noon) || len(a.List(acme, runtimekeys.Query{})) != 1 {
		t.Error("the keys are not those before")
	}

	b.close() // and a restart of the other node
	if b, err = join(t, dsn, dir, events); err != nil {
		t.Fatal(err)
	}
	if !opens(b.Keys, block, secret, noon) || opens(b.Keys, block, lost, noon) {
		t.Error("the snapshot has other keys")
	}
	if b.logs.FilterMessageSnippet("snapshot").Len() != 1 {
		t.Errorf("the log has %v", b.logs.All())
	}
	fresh, err := join(t, dsn, t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := fresh.Authenticate(block, secret, noon); !errors.Is(err, keys.ErrLoading) {
		t.Errorf("a node that never had the keys: %v", err)
	}
	if fresh.logs.FilterMessageSnippet("no snapshot").Len() != 1 {
		t.Errorf("its log has %v", fresh.logs.All())
	}

	if err := server.Restart(); err != nil {
		t.Fatal(err)
	}
	enginetest.Within(t, 5*time.Second, "a change", func() bool {
		_, err := a.Update(t.Context(), block, acme, kept.Hash(), mustEdit(t, false, `{"disabled":true}`))
		return err == nil
	})
	enginetest.Within(t, 5*time.Second, "the new node follows", func() bool { return len(fresh.List(acme, runtimekeys.Query{Disabled: true})) == 1 })
	enginetest.Within(t, 5*time.Second, "the restarted node follows", func() bool { return !opens(b.Keys, block, secret, noon) })
	if _, _, err := fresh.Authenticate(block, secret, noon); !errors.Is(err, keys.ErrInvalid) {
		t.Errorf("the new node knows the keys: %v", err)
	}
	_, other := create(t, b.Keys, block, `{"name":"new"}`)
	enginetest.Within(t, 3*time.Second, "the other node has the new key", func() bool { return opens(a.Keys, block, other, noon) && opens(fresh.Keys, block, other, noon) })
}

func TestADatabaseWithoutTheTableIsAnError(t *testing.T) {
	if _, err := join(t, enginetest.Postgres(t), t.TempDir(), nil); err == nil {
		t.Error("the keys are taken to be none")
	}
}

func TestADatabaseThatWasPutBackIsReadAnew(t *testing.T) {
	dsn, all := nodes(t, 2, nil)
	b := block(nil)
	old, first := create(t, all[0].Keys, b, `{"name":"old"}`)
	update(t, all[0].Keys, b, old.Hash(), `{"name":"changed"}`)
	_, second := create(t, all[0].Keys, b, `{"name":"lost"}`)
	for _, n := range all {
		if err := n.feed.CatchUp(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	execute(t, dsn, "DELETE FROM api_key WHERE seq = 3")
	execute(t, dsn, "UPDATE api_key SET seq = 1, settings = '{\"name\":\"old\"}'")
	execute(t, dsn, "UPDATE feed SET seq = 1")
	enginetest.Within(t, 3*time.Second, "the node follows", func() bool { return !opens(all[1].Keys, b, second, noon) })
	if got, err := all[1].Get(acme, old.Hash()); err != nil || got.Name != "old" || !opens(all[1].Keys, b, first, noon) {
		t.Errorf("%+v, %v", got, err)
	}
	fresh, _ := create(t, all[0].Keys, b, `{"name":"new"}`) // on a node that may not have polled yet
	if list := all[0].List(acme, runtimekeys.Query{}); len(list) != 2 || list[0].Hash() != fresh.Hash() || list[1].Name != "old" {
		t.Errorf("the keys are %v", list)
	}
}

// A node that was away for longer than deletions are told must not keep a deleted key.
func TestANodeThatWasAwayForLongLearnsOfDeletions(t *testing.T) {
	dsn, all := nodes(t, 2, nil)
	b := block(nil)
	away, stays := all[1], all[0]
	gone, lost := create(t, stays.Keys, b, `{"name":"gone"}`)
	_, kept := create(t, stays.Keys, b, `{"name":"kept"}`)
	if err := away.feed.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	away.feed.Stop()
	if _, err := stays.Delete(t.Context(), acme, gone.Hash()); err != nil {
		t.Fatal(err)
	}
	stays.clock.at = noon.Add(8 * 24 * time.Hour)
	other, _ := create(t, stays.Keys, b, `{"name":"other"}`)
	if _, err := stays.Delete(t.Context(), acme, other.Hash()); err != nil { // prunes
		t.Fatal(err)
	}
	var rows, pruned int
	for query, n := range map[string]*int{"SELECT count(*) FROM api_key": &rows, "SELECT seq FROM api_key_pruned": &pruned} {
		if err := queryRow(t, dsn, query, n); err != nil {
			t.Fatal(err)
		}
	}
	if rows != 2 || pruned != 3 {
		t.Errorf("%d rows, pruned up to %d", rows, pruned)
	}
	// The feed of the node has stopped; its next change reads what the others did.
	_, err := away.Delete(t.Context(), acme, gone.Hash())
	wantCode(t, err, apierror.NotFound)
	if opens(away.Keys, b, lost, noon) || !opens(away.Keys, b, kept, noon) {
		t.Error("the node has other keys")
	}
}
