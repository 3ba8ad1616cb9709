package cluster_test

import (
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/enginetest"
)

func TestEventsReachAllNodes(t *testing.T) {
	t.Parallel()
	e := enginetest.Redis(t)
	heard := make(chan string, 10)
	a, b := newMember(t, "a", at(e), nil), newMember(t, "b", at(e), nil)
	for _, m := range []member{a, b} {
		m.On("free", func(text string) { heard <- text })
		if err := m.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for _, kind := range []string{"other", "free"} {
		if err := a.Publish(t.Context(), kind, kind+" m1"); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		select {
		case text := <-heard:
			if text != "free m1" {
				t.Errorf("%q", text)
			}
		case <-time.After(5 * time.Second):
			t.Fatal("not heard")
		}
	}
}

func TestEventsGoOnAfterALossOfData(t *testing.T) {
	t.Parallel()
	heard := make(chan string, 100)
	a := newMember(t, "a", at(enginetest.Redis(t)), nil)
	a.On("free", func(text string) { heard <- text })
	if err := a.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	// An ID of the future: the clock of the old master was ahead.
	if _, err := a.engine.Do(t.Context(), "XADD", a.Key("ev"), "99999999999999-0", "kind", "free", "text", "before"); err != nil {
		t.Fatal(err)
	}
	if text := <-heard; text != "before" {
		t.Errorf("%q", text)
	}
	if _, err := a.engine.Do(t.Context(), "DEL", a.Key("ev")); err != nil {
		t.Fatal(err)
	}
	if err := a.Publish(t.Context(), "free", "after"); err != nil {
		t.Fatal(err)
	}
	select {
	case text := <-heard:
		if text != "after" {
			t.Errorf("%q", text)
		}
	case <-time.After(10 * time.Second):
		t.Error("not heard")
	}
}
