package valkey

import (
	"encoding/json"
	"fmt"
	"reflect"
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

// Times of a hold are the engine's in between, as all times are, and a build from before holds reads the rest.
func TestAHoldHasTheTimesOfItsReader(t *testing.T) {
	now := time.Date(2026, 3, 18, 12, 0, 0, 0, time.UTC)
	at := func(ahead time.Duration) *codec {
		return &codec{now: func() time.Time { return now.Add(ahead) }, engine: func() time.Time { return now }}
	}
	id := desktop.ID{Tenant: "default", Name: "desk1"}
	hold := &desktop.Hold{
		Number: 3, Session: "vnc-1", Since: now, Until: now.Add(time.Minute), Unacknowledged: []string{"vnc-2"},
		Requests: []desktop.HelpRequest{{Key: "bot", Note: "a code", At: now}},
	}
	commands, err := at(0).commands(&desktop.Change{Before: &desktop.Workstation{ID: id}, After: &desktop.Workstation{ID: id, Hold: hold}}, "key")
	if err != nil {
		t.Fatal(err)
	}
	written := commands[len(commands)-1][2]
	w, err := at(time.Hour).decode(written, id.String(), nil)
	if err != nil || !reflect.DeepEqual(w.Hold, hold.Shift(time.Hour)) || !w.Hold.Requests[0].At.Equal(now.Add(time.Hour)) || !w.Hold.Until.Equal(now.Add(time.Hour+time.Minute)) {
		t.Errorf("%s is %+v, %v", written, w.Hold, err)
	}
	if hold.Requests[0].At != now {
		t.Error("what others know has changed")
	}
	var before struct {
		Generation int64            `json:"generation,omitempty"`
		Shut       bool             `json:"shut,omitempty"`
		Tokens     []*desktop.Token `json:"tokens,omitempty"`
		Sessions   []struct {
			ID string `json:"id"`
		} `json:"sessions,omitempty"`
	}
	if err := json.Unmarshal([]byte(written[versionDigits:]), &before); err != nil {
		t.Error(err)
	}
	w, err = at(0).decode(version(1)+`{"generation":2}`, id.String(), nil)
	if err != nil || w.Hold != nil || w.Generation != 2 {
		t.Errorf("a value of the build before: %+v, %v", w, err)
	}
}
