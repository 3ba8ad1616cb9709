package runtimekeys_test

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/runtimekeys"
	"github.com/gatehouse-proxy/gatehouse/internal/store"
)

func wantCode(t *testing.T, err error, code apierror.Code) {
	t.Helper()
	if err == nil || apierror.From(err).Code != code {
		t.Errorf("got %v, want %s", err, code)
	}
}

func TestAKeyWorksUntilItIsDisabledOrDeleted(t *testing.T) {
	s, _ := open(t, new(memory))
	b := block(nil)
	key, secret := create(t, s, b, `{"name":"one"}`)
	if !opens(s, b, secret, noon) || opens(s, nil, secret, noon) || opens(s, b, secret+"x", noon) {
		t.Fatal("only the secret, under a block, opens the key")
	}
	c, _, err := s.Authenticate(b, secret, noon)
	if err != nil || c.Name != key.Hash() || c.Hash != key.Hash() || c.Tenant != "acme" || c.Scopes != b.Scopes {
		t.Errorf("%+v, %v", c, err)
	}
	update(t, s, b, key.Hash(), `{"disabled":true}`)
	if opens(s, b, secret, noon) || !s.IsSecret(secret) {
		t.Error("a disabled key is refused, and its secret is known")
	}
	update(t, s, b, key.Hash(), `{"disabled":false}`)
	if !opens(s, b, secret, noon) {
		t.Error("an enabled key works again")
	}
	if _, err := s.Delete(t.Context(), keys.EveryTenant("other"), key.Hash()); err == nil {
		t.Error("another tenant has deleted the key")
	}
	if _, err := s.Delete(t.Context(), acme, key.Hash()); err != nil {
		t.Fatal(err)
	}
	if opens(s, b, secret, noon) || s.IsSecret(secret) {
		t.Error("a deleted key is refused")
	}
	_, err = s.Delete(t.Context(), acme, key.Hash())
	wantCode(t, err, apierror.NotFound)
}

func TestAKeyExpires(t *testing.T) {
	s, _ := open(t, new(memory))
	b := block(nil)
	_, secret := create(t, s, b, `{"name":"one","expires_at":"2026-05-04T13:00:00Z"}`)
	if !opens(s, b, secret, noon.Add(time.Hour-1)) || opens(s, b, secret, noon.Add(time.Hour)) {
		t.Error("the key does not end when it expires")
	}
}

func TestAChangeThatIsNotKeptChangesNothing(t *testing.T) {
	table := new(memory)
	s, _ := open(t, table)
	b := block(nil)
	key, secret := create(t, s, b, `{"name":"one"}`)
	table.err = errors.New("the disk is full")
	_, _, err := s.Create(t.Context(), b, "acme", mustEdit(t, true, `{"name":"two"}`), "")
	wantCode(t, err, apierror.StorageUnavailable)
	_, err = s.Update(t.Context(), b, acme, key.Hash(), mustEdit(t, false, `{"disabled":true}`))
	wantCode(t, err, apierror.StorageUnavailable)
	_, err = s.Delete(t.Context(), acme, key.Hash())
	wantCode(t, err, apierror.StorageUnavailable)
	if list := s.List(acme, runtimekeys.Query{}); len(list) != 1 || list[0] != key || !opens(s, b, secret, noon) {
		t.Errorf("the keys are %v", list)
	}
}

