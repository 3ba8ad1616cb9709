package authserver

import (
	"testing"
	"time"
)

// Changes come in another order than they were made: see Find and Follow.
func TestAnOlderRecordDoesNotMakeAnEndedSignInGood(t *testing.T) {
	b := start(t)
	access, _ := b.signIn()
	in := b.state.List()[0]
	older, err := b.state.get(t.Context(), in.ID)
	if err != nil {
		t.Fatal(err)
	}
	told := 0
	b.state.Told(func(Person, time.Time) { told++ })
	for range 2 {
		if _, err := b.state.endOne(t.Context(), in.ID); err != nil {
			t.Fatal(err)
		}
	}
	b.at = b.at.Add(sweepEvery + time.Second)
	b.signIn() // sweeps
	b.state.apply(*older)
	if b.good(access) || len(b.state.List()) != 1 || told != 1 {
		t.Errorf("it is good again, or it was told %d times", told)
	}
	b.at = in.Ends.Add(sweepEvery + time.Second)
	b.signIn()
	if n := len(b.state.signIns); n != 1 {
		t.Errorf("%d are in memory after their end", n)
	}
}

// Also of somebody who has no sign-in here.
func TestABlockIsTold(t *testing.T) {
	b := start(t)
	var told []string
	b.state.Told(func(p Person, until time.Time) { told = append(told, p.ID+" "+until.Format(time.TimeOnly)) })
	if _, err := b.state.Block(t.Context(), ann); err != nil || len(told) != 1 || told[0] != "okta-1 12:00:00" {
		t.Errorf("%q, %v", told, err)
	}
}

// An end is of all that was begun before, at the program and elsewhere, and of nothing after.
func TestWhatSomebodyBeganBeforeAnEndIsOver(t *testing.T) {
	b := start(t)
	device, user := b.device()
	b.approve(user, ann, "upstream-0")
	began := b.at
	b.at = b.at.Add(time.Second)
	if n, err := b.state.End(t.Context(), ann); n != 0 || err != nil || !b.state.Over(ann.ID, began) || b.state.Over(ann.ID, b.at) || b.state.Over("okta-2", began) {
		t.Errorf("%d ended, %v", n, err)
	}
	b.want(b.poll(device), 400, accessDenied)
	if access, _ := b.signIn(); !b.good(access) || len(b.state.Blocks()) != 0 {
		t.Error("an end keeps out")
	}
	if _, err := b.state.Block(t.Context(), ann); err != nil {
		t.Fatal(err)
	}
	if _, err := b.state.End(t.Context(), ann); err != nil || !b.state.Blocked(ann.ID) {
		t.Errorf("an end lets in who is blocked: %v", err)
	}
	b.at = b.at.Add(time.Second)
	if _, err := b.state.Unblock(t.Context(), ann.ID); err != nil || !b.state.Over(ann.ID, b.at.Add(-1)) || b.state.Over(ann.ID, b.at) {
		t.Errorf("what was begun before the end of a block: %v", err)
	}
}
