package valkey_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/enginetest"
	"github.com/gatehouse-proxy/gatehouse/internal/valkey"
)

func TestSettingsThatLoseMoneyAreNamed(t *testing.T) {
	for name, test := range map[string]struct {
		settings          []string
		refused, warnings string // a word of each, in order
	}{
		"nothing is kept":  {nil, "", "appendonly"},
		"good":             {[]string{"appendonly", "yes"}, "", ""},
		"it forgets":       {[]string{"appendonly", "yes", "maxmemory-policy", "allkeys-lru"}, "noeviction", ""},
		"it does not sync": {[]string{"appendonly", "yes", "appendfsync", "no"}, "", "appendfsync"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := enginetest.Redis(t, test.settings...)
			s, err := client(t, at(e.Addr)).Inspect(t.Context(), "{t}")
			refusals, warnings := s.Check(true)
			if err != nil || s.Address != e.Addr || s.Role != "master" {
				t.Errorf("%+v, %v", s, err)
			}
			for _, of := range []struct {
				got  []string
				want string
			}{{refusals, test.refused}, {warnings, test.warnings}} {
				if all := strings.Join(of.got, "\n"); (all == "") != (of.want == "") || !strings.Contains(all, of.want) {
					t.Errorf("%q, want %q", of.got, of.want)
				}
			}
		})
	}
}

func TestWritesWithoutReplicasAreNamed(t *testing.T) {
	master := enginetest.Redis(t, "appendonly", "yes")
	replica := enginetest.Replica(t, master.Addr)
	c := client(t, at(master.Addr))
	s, err := c.Inspect(t.Context(), "{t}")
	if _, warnings := s.Check(true); err != nil || len(warnings) != 1 || !strings.Contains(warnings[0], "min-replicas-to-write") {
		t.Errorf("%v, %v", warnings, err)
	}
	s, err = client(t, at(replica.Addr)).Inspect(t.Context(), "{t}")
	if refusals, _ := s.Check(true); err != nil || len(refusals) != 1 || !strings.Contains(refusals[0], "is a slave") {
		t.Errorf("%v, %v", refusals, err)
	}
}

func TestAnOldVersionIsRefused(t *testing.T) {
	for _, s := range []valkey.Server{{Program: "Redis", Version: "6.2.14", AppendOnly: true}, {AppendOnly: true}} {
		if refusals, _ := s.Check(false); len(refusals) != 1 {
			t.Errorf("%q: %q", s.Version, refusals)
		}
	}
	s, err := client(t, at(enginetest.Redis(t).Addr)).Inspect(t.Context(), "{t}")
	if want := map[bool]string{true: "Valkey", false: "Redis"}[os.Getenv("ENGINE") == "valkey"]; err != nil || s.Program != want {
		t.Errorf("%+v, %v", s, err)
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
