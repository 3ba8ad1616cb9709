//go:build linux

package main

import (
	"io"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/tests/clustertest"
)

func TestTheClusterIsSelectedByNameAndNotAgainstItself(t *testing.T) {
	r := &runner{opts: options{Only: clusterCase + "," + scaleCase}, progress: io.Discard}
	if err := r.choose(); err != nil || !r.cluster || !r.scale || len(r.cases) != 0 {
		t.Errorf("%v: cluster %v, scale %v, %d cases", err, r.cluster, r.scale, len(r.cases))
	}
	r = &runner{opts: options{Only: clusterCase, Self: true}, progress: io.Discard}
	if r.choose() == nil {
		t.Error("the cluster is compared with itself")
	}
}

func TestAGatewayOfTheCaseHasThreeLimitsAndAKeyWithout(t *testing.T) {
	text := clusterCaddyfile(site{port: 1, storage: "/tmp/x/storage"}, (&clustertest.Engines{Valkey: "valkey valkey://127.0.0.1:1", DSN: "postgres://127.0.0.1:2/x"}).Block("bench"))
	for _, want := range []string{"cluster prod {", "rate 100M/min", "concurrency 64", "budget 1000000usd/total", "key free {"} {
		if strings.Count(text, want) != 1 {
			t.Errorf("%q is not once in\n%s", want, text)
		}
	}
}

func TestMessagesOfTheGatewayAreToldFromCommandsOfScripts(t *testing.T) {
	for name, want := range map[string]bool{"cmdstat_evalsha": true, "cmdstat_xread": true, "cmdstat_hincrby": false, "cmdstat_info": false} {
		if sentByGateway(name) != want {
			t.Errorf("%s: %v", name, !want)
		}
	}
}
