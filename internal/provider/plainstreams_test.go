package provider

import (
	"strconv"
	"testing"
)

// Callers choose the names of models, so what is noted of them is bounded.
func TestModelsThatRefuseStreamOptionsAreNotedUpToABound(t *testing.T) {
	var e Endpoint
	for i := range 3 * maxPlainStreams {
		name := strconv.Itoa(i)
		if e.RefusesStreamOptions(name) {
			t.Fatalf("%s is noted before it refused", name)
		}
		e.NoteStreamOptionsRefused(name)
		if n := len(e.plainStreams); n > maxPlainStreams || !e.RefusesStreamOptions(name) {
			t.Fatalf("%s is not noted, or is one of %d", name, n)
		}
	}
}
