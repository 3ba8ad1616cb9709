package provider

import (
	"net/http"
	"testing"
)

// Pings is what SendPings sets.
func Pings() http.HTTP2Config { return pings }

// SetPings makes SendPings set something else until the test ends.
func SetPings(t *testing.T, c http.HTTP2Config) {
	before := pings
	pings = c
	t.Cleanup(func() { pings = before })
}
