package vncrelay

import (
	"testing"
	"time"
)

// A peer is gone when it has answered nothing for half a minute although an answer was due all that
// time.
func TestAPeerIsGoneWhenNothingIsAcknowledged(t *testing.T) {
	const s = time.Second
	type look struct {
		at         time.Duration // since the start
		unanswered bool
		last       time.Duration // since the last sign of life
		want       bool
	}
	for name, looks := range map[string][]look{
		"it vanished":                       {{0, true, 1 * s, false}, {25 * s, true, 26 * s, false}, {30 * s, true, 31 * s, true}},
		"it was silent, and has just woken": {{0, true, 900 * s, false}, {5 * s, false, 0, false}, {60 * s, true, 55 * s, false}},
		"it vanished after a long silence":  {{0, true, 900 * s, false}, {29 * s, true, 929 * s, false}, {30 * s, true, 930 * s, true}},
		"nothing was sent to it":            {{0, false, 0, false}, {900 * s, false, 900 * s, false}},
		"it is slow, but answers":           {{0, true, 1 * s, false}, {20 * s, true, 2 * s, false}, {40 * s, true, 22 * s, false}, {48 * s, true, 30 * s, true}},
		"its answers come between looks":    {{0, true, 0, false}, {40 * s, false, 1 * s, false}, {60 * s, true, 21 * s, false}, {89 * s, true, 50 * s, false}},
	} {
		var now look
		p := peer{read: func() (acknowledgements, bool) { return acknowledgements{now.unanswered, now.last}, true }}
		begin := time.Now()
		for _, now = range looks {
			if got := p.gone(begin.Add(now.at), silenceLimit); got != now.want {
				t.Errorf("%s: gone after %s: %v", name, now.at, got)
			}
		}
	}
}

func TestAPeerOfWhichNothingIsKnownStays(t *testing.T) {
	blind := peer{read: func() (acknowledgements, bool) { return acknowledgements{unanswered: true, last: time.Hour}, false }}
	for range 3 {
		if blind.gone(time.Now().Add(time.Hour), silenceLimit) || (&peer{}).gone(time.Now(), silenceLimit) {
			t.Error("it is taken for gone")
		}
	}
}
