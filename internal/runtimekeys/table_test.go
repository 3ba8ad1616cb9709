package runtimekeys_test

import (
	"bytes"
	"errors"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/runtimekeys"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/enginetest"
)

// tables are the kinds of tables that a gateway can have. Each opens keys, again and again on the same
// table; what was opened before is closed.
var tables = map[string]func(t *testing.T) (reopen func() *runtimekeys.Keys){
	"SQLite": func(t *testing.T) func() *runtimekeys.Keys {
		dir, closing := t.TempDir(), func() error { return nil }
		return func() *runtimekeys.Keys {
			if err := closing(); err != nil {
				t.Fatal(err)
			}
			st := openStore(t, dir)
			closing = st.Close
			s, _ := open(t, runtimekeys.NewTable(st))
			return s
		}
	},
	"PostgreSQL": func(t *testing.T) func() *runtimekeys.Keys {
		dsn, closing := migrate(t, enginetest.Postgres(t)), func() {}
		return func() *runtimekeys.Keys {
			closing()
			n, err := join(t, dsn, t.TempDir(), nil)
			if err != nil {
				t.Fatal(err)
			}
			closing = n.close
			return n.Keys
		}
	},
}

func eachTable(t *testing.T, test func(t *testing.T, reopen func() *runtimekeys.Keys)) {
	for name, make := range tables {
		t.Run(name, func(t *testing.T) { test(t, make(t)) })
	}
}

func TestATableKeepsWhatWasChanged(t *testing.T) {
	eachTable(t, func(t *testing.T, reopen func() *runtimekeys.Keys) {
		s, b := reopen(), block(nil)
		body := `{"name":"one","limit":1.5,"limit_reset":"daily","expires_at":"2027-01-01T00:00:00.25Z","creator_user_id":"u","external":{"user":"x"},
			"models":["a/*"],"scopes":["chat:write"],"rates":["60/min"],"metadata":{"team":"blue","\u0000":"\u0000 and ü"}}`
		kept, first := create(t, s, b, body)
		plain, secret := create(t, s, b, `{"name":"two"}`)
		gone, lost := create(t, s, b, `{"name":"three"}`)
		if _, err := s.Delete(t.Context(), acme, gone.Hash()); err != nil {
			t.Fatal(err)
		}
		plain = update(t, s, b, plain.Hash(), `{"disabled":true,"limit":0}`)
		secrets := map[string]bool{first: true, secret: false, lost: false}
		for range 3 {
			var fresh string
			var err error
			if kept, fresh, err = s.Rotate(t.Context(), acme, kept.Hash(), nil, time.Hour); err != nil {
				t.Fatal(err)
			}
			secrets[fresh] = true
		}
		s = reopen()
		for _, want := range []*runtimekeys.Key{kept, plain} {
			if got, err := s.Get(acme, want.Hash()); err != nil || !reflect.DeepEqual(sorted(got), sorted(want)) {
				t.Errorf("%+v, %v; want %+v", got, err, want)
			}
		}
		for secret, want := range secrets {
			if opens(s, b, secret, noon) != want {
				t.Errorf("a secret opens: %t", !want)
			}
		}
		later, _ := create(t, s, b, `{"name":"four"}`)
		list := s.List(acme, runtimekeys.Query{Disabled: true})
		if len(list) != 3 || list[0].Hash() != later.Hash() || list[1].Hash() != plain.Hash() || list[2].Hash() != kept.Hash() {
			t.Errorf("the list is %v", list)
		}
	})
}

// sorted returns a record with its secrets in an order of their own.
func sorted(k *runtimekeys.Key) runtimekeys.Record {
	r := k.Record
	r.Secrets = slices.SortedFunc(slices.Values(r.Secrets), func(a, b runtimekeys.Secret) int { return bytes.Compare(a.Sum[:], b.Sum[:]) })
	return r
}

func TestARefusedChangeIsNotKept(t *testing.T) {
	eachTable(t, func(t *testing.T, reopen func() *runtimekeys.Keys) {
		s, b := reopen(), block(func(b *runtimekeys.Block) { b.Max = 1 })
		key, secret := create(t, s, b, `{"name":"one"}`)
		refusals := []error{}
		_, _, err := s.Create(t.Context(), b, "acme", mustEdit(t, true, `{"name":"two"}`), "")
		refusals = append(refusals, err)
		_, err = s.Update(t.Context(), b, acme, key.Hash(), mustEdit(t, false, `{"scopes":["files:write"]}`))
		refusals = append(refusals, err)
		_, err = s.Delete(t.Context(), acme, key.Hash()[:60]+"0000")
		refusals = append(refusals, err)
		for i, err := range refusals {
			if err == nil {
				t.Errorf("%d: no error", i)
			}
		}
		s = reopen()
		if list := s.List(acme, runtimekeys.Query{}); len(list) != 1 || !reflect.DeepEqual(list[0].Record, key.Record) || !opens(s, b, secret, noon) {
			t.Errorf("the keys are %v", list)
		}
	})
}

func TestAnErrorOfJudgeIsThatOfTheTable(t *testing.T) {
	refused := errors.New("refused")
	st := openStore(t, t.TempDir())
	_, all := nodes(t, 1, nil)
	for _, table := range []runtimekeys.Table{runtimekeys.NewTable(st), all[0].table} {
		err := table.Change(t.Context(), func() (before, after *runtimekeys.Record, err error) { return nil, nil, refused })
		if !errors.Is(err, refused) {
			t.Errorf("%T: %v", table, err)
		}
	}
}
