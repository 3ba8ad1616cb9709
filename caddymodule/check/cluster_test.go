package check

import (
	"crypto/tls"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/caddymodule/offline"
	"github.com/gatehouse-proxy/gatehouse/internal/features/cluster"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
	"github.com/gatehouse-proxy/gatehouse/internal/valkey"
)

func TestSettingsOfAnEngineAreJudged(t *testing.T) {
	good := valkey.Server{
		Address: "127.0.0.1:6379", Program: "Redis", Version: "7.0.15", Role: "master", Replicas: 1, NeedsReplicas: true,
		Eviction: "noeviction", AppendOnly: true, Sync: "everysec",
	}
	if found := engineFindings("it", good, true); len(found) != 1 || found[0].Severity != Note {
		t.Errorf("%+v", found)
	}
	for name, c := range map[string]struct {
		change   func(*valkey.Server)
		severity Severity
	}{
		"too old":    {func(s *valkey.Server) { s.Version = "6.2.14" }, Failure},
		"one of one": {func(s *valkey.Server) { s.Replicas = 0 }, Note},
		"not kept":   {func(s *valkey.Server) { s.AppendOnly = false }, Warning},
	} {
		server := good
		c.change(&server)
		if found := engineFindings("it", server, true); len(found) != 2 || found[1].Severity != c.severity || found[1].Problem == "" || found[1].Advice == "" {
			t.Errorf("%s: %+v", name, found)
		}
	}
}

// Who reads or changes what goes to an engine, is any key.
func TestAnEngineOffThisMachineNeedsTLS(t *testing.T) {
	t.Setenv("PGSSLMODE", "")
	secure := new(tls.Config)
	for name, c := range map[string]struct {
		valkey   valkey.Config
		postgres string
		want     int
	}{
		"loopback":     {valkey.Config{Addresses: []string{"127.0.0.1:6379", "[::1]:6379", "localhost:6379"}}, "postgres://gw@localhost/gw?sslmode=disable", 0},
		"a socket":     {valkey.Config{TLS: secure}, "host=/run/postgresql sslmode=disable", 0},
		"TLS":          {valkey.Config{Addresses: []string{"10.0.0.5:6379"}, TLS: secure}, "postgres://gw@10.0.0.6/gw?sslmode=require", 0},
		"plain Valkey": {valkey.Config{Addresses: []string{"127.0.0.1:6379", "valkey:6379"}}, "host=/run/postgresql", 1},
		"disable":      {valkey.Config{TLS: secure}, "postgres://gw@10.0.0.6/gw?sslmode=disable", 1},
		"prefer":       {valkey.Config{TLS: secure}, "postgres://gw@10.0.0.6/gw", 1},
		"two hosts":    {valkey.Config{TLS: secure}, "postgres://gw@localhost,db/gw?sslmode=disable", 1},
	} {
		found := checkEngineTLS(&inspected{Config: &offline.Config{Built: gateway.Config{Cluster: &cluster.Config{Engine: c.valkey, Database: c.postgres}}}})
		if len(found) != c.want || len(found) == 1 && (found[0].Severity != Warning || found[0].Advice == "") {
			t.Errorf("%s: %+v", name, found)
		}
	}
	if found := checkEngineTLS(&inspected{Config: new(offline.Config)}); found != nil {
		t.Errorf("without a cluster: %+v", found)
	}
}
