package runtimekeys_test

import (
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"weak"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/runtimekeys"
)

// A leaked key can be disabled although the block became tighter than it.
func TestAnEditIsRefusedOnlyForWhatItAsks(t *testing.T) {
	s, _ := open(t, new(memory))
	key, secret := create(t, s, block(func(b *runtimekeys.Block) { b.Scopes |= keys.ActivityRead }),
		`{"name":"k","limit":100,"limit_reset":"daily","budgets":["9k tokens/day soft"],"scopes":["chat:write","activity:read"],"models":["c/*"],"rates":["100/min"],"concurrency":"50","max_output_tokens":500}`)
	b := block(narrow)
	for _, body := range []string{`{"name":"renamed"}`, `{"limit":5}`, `{"limit":6,"limit_reset":"weekly"}`, `{"models":["a/*"]}`, `{"disabled":true}`} {
		update(t, s, b, key.Hash(), body)
	}
	if opens(s, b, secret, noon) {
		t.Error("the key is good though it was disabled")
	}
	for _, body := range []string{
		`{"limit":11,"limit_reset":"daily"}`, `{"budgets":["9k tokens/day soft"]}`, `{"scopes":["activity:read"]}`, `{"models":["c/*"]}`, `{"rates":["100/min"]}`,
		`{"concurrency":"50"}`, `{"max_output_tokens":500}`,
	} {
		_, err := s.Update(t.Context(), b, acme, key.Hash(), mustEdit(t, false, body))
		wantCode(t, err, apierror.InvalidValue)
	}
	update(t, s, b, key.Hash(), `{"limit":20,"limit_reset":"weekly"}`)
	_, err := s.Update(t.Context(), b, acme, key.Hash(), mustEdit(t, false, `{"limit_reset":"daily"}`))
	wantCode(t, err, apierror.InvalidValue)
}

func TestAnEmptyEditChangesNothing(t *testing.T) {
	table := new(memory)
	s, _ := open(t, table)
	key, _ := create(t, s, block(nil), `{"name":"k"}`)
	table.err = fmt.Errorf("the disk is full")
	if same := update(t, s, block(nil), key.Hash(), `{}`); same != key {
		t.Errorf("%+v", same)
	}
}

// What a manager sends is printed in an operator's terminal, and kept in memory for each key.
func TestTextsOfAKeyAreBoundedAndPrintable(t *testing.T) {
	for body, param := range map[string]string{
		`{"concurrency":"5` + strings.Repeat(" ", 256) + `"}`: "concurrency",
		`{"concurrency":"5\u0085queue 2 1s"}`:                 "concurrency",
		`{"rates":["10/min\n"]}`:                              "rates",
		`{"budgets":["1usd/day\u2028soft"]}`:                  "budgets",
		`{"models":["a/\u001b[2J"]}`:                          "models",
	} {
		_, err := edit(t, false, body)
		wantCode(t, err, apierror.InvalidValue)
		if err != nil && apierror.From(err).Param != param {
			t.Errorf("%s: %v", body, err)
		}
	}
}

func TestTheSettingsOfAKeyAreBoundedTogether(t *testing.T) {
	s, _ := open(t, new(memory))
	b := block(nil)
	models := func(n int) string {
		list := make([]string, n)
		for i := range list {
			list[i] = fmt.Sprintf(`"a/%0250d"`, i)
		}
		return `[` + strings.Join(list, ",") + `]`
	}
	metadata := make([]string, 16)
	for i := range metadata {
		metadata[i] = fmt.Sprintf(`"%064d":"%0512d"`, i, i)
	}
	full := `{"name":"k","metadata":{` + strings.Join(metadata, ",") + `}`
	key, _ := create(t, s, b, full+`}`)
	_, _, err := s.Create(t.Context(), b, "acme", mustEdit(t, true, full+`,"models":`+models(60)+`}`), "")
	wantCode(t, err, apierror.InvalidValue)
	_, err = s.Update(t.Context(), b, acme, key.Hash(), mustEdit(t, false, `{"models":`+models(60)+`}`))
	wantCode(t, err, apierror.InvalidValue)
	if same, err := s.Get(acme, key.Hash()); err != nil || !reflect.DeepEqual(same, key) {
		t.Error("a refused edit has changed the key")
	}
}

// Keys outlive configurations: none may keep the limits and models of an earlier one in memory.
func TestAKeyKeepsNoEarlierConfiguration(t *testing.T) {
	s, _ := open(t, new(memory))
	_, secret := create(t, s, block(nil), `{"name":"k"}`)
	earlier := func() weak.Pointer[runtimekeys.Block] {
		b := block(nil)
		if !opens(s, b, secret, noon) {
			t.Fatal("the key is not good")
		}
		return weak.Make(b)
	}()
	runtime.GC()
	if earlier.Value() != nil {
		t.Error("the block of an earlier configuration is still in memory")
	}
	runtime.KeepAlive(s)
}
