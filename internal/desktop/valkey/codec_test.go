package valkey

import (
	"fmt"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
)

// Redis refuses a command of a script with 8,000 words. What ends at a release may be that many tokens.
func TestManyPrefixesAreWrittenInSeveralCommands(t *testing.T) {
	const tokens, most = 5000, 7999
	c := codec{now: time.Now, engine: time.Now}
	w := &desktop.Workstation{ID: desktop.ID{Tenant: "default", Name: "desk1"}}
	for i := range tokens {
		w.Dead = append(w.Dead, desktop.DeadToken{Hash: desktop.Hash{byte(i), byte(i >> 8)}, Prefix: fmt.Sprintf("%08d", i), Why: desktop.RefusedReleased})
	}
	commands, err := c.commands(&desktop.Change{Before: &desktop.Workstation{ID: w.ID}, After: w}, "key")
	if err != nil {
		t.Fatal(err)
	}
	written := map[string]bool{}
	for _, words := range commands {
		if len(words) > most {
			t.Errorf("%s has %d words", words[0], len(words))
		}
		if words[0] == "ZADD" && words[1] == prefixTimes {
			for i := 3; i < len(words); i += 2 {
				written[words[i]] = true
			}
		}
	}
	if len(written) != tokens {
		t.Errorf("%d prefixes are written", len(written))
	}
}
