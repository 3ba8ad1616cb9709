package terminal

import (
	"io"
	"testing"
)

func TestAMeterIsFullOnlyIfTheShareIs(t *testing.T) {
	for locale, want := range map[string]map[float64]string{
		"C.UTF-8": {0: "··········", 0.0001: "▏·········", 0.25: "██▌·······", 0.55: "█████▌····", 0.999: "█████████·", 1: "██████████", 7: "██████████", -1: "··········"},
		"C":       {0: "..........", 0.0001: "#.........", 0.5: "#####.....", 0.97: "#########.", 1: "##########"},
	} {
		t.Setenv("LC_ALL", locale)
		t.Setenv("TERM", "xterm")
		meter := Meter(io.Discard)
		for share, bar := range want {
			if got := meter(share); got != bar {
				t.Errorf("%s: %v is %q, want %q", locale, share, got, bar)
			}
		}
	}
}
