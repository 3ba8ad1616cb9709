package caddykit

import (
	"fmt"
	"strconv"

	"github.com/caddyserver/caddy/v2"
)

// ParseDuration parses a duration above 0, for Value, including Caddy's days (7d).
func ParseDuration(text string) (caddy.Duration, error) {
	duration, err := caddy.ParseDuration(text)
	if err == nil && duration <= 0 {
		err = fmt.Errorf("duration %q: want more than 0", text)
	}
	return caddy.Duration(duration), err
}

// ParseCount parses a number above 0, for Value.
func ParseCount(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n <= 0 {
		return 0, fmt.Errorf("%q: want a number above 0", text)
	}
	return n, nil
}
