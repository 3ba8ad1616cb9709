package desktop_test

import (
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop/memory"
)

func TestLabelIsTheOneBeforeTheDomain(t *testing.T) {
	d := newService(t, func(c *desktop.Config) { c.Domain = "VNC.example.com" })
	long := strings.Repeat("a", 63)
	for name, want := range map[string]string{
		"abc.vnc.example.com":         "abc",
		"ABC.Vnc.EXAMPLE.com":         "abc",
		"a-1.vnc.example.com":         "a-1",
		long + ".vnc.example.com":     long,
		long + "a.vnc.example.com":    "",
		"abc.vnc.example.com.":        "",
		"x.abc.vnc.example.com":       "",
		".vnc.example.com":            "",
		"vnc.example.com":             "",
		"abcvnc.example.com":          "",
		"abc.vnc.example.org":         "",
		"abc.vnc.example.com.evil.io": "",
		"*.vnc.example.com":           "",
		"a_b.vnc.example.com":         "",
		"\u212a.vnc.example.com":      "", // the Kelvin sign folds to k in Unicode
		"abc.vnc.example.\u0441om":    "", // a Cyrillic letter
		"\xff.vnc.example.com":        "",
		"":                            "",
	} {
		label, ok := d.Policy().Label(name)
		if label != want || ok != (want != "") {
			t.Errorf("Label(%q) = %q, %v", name, label, ok)
		}
	}
}

func TestTypedTokens(t *testing.T) {
	d := newService(t, nil)
	for typed, want := range map[string]string{
		"abc": "abc", " abc\n": "abc", "abc.vnc.example.com": "abc", "ABC.vnc.example.com:5900": "abc",
		"abc:5900": "abc", "x.abc.vnc.example.com": "x.abc.vnc.example.com", "": "",
	} {
		if got := d.Policy().TypedLabel(typed); got != want {
			t.Errorf("TypedLabel(%q) = %q", typed, got)
		}
	}
}

func TestWhatWasNeverATokenHasOneText(t *testing.T) {
	d := open(t, nil)
	label, _ := issue(t, d, "desk1", desktop.Options{})
	almost := "a" + label[1:]
	if label[0] == 'a' {
		almost = "b" + label[1:]
	}
	for _, guess := range []string{"", "desk1", label[:25], label + "a", almost, strings.Repeat("a", 26), strings.Repeat("\x00", 26)} {
		_, err := d.Find(guess, viewer.Addr())
		wantRefusal(t, err, desktop.RefusedUnknown)
		if d.Live(guess) {
			t.Errorf("%q is live", guess)
		}
	}
}

func TestPrefixesOpenOnlyWithVNCAuth(t *testing.T) {
	state := memory.NewState(time.Now)
	off := open(t, func(c *desktop.Config) { c.State = state })
	on := open(t, func(c *desktop.Config) { c.State, c.VNCAuth = state, true })
	early, _ := issue(t, off, "desk1", desktop.Options{})
	late, issued := issue(t, on, "desk1", desktop.Options{})
	find := func(d *desktop.Service, label string) (*desktop.Pass, error) {
		return d.FindByMatch(func(p string) bool { return p == label[:8] }, viewer.Addr())
	}
	pass, err := find(on, late)
	if err != nil || pass.TokenID != issued.TokenID {
		t.Fatal(pass, err)
	}
	_, err = find(off, late)
	wantRefusal(t, err, desktop.RefusedUnknown)
	_, err = find(on, early) // was issued when nothing of it was kept
	wantRefusal(t, err, desktop.RefusedUnknown)
	if _, _, prefixes := state.Kept(); prefixes != 1 {
		t.Errorf("%d prefixes are kept", prefixes)
	}
	desktop.Commit(state, off, nil)
	if _, _, prefixes := state.Kept(); prefixes != 0 {
		t.Errorf("%d prefixes are kept after it was turned off", prefixes)
	}
	if _, err := on.Find(late, viewer.Addr()); err != nil {
		t.Error("the whole token died with its prefix:", err)
	}
}

func TestATypedPrefixOpensOnlyWithVNCAuth(t *testing.T) {
	state := memory.NewState(time.Now)
	off := open(t, func(c *desktop.Config) { c.State = state })
	on := open(t, func(c *desktop.Config) { c.State, c.VNCAuth = state, true })
	label, issued := issue(t, on, "desk1", desktop.Options{})
	for _, typed := range []string{label[:8], strings.ToUpper(label[:8]), " " + label[:8] + "\n"} {
		prefix, ok := on.Policy().TypedPrefix(on.Policy().TypedLabel(typed))
		if !ok {
			t.Errorf("%q is no prefix", typed)
			continue
		}
		if pass, err := on.FindByPrefix(prefix, viewer.Addr()); err != nil || pass.TokenID != issued.TokenID {
			t.Errorf("%q: %v, %v", typed, pass, err)
		}
	}
	prefix, ok := on.Policy().TypedPrefix(label[8:16])
	if !ok {
		t.Error("another part of the token is no prefix")
	} else {
		_, err := on.FindByPrefix(prefix, viewer.Addr())
		wantRefusal(t, err, desktop.RefusedUnknown)
	}
	for _, typed := range []string{"", label[:7], label[:9], label[:25], label} {
		if _, ok := on.Policy().TypedPrefix(typed); ok {
			t.Errorf("%q is taken for a prefix", typed)
		}
	}
	if _, ok := off.Policy().TypedPrefix(label[:8]); ok {
		t.Error("a prefix will do without vncauth")
	}
}

// dice give thrice tokens that begin alike, then others.
type dice struct{ rolls int }

func (d *dice) Read(p []byte) (int, error) {
	d.rolls++
	for i := range p {
		p[i] = byte(d.rolls / 3 * 8)
	}
	p[len(p)-2] = byte(d.rolls) // the last character that VNC authentication shows is long before
	return len(p), nil
}

func TestNoTwoLiveTokensLookAlike(t *testing.T) {
	for _, vncauth := range []bool{false, true} {
		d := open(t, func(c *desktop.Config) { c.Random, c.VNCAuth = &dice{}, vncauth })
		seen := map[string]bool{}
		for range 8 {
			label, _ := issue(t, d, "desk1", desktop.Options{})
			if vncauth {
				label = label[:8]
			}
			if seen[label] {
				t.Fatalf("%s is issued twice", label)
			}
			seen[label] = true
		}
	}
	stuck := open(t, func(c *desktop.Config) { c.Random = zeros{} })
	issue(t, stuck, "desk1", desktop.Options{})
	if _, err := stuck.Issue(dev, "desk1", desktop.Options{}); err == nil {
		t.Error("a token that exists already")
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }
