package store_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/store"
)

// batched and other are two types of operations that can be written in batches of one type.
type batched struct {
	text    string
	fail    error
	batches *[]string // the arguments of ApplyBatch
}

type other struct{ batched }

func (b batched) Droppable() bool { return false }

func (b batched) Apply(tx *store.Tx) error {
	if b.fail != nil {
		return b.fail
	}
	return note(b.text).Apply(tx)
}

func (b batched) ApplyBatch(tx *store.Tx, ops []store.Op) error {
	return applyAll(tx, b.batches, ops, func(op store.Op) batched { return op.(batched) })
}

func (o other) ApplyBatch(tx *store.Tx, ops []store.Op) error {
	return applyAll(tx, o.batches, ops, func(op store.Op) batched { return op.(other).batched })
}

func applyAll(tx *store.Tx, batches *[]string, ops []store.Op, of func(store.Op) batched) error {
	var names []string
	for _, op := range ops {
		names = append(names, of(op).text)
	}
	*batches = append(*batches, strings.Join(names, " "))
	for _, op := range ops {
		if err := of(op).Apply(tx); err != nil {
			return err
		}
	}
	return nil
}

func TestBatchesFollowTheRestOfTheirGroup(t *testing.T) {
	st := open(t, t.TempDir(), store.Options{CommitInterval: time.Hour})
	var batches []string
	b := func(text string) batched { return batched{text: text, batches: &batches} }
	for _, o := range []store.Op{b("a"), b("b"), note("x"), b("c"), other{b("d")}, note("y"), other{b("e")}, b("f")} {
		if err := st.Submit(o); err != nil {
			t.Fatal(err)
		}
	}
	flush(t, st)
	if got := texts(t, st); got != "x y a b c f d e" {
		t.Errorf("written %q", got)
	}
	if want := []string{"a b c f", "d e"}; !slices.Equal(batches, want) {
		t.Errorf("batches %q, want %q", batches, want)
	}
	for i := range 501 { // more than a group
		if err := st.Submit(b(fmt.Sprint(i))); err != nil {
			t.Fatal(err)
		}
	}
	flush(t, st)
	if batches = batches[2:]; len(batches) != 2 || len(strings.Fields(batches[0])) != 500 || batches[1] != "500" {
		t.Errorf("%d batches of two groups", len(batches))
	}
}

func TestRejectedOperationOfABatchIsLeftOutAlone(t *testing.T) {
	st, rejected := openLogged(t, store.Options{CommitInterval: time.Hour})
	var batches []string
	for _, b := range []batched{{text: "a"}, {text: "bad", fail: errors.New("no")}, {text: "a"}, {text: "b"}} {
		b.batches = &batches
		if err := st.Submit(b); err != nil {
			t.Fatal(err)
		}
	}
	flush(t, st)
	if got := texts(t, st); got != "a b" || rejected() != 2 || len(batches) != 1 {
		t.Errorf("kept %q, rejected %d, batches %q", got, rejected(), batches)
	}
}
