package faults

import (
	"testing"
	"time"
)

func TestBehaviourNames(t *testing.T) {
	for name, ok := range map[string]bool{
		"echo": true, "a/b/echo:free": true, "ECHO": false, "": false, "err": false, "err-399": false, "err-600": false,
		"err-404": true, "err-404-": false, "err-404-some-code": true, "err-x": false, "step-": false, "step-a-b": true, "stall-1": true,
		"paced-3-0": true, "paced-3": false, "paced-0-1": false, "paced-3-1-1": false, "burst-1": true, "burst-1-1": false,
		"burst-10001": false, "delayed-headers-5": true, "delayed-headers--5": false, "paced": false, "burst": false, "echo-1": false,
		"cut-1": true, "cut-3-reset": true, "cut-3-clean": true, "cut-3-soft": false, "cut-0": false, "silent-2": true, "silent": false,
		"first-2-err-503": true, "first-1-after-2-err-429": true, "after-none-err-503": true, "first-0-echo": false, "first-1-nonsense": false,
		"after-2-first-1-echo": false, "after-x-echo": false, "first": false, "hang-1": true, "late-1": true,
	} {
		if _, got := behaviourOf(name); got != ok {
			t.Errorf("%q: %v", name, got)
		}
	}
	b, _ := behaviourOf("x/paced-3-20:free")
	if b.events != 3 || b.pause != 20*time.Millisecond || b.name != "paced-3-20" {
		t.Errorf("%+v", b)
	}
}

func TestStoredResponsesAreBounded(t *testing.T) {
	s := newResponseStore()
	for i := range maxStored + 1 {
		s.put(string(rune(i+0x10000)), stored{})
	}
	if _, first := s.get(string(rune(0x10000))); first || len(s.byID) != maxStored {
		t.Errorf("%d kept, the first among them %v", len(s.byID), first)
	}
}
