package desktop_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
)

// byMatch looks for the first characters of label, and returns which were tried.
func byMatch(d *desktop.Service, label string) (tried []string, err error) {
	_, err = d.FindByMatch(func(p string) bool { tried = append(tried, p); return p == label[:8] }, viewer.Addr())
	return tried, err
}

func TestAMatchIsAskedForLivePrefixesFirstAndMayTakeItsTime(t *testing.T) {
	d := open(t, func(c *desktop.Config) { c.VNCAuth = true })
	dead, live := mustIssue(t, d, "desk1"), mustIssue(t, d, "desk2")
	if err := d.Release(t.Context(), "default", "desk1", desktop.Releaser{}); err != nil {
		t.Fatal(err)
	}
	tried, err := byMatch(d, "neverissued")
	wantRefusal(t, err, desktop.RefusedUnknown)
	if !slices.Equal(tried, []string{live[:8], dead[:8]}) {
		t.Errorf("tried %v, want %s and then %s", tried, live[:8], dead[:8])
	}
	_, err = d.FindByMatch(func(string) bool { // the lock is free
		if err := d.Release(t.Context(), "default", "desk2", desktop.Releaser{}); err != nil {
			t.Error(err)
		}
		return true
	}, viewer.Addr())
	wantRefusal(t, err, desktop.RefusedReleased)
}

// A viewer that tries a dead token again and again makes no guess, however little of it it shows.
func TestThePrefixOfADeadTokenIsNoWrongOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := open(t, func(c *desktop.Config) { c.VNCAuth, c.MaxTokens = true, 1000 })
		want := func(label string, typed, matched desktop.RefusalCode) {
			t.Helper()
			_, err := d.FindByPrefix(label[:8], viewer.Addr())
			wantRefusal(t, err, typed)
			_, err = byMatch(d, label)
			wantRefusal(t, err, matched)
		}
		expired, _ := issue(t, d, "desk1", desktop.Options{ExpiresIn: time.Second})
		time.Sleep(time.Second)
		want(expired, desktop.RefusedExpired, desktop.RefusedExpired)
		mustIssue(t, d, "desk1") // sweeps
		want(expired, desktop.RefusedExpired, desktop.RefusedExpired)
		released := mustIssue(t, d, "desk2")
		if err := d.Release(t.Context(), "default", "desk2", desktop.Releaser{}); err != nil {
			t.Fatal(err)
		}
		want(released, desktop.RefusedReleased, desktop.RefusedReleased)
		time.Sleep(time.Hour)
		want(released, desktop.RefusedReleased, desktop.RefusedUnknown) // matches cost time
		if err := d.Restore(t.Context(), "default", "desk2"); err != nil {
			t.Fatal(err)
		}
		for range 300 {
			mustIssue(t, d, "desk2")
		}
		if err := d.Release(t.Context(), "default", "desk2", desktop.Releaser{}); err != nil {
			t.Fatal(err)
		}
		if tried, _ := byMatch(d, "neverissued"); len(tried) > 1+256 {
			t.Errorf("%d prefixes were tried", len(tried))
		}
		time.Sleep(24 * time.Hour)
		want(released, desktop.RefusedUnknown, desktop.RefusedUnknown)
		if _, _, prefixes := d.State().Kept(); prefixes > 1 {
			t.Errorf("%d prefixes are left", prefixes)
		}
	})
}