// A commit can fail after the answer was 503. What waits in the queue is then taken back.
func TestAChangeThatCouldNotBeCommittedInTimeIsTakenBack(t *testing.T) {
	dir := t.TempDir()
	st := openStore(t, dir)
	table := runtimekeys.NewTable(st)
	s, _ := open(t, table)
	b := block(nil)
	key, _ := create(t, s, b, `{"name":"one"}`)
	hold := make(blockingOp)
	if err := st.Submit(hold); err != nil {
		t.Fatal(err)
	}
	late, cancel := context.WithCancel(t.Context())
	cancel()
	renamed := key.Record
	renamed.Name = "renamed"
	created := renamed
	created.ID[0] ^= 1
	change := func(ctx context.Context, before, after *runtimekeys.Record) error {
		return table.Change(ctx, func() (*runtimekeys.Record, *runtimekeys.Record, error) { return before, after, nil })
	}
	for name, err := range map[string]error{
		"create": change(late, nil, &created), "update": change(late, &key.Record, &renamed), "delete": change(late, &key.Record, nil),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	close(hold)
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	s, _ = open(t, runtimekeys.NewTable(openStore(t, dir)))
	if list := s.List(acme, runtimekeys.Query{}); len(list) != 1 || list[0].Name != "one" {
		t.Errorf("the keys are %v", list)
	}
}

// blockingOp blocks the writer until it is closed.
type blockingOp chan struct{}

func (h blockingOp) Apply(*store.Tx) error { <-h; return nil }
func (blockingOp) Droppable() bool         { return false }

func TestARepeatedCreateNamesTheKeyThatItHasMade(t *testing.T) {
	s, c := open(t, new(memory))
	b := block(nil)
	again := func(tenant string) error {
		_, _, err := s.Create(t.Context(), b, tenant, mustEdit(t, true, `{"name":"one"}`), "request-1")
		return err
	}
	if err := again("acme"); err != nil {
		t.Fatal(err)
	}
	first := s.List(acme, runtimekeys.Query{})[0]
	err := again("acme")
	wantCode(t, err, apierror.InvalidValue)
	if !strings.Contains(err.Error(), first.Hash()) {
		t.Errorf("the refusal does not name the key: %v", err)
	}
	if err := again("other"); err != nil {
		t.Errorf("another tenant's request is another one: %v", err)
	}
	c.at = noon.Add(24*time.Hour + time.Second)
	if err := again("acme"); err != nil {
		t.Errorf("after a day: %v", err)
	}
}

// Who has the newest secret loses it at the end of all that the person has.
func TestARotatedKeyIsThePersonsWhoRotatesIt(t *testing.T) {
	s, _ := open(t, new(memory))
	key, _ := create(t, s, block(nil), `{"name":"one"}`)
	ann, bob := &runtimekeys.Owner{ID: "sso-1", Name: "ann"}, &runtimekeys.Owner{ID: "sso-2", Name: "bob"}
	for _, c := range []struct{ by, want *runtimekeys.Owner }{{nil, nil}, {ann, ann}, {bob, bob}, {nil, bob}} {
		if rotated, _, err := s.Rotate(t.Context(), acme, key.Hash(), c.by, 0); err != nil || rotated.Owner != c.want {
			t.Errorf("by %+v: %+v, %v", c.by, rotated.Owner, err)
		}
	}
	if all := runtimekeys.Owned(s); len(all) != 1 || *all[0].Owner != *bob {
		t.Errorf("%+v", all)
	}
}

func TestARotatedKeyKeepsItsIdentityAndItsOldSecretForTheGrace(t *testing.T) {
	s, c := open(t, new(memory))
	b := block(nil)
	key, first := create(t, s, b, `{"name":"one"}`)
	rotate := func(grace time.Duration) string {
		rotated, secret, err := s.Rotate(t.Context(), acme, key.Hash(), nil, grace)
		if err != nil || rotated.Hash() != key.Hash() || !strings.HasPrefix(secret, rotated.Label[:6]) {
			t.Fatalf("%+v, %v", rotated, err)
		}
		return secret
	}
	second := rotate(time.Hour)
	end := noon.Add(time.Hour)
	if !opens(s, b, first, end.Add(-1)) || opens(s, b, first, end) || !opens(s, b, second, end) {
		t.Error("the old secret is good exactly for the grace")
	}
	credential, _, _ := s.Authenticate(b, first, noon)
	if !credential.Expires.Equal(end) || credential.Name != key.Hash() {
		t.Errorf("what the old secret opens ends at %v", credential.Expires)
	}
	third := rotate(0)
	if opens(s, b, first, noon) || opens(s, b, second, noon) || s.IsSecret(first) || !opens(s, b, third, noon) {
		t.Error("without grace only the new secret is good")
	}
	for range 7 {
		rotate(time.Hour)
	}
	_, _, err := s.Rotate(t.Context(), acme, key.Hash(), nil, time.Hour)
	wantCode(t, err, apierror.InvalidValue)
	c.at = noon.Add(2 * time.Hour)
	rotate(time.Hour) // those before have ended
}

func TestWhatWasOpenedWithASecretEndsWithIt(t *testing.T) {
	at := func(minutes int) time.Time { return noon.Add(time.Duration(minutes) * time.Minute) }
	version := func(expires, updated time.Time, secrets ...runtimekeys.Secret) *runtimekeys.Key {
		return &runtimekeys.Key{Record: runtimekeys.Record{Secrets: secrets, Updated: updated, Settings: runtimekeys.Settings{Expires: expires}}}
	}
	first, second := runtimekeys.Sum{1}, runtimekeys.Sum{2}
	never := time.Time{}
	before := version(never, never, runtimekeys.Secret{Sum: first})
	for name, test := range map[string]struct {
		after *runtimekeys.Key
		want  time.Time
	}{
		"renamed":       {version(never, at(1), runtimekeys.Secret{Sum: first}), never},
		"expires":       {version(at(9), at(1), runtimekeys.Secret{Sum: first}), at(9)},
		"grace":         {version(never, at(1), runtimekeys.Secret{Sum: second}, runtimekeys.Secret{Sum: first, Until: at(5)}), at(5)},
		"no grace":      {version(never, at(1), runtimekeys.Secret{Sum: second}), at(1)},
		"expires first": {version(at(3), at(1), runtimekeys.Secret{Sum: second}, runtimekeys.Secret{Sum: first, Until: at(5)}), at(3)},
	} {
		if got := test.after.EndsSince(before); !got.Equal(test.want) {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestNoMoreKeysThanTheBlockAllows(t *testing.T) {
	s, _ := open(t, new(memory))
	b := block(func(b *runtimekeys.Block) { b.Max = 1 })
	key, _ := create(t, s, b, `{"name":"one"}`)
	_, _, err := s.Create(t.Context(), b, "acme", mustEdit(t, true, `{"name":"two"}`), "")
	wantCode(t, err, apierror.KeysExceeded)
	if _, err := s.Delete(t.Context(), acme, key.Hash()); err != nil {
		t.Fatal(err)
	}
	create(t, s, b, `{"name":"two"}`)
}

func TestAListHasTheTenantsKeysNewestFirst(t *testing.T) {
	s, _ := open(t, new(memory))
	b := block(nil)
	var made []string
	for range 105 {
		key, _ := create(t, s, b, `{"name":"k"}`)
		made = append([]string{key.Hash()}, made...)
	}
	if _, _, err := s.Create(t.Context(), b, "other", mustEdit(t, true, `{"name":"theirs"}`), ""); err != nil {
		t.Fatal(err)
	}
	update(t, s, b, made[50], `{"disabled":true}`)
	hashes := func(of keys.Tenants, q runtimekeys.Query) (list []string) {
		for _, key := range s.List(of, q) {
			list = append(list, key.Hash())
		}
		return list
	}
	if got := hashes(acme, runtimekeys.Query{Disabled: true}); !reflect.DeepEqual(got, made[:100]) {
		t.Error("the first page differs")
	}
	if got := hashes(acme, runtimekeys.Query{Offset: 100}); !reflect.DeepEqual(got, made[101:]) {
		t.Errorf("the second page without the disabled key has %d", len(got))
	}
	if got := s.List(keys.EveryTenant(""), runtimekeys.Query{Offset: 105, Disabled: true}); len(got) != 1 {
		t.Errorf("all tenants have %d more", len(got))
	}
	if got := hashes(keys.Tenants{}, runtimekeys.Query{}); got != nil {
		t.Errorf("nobody has %v", got)
	}
	if hash, err := s.Match(acme, made[0][:20]); err != nil || hash != made[0] {
		t.Errorf("%q, %v", hash, err)
	}
}
