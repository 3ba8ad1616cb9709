package main

import (
	"strings"
	"testing"
	"time"
)

func TestALongBuildSaysHowFarItIs(t *testing.T) {
	var clock time.Time
	now := func() time.Time { clock = clock.Add(4 * time.Second); return clock }
	var out, log strings.Builder
	said := "2026/11/28 [INFO] exec go build\nencoding/json\nnet/http\ngithub.com/caddyserver/caddy/v2\n# example.com/broken\nx.go:1:1: wrong\nexample.com/last\n"
	if err := (progress{&out, &log, now}).follow(strings.NewReader(said)); err != nil {
		t.Fatal(err)
	}
	if want := "mkcaddy: 3 packages compiled in 12s; a first build has about 1300\n"; out.String() != want {
		t.Errorf("it says %q, want %q", out.String(), want)
	}
	if want := "2026/11/28 [INFO] exec go build\n# example.com/broken\nx.go:1:1: wrong\n"; log.String() != want {
		t.Errorf("the log has %q, want %q", log.String(), want)
	}
}
