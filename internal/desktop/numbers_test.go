package desktop_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/desktoptest"
)

func TestTheBoundsAreTheDocumentedOnes(t *testing.T) {
	for name, pair := range map[string][2]int{
		"viewers that wait for one workstation": {desktop.MaxConnecting, 128}, "for all": {desktop.MaxConnectingInAll, 1024},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s: %d, want %d", name, pair[0], pair[1])
		}
	}
}

func TestAMessageRepeats128CharactersOfAName(t *testing.T) {
	d := open(t, nil)
	for n, shown := range map[int]string{128: strings.Repeat("x", 128) + `"`, 129: strings.Repeat("x", 128) + `…"`, 1000: strings.Repeat("x", 128) + `…"`} {
		if _, err := d.Get("default", strings.Repeat("x", n)); err == nil || !strings.HasSuffix(err.Error(), `"`+shown) {
			t.Errorf("%d: %v", n, err)
		}
	}
}

func TestARecordHas16384Bytes(t *testing.T) {
	id := desktop.ID{Tenant: "default", Name: "run"}
	record := desktop.RecordOf(id, "10.0.0.1:5901", "", time.Now())
	for size, want := range map[int]bool{16384: true, 16385: false} {
		storage := new(desktoptest.Storage)
		storage.Put(id.Key(), append(bytes.Clone(record), bytes.Repeat([]byte(" "), size-len(record))...))
		err := newService(t, func(c *desktop.Config) { c.Storage = storage }).Start(t.Context())
		if (err == nil) != want || err != nil && !strings.Contains(err.Error(), "at most 16384") {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
}

func TestFailedLoginsOf4096WorkstationsAreRemembered(t *testing.T) {
	d := newService(t, nil)
	login := func(n int) func(desktop.RefusalCode) {
		done, _, _ := d.Login(t.Context(), desktop.ID{Tenant: "default", Name: fmt.Sprint(n)})
		return done
	}
	under := login(0)
	for n := 1; n < 4096; n++ {
		login(n)(desktop.WorkstationPassword)
	}
	if got := d.State().Logins(); got != 4096 {
		t.Errorf("%d are remembered", got)
	}
	login(4096)(desktop.WorkstationPassword)
	if got := d.State().Logins(); got != 2 { // the one under way, and the last
		t.Errorf("after one more %d are remembered", got)
	}
	under("")
}
