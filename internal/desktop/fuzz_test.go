package desktop_test

import (
	"bytes"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/desktoptest"
)

func FuzzLabel(f *testing.F) {
	for _, seed := range []string{"abc.vnc.example.com", "ABC.VNC.example.COM", "a.b.vnc.example.com", "abc.vnc.example.com.", "\u212a.vnc.example.com", ""} {
		f.Add(seed)
	}
	d := open(f, nil)
	f.Fuzz(func(t *testing.T, name string) {
		label, ok := d.Policy().Label(name)
		if !ok {
			if label != "" {
				t.Errorf("%q is no label but %q", name, label)
			}
			return
		}
		if label == "" || len(label) > 63 || strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
			t.Errorf("label %q", label)
		}
		if !strings.EqualFold(label+".vnc.example.com", name) {
			t.Errorf("%q is not the label of %q", label, name)
		}
		if d.Live(label) {
			t.Errorf("%q is live", label)
		}
	})
}

// An address that is taken names a host and a port that mean the same to the
// dialer, and a literal one is inside the networks.
func FuzzRegistration(f *testing.F) {
	for _, seed := range []string{"10.0.0.1:5900", "[::1]:5900", "[fe80::1%eth0]:1", "desk.example:5901", "0x7f.1:1", "127.1:1", "a:+1", "a:99999", ":1", "a.:1", "[::ffff:10.0.0.1]:1"} {
		f.Add(seed, "lab")
	}
	d := open(f, nil)
	f.Fuzz(func(t *testing.T, address, credential string) {
		v, _, err := d.Register(t.Context(), "default", "run", desktop.Registration{Address: address, Credential: credential})
		if err != nil {
			return
		}
		if v.Address != address || credential != "" && credential != "lab" {
			t.Fatalf("%q, %q registered as %+v", address, credential, v)
		}
		addr, port, err := desktop.ParseAddress(address)
		if err != nil || port == 0 {
			t.Fatalf("%q: port %d, %v", address, port, err)
		}
		if addr.IsValid() && !netip.MustParsePrefix("10.0.0.0/8").Contains(addr) {
			t.Fatalf("%q is outside", address)
		}
		if strings.ContainsAny(address, " %/@\\\x00") {
			t.Fatalf("%q", address)
		}
	})
}

// A registration that is taken is stored, and read again as it was.
func FuzzRegistrationAsJSON(f *testing.F) {
	f.Add([]byte(`{"address":"10.0.0.1:5900","credential":"lab","generation":"vm-7f3a/4","source":"ctl-a","labels":{"course":"cs101"}}`))
	f.Add([]byte(`{"address":"10.0.0.1:5900","expires_in":60,"on_expiry":"end","session":{"view_only":true,"max_guests":0}}`))
	f.Add([]byte(`{"address":"10.0.0.1:5900","labels":{"a":"\u0022<&>\\"}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := desktop.ParseRegistration(text)
		if err != nil {
			return
		}
		storage := new(desktoptest.Storage)
		use := func(c *desktop.Config) { c.Storage = storage }
		before, _, err := open(t, use).Register(t.Context(), "default", "run", r)
		if err != nil {
			return
		}
		after, err := open(t, use).Get("default", "run")
		one, _ := before.MarshalJSON()
		other, _ := after.MarshalJSON()
		if err != nil || !bytes.Equal(one, other) || before.Change != after.Change {
			t.Fatalf("%s becomes %s, %v", one, other, err)
		}
	})
}

func FuzzRecord(f *testing.F) {
	at := time.Date(2026, 5, 4, 12, 0, 0, 7, time.UTC)
	f.Add(desktop.RecordOf(desk1, "10.0.0.1:5900", "lab", at))
	f.Add([]byte(`{"version":1,"tenant":"default","name":"desk1","released_at":"2026-05-04T12:00:00Z","changed_at":"2026-05-04T12:00:00Z","declared":true}`))
	f.Add([]byte(`{"version":2}`))
	f.Fuzz(func(t *testing.T, value []byte) {
		once, err := desktop.Reencode(value)
		if err != nil {
			return
		}
		twice, err := desktop.Reencode(once)
		if err != nil || !bytes.Equal(once, twice) {
			t.Fatalf("%s becomes %s, %v", once, twice, err)
		}
	})
}

func TestWhatIsARecord(t *testing.T) {
	key := desk1.Key()
	for k, want := range map[string]bool{
		key: true, key + ".tmp": false, "x/" + key: false, strings.ToUpper(key): false, "": false,
		"gatehouse/workstations/" + strings.Repeat("z", 64) + ".json": false,
	} {
		if desktop.IsRecordKey(k) != want {
			t.Errorf("%q: not %v", k, want)
		}
	}
}
