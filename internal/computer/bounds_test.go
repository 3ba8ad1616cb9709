package computer

import (
	"strings"
	"testing"
)

// What a refused request would have pressed costs nothing.
func TestKeysBehindTheBoundAreNotPlanned(t *testing.T) {
	p := plan{left: maxTime}
	if err := p.add(&action{row: rowOf("action", "key"), text: strings.Repeat("a ", MaxBody/2), repeat: maxRepeat}); err == nil {
		t.Error("it takes longer than a request may")
	}
	if most := int(maxTime / pressTime * 2); p.keys > most {
		t.Errorf("%d events were planned, at most %d fit", p.keys, most)
	}
}
