package valkey_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/enginetest"
	"github.com/gatehouse-proxy/gatehouse/internal/valkey"
)

func TestSettingsThatLoseMoneyAreNamed(t *testing.T) {
	for name, test := range map[string]struct {
		settings []string
		refused  bool
		advice   string // a word of the only finding's; "" for none
	}{
		"nothing is kept":  {nil, false, "appendonly"},
		"good":             {[]string{"appendonly", "yes"}, false, ""},
		"it forgets":       {[]string{"appendonly", "yes", "maxmemory-policy", "allkeys-lru"}, true, "noeviction"},
		"it does not sync": {[]string{"appendonly", "yes", "appendfsync", "no"}, false, "appendfsync"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := enginetest.Redis(t, test.settings...)
			s, err := client(t, at(e.Addr)).Inspect(t.Context(), "{t}")
			if err != nil || s.Address != e.Addr || s.Role != "master" {
				t.Errorf("%+v, %v", s, err)
			}
			expect(t, s.Check(true), test.refused, test.advice)
		})
	}
}

// expect compares what was found with one finding, or with none if advice is "".
func expect(t *testing.T, found []valkey.Finding, refused bool, advice string) {
	t.Helper()
	if advice == "" {
		if len(found) > 0 {
			t.Errorf("found %q", found)
		}
		return
	}
	if len(found) != 1 || found[0].Refused != refused || !strings.Contains(found[0].Advice, advice) {
		t.Errorf("found %q, want %q, refused: %v", found, advice, refused)
	}
}

func TestWritesWithoutReplicasAreNamed(t *testing.T) {
	master := enginetest.Redis(t, "appendonly", "yes")
	replica := enginetest.Replica(t, master.Addr)
	c := client(t, at(master.Addr))
	for _, step := range []struct{ need, advice string }{{"0", "min-replicas-to-write"}, {"1", ""}} {
		master.Wait(t, "CONFIG SET min-replicas-to-write "+step.need, "OK")
		s, err := c.Inspect(t.Context(), "{t}")
		if err != nil {
			t.Fatal(err)
		}
		expect(t, s.Check(true), false, step.advice)
	}
	replica.Wait(t, "CONFIG SET appendonly yes", "OK")
	s, err := client(t, at(replica.Addr)).Inspect(t.Context(), "{t}")
	if err != nil {
		t.Fatal(err)
	}
	expect(t, s.Check(true), true, "Name the master")
}

func TestAnOldVersionIsRefused(t *testing.T) {
	for _, s := range []valkey.Server{{Program: "Redis", Version: "6.2.14", AppendOnly: true}, {AppendOnly: true}} {
		expect(t, s.Check(false), true, "Redis 7.0")
	}
	s, err := client(t, at(enginetest.Redis(t).Addr)).Inspect(t.Context(), "{t}")
	if want := map[bool]string{true: "Valkey", false: "Redis"}[os.Getenv("ENGINE") == "valkey"]; err != nil || s.Program != want {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestEvictionIsRefusedWhereABudgetIsHard(t *testing.T) {
	s := valkey.Server{Version: "7.0.15", AppendOnly: true, Eviction: "allkeys-lru"}
	for _, hard := range []bool{true, false} {
		expect(t, s.Check(hard), hard, "noeviction")
	}
}

func TestScriptsThatMayNotAskForTheTimeAreNamed(t *testing.T) {
	for _, command := range []string{"time", "info"} {
		e := enginetest.Redis(t)
		e.Wait(t, "ACL SETUSER default -"+command, "OK")
		if _, err := client(t, at(e.Addr)).Inspect(t.Context(), "{t}"); !errors.Is(err, valkey.ErrScripts) {
			t.Errorf("%s: %v", command, err)
		}
	}
}
