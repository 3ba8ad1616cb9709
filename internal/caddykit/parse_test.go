package caddykit_test

import (
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/caddykit"
)

func TestParseDuration(t *testing.T) {
	for text, want := range map[string]time.Duration{"90s": 90 * time.Second, "10m": 10 * time.Minute, "30d": 720 * time.Hour} {
		if got, err := caddykit.ParseDuration(text); err != nil || time.Duration(got) != want {
			t.Errorf("%s: %s, %v", text, time.Duration(got), err)
		}
	}
	for _, text := range []string{"", "0", "0s", "-1s", "10", "ten"} {
		if _, err := caddykit.ParseDuration(text); err == nil {
			t.Errorf("%q was accepted", text)
		}
	}
}

func TestParseCount(t *testing.T) {
	for text, want := range map[string]int{"1": 1, "2048": 2048} {
		if got, err := caddykit.ParseCount(text); err != nil || got != want {
			t.Errorf("%s: %d, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "0", "-1", "1.5", "many"} {
		if _, err := caddykit.ParseCount(text); err == nil {
			t.Errorf("%q was accepted", text)
		}
	}
}
