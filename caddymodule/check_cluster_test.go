package caddymodule

import (
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/valkey"
)

func TestSettingsOfAnEngineAreJudged(t *testing.T) {
	good := valkey.Server{
		Address: "127.0.0.1:6379", Program: "Redis", Version: "7.0.15", Role: "master", Replicas: 1, NeedsReplicas: true,
		Eviction: "noeviction", AppendOnly: true, Sync: "everysec",
	}
	if found := judgeEngine("it", good, true); len(found) != 1 || found[0].Severity != note {
		t.Errorf("%+v", found)
	}
	for name, c := range map[string]struct {
		change   func(*valkey.Server)
		severity severity
	}{
		"too old":    {func(s *valkey.Server) { s.Version = "6.2.14" }, failure},
		"one of one": {func(s *valkey.Server) { s.Replicas = 0 }, note},
		"not kept":   {func(s *valkey.Server) { s.AppendOnly = false }, warning},
	} {
		server := good
		c.change(&server)
		if found := judgeEngine("it", server, true); len(found) != 2 || found[1].Severity != c.severity || found[1].Problem == "" || found[1].Advice == "" {
			t.Errorf("%s: %+v", name, found)
		}
	}
}
