package caddymodule

import (
	"strings"
	"testing"
)

func TestSettingsOfAnEngineAreJudged(t *testing.T) {
	good := func() map[string]string {
		return map[string]string{
			"redis_version": "7.0.15", "redis_mode": "standalone", "role": "master", "maxmemory_policy": "noeviction", "aof_enabled": "1",
			"connected_slaves": "1", "min_slaves_good_slaves": "1",
		}
	}
	if found := judgeEngine("it", good(), true); len(found) != 1 || found[0].Severity != note {
		t.Errorf("%+v", found)
	}
	for _, c := range []struct {
		name, value string
		hard        bool
		severity    severity
		problem     string
	}{
		{"redis_version", "6.2.7", false, failure, "too old"},
		{"redis_version", "", false, failure, "too old"},
		{"role", "slave", false, failure, "a replica"},
		{"maxmemory_policy", "allkeys-lru", false, warning, "throws limits"},
		{"maxmemory_policy", "allkeys-lru", true, failure, "throws limits"},
		{"aof_enabled", "0", true, warning, "appendonly is off"},
		{"connected_slaves", "0", true, note, "no replica"},
		{"min_slaves_good_slaves", "", true, warning, "min-replicas-to-write is 0"},
	} {
		values := good()
		values[c.name] = c.value
		found := judgeEngine("it", values, c.hard)
		if len(found) != 2 || found[1].Severity != c.severity || !strings.Contains(found[1].Problem, c.problem) || found[1].Advice == "" {
			t.Errorf("%s %q: %+v", c.name, c.value, found)
		}
	}
	values := good()
	values["valkey_version"] = "8.0.1"
	if found := judgeEngine("it", values, true); !strings.HasPrefix(found[0].Problem, "Valkey 8.0.1 answers") {
		t.Errorf("%+v", found)
	}
}
