package valkey

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
)

func TestBeyondTheBoundTheOldestTokensAreForgotten(t *testing.T) {
	begun := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	r := &recent{tokens: make(map[desktop.Hash]issuedToken)}
	hash := func(i int) (h desktop.Hash) {
		binary.BigEndian.PutUint32(h[:], uint32(i))
		return h
	}
	const more = 3
	for i := range maxIssued + more {
		r.add(desktop.ID{}, []*desktop.Token{{Hash: hash(i), Issued: begun.Add(time.Duration(i) * time.Millisecond)}})
	}
	if n := len(r.all(begun)); n != maxIssued {
		t.Errorf("%d tokens are remembered", n)
	}
	for i, want := range map[int]bool{0: false, more - 1: false, more: true, maxIssued + more - 1: true} {
		if _, ok := r.tokens[hash(i)]; ok != want {
			t.Errorf("token %d is remembered: %v", i, ok)
		}
	}
}
