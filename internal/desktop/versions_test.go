package desktop_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/desktoptest"
)

// readAsBefore is how the build before records of version 2 reads a record: a copy of it, which must
// not change.
func readAsBefore(value []byte) error {
	var head struct {
		Version int `json:"version"`
	}
	if len(value) > 4096 {
		return errors.New("too long")
	}
	if err := json.Unmarshal(value, &head); err != nil {
		return fmt.Errorf("damaged: %w", err)
	}
	if head.Version != 1 {
		return fmt.Errorf("version %d; this program knows %d", head.Version, 1)
	}
	var r struct {
		Version      int       `json:"version"`
		Tenant       string    `json:"tenant"`
		Name         string    `json:"name"`
		Address      string    `json:"address,omitempty"`
		Credential   string    `json:"credential,omitempty"`
		RegisteredAt time.Time `json:"registered_at,omitzero"`
		ReleasedAt   time.Time `json:"released_at,omitzero"`
		ChangedAt    time.Time `json:"changed_at"`
		Declared     bool      `json:"declared,omitempty"`
	}
	decoder := json.NewDecoder(bytes.NewReader(value))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&r); err != nil {
		return fmt.Errorf("damaged: %w", err)
	}
	if r.ChangedAt.IsZero() || r.Address != "" && r.RegisteredAt.IsZero() {
		return errors.New("no time")
	}
	return nil
}

// Two builds may run on one storage while a cluster is upgraded, and after a step back.
func TestTheBuildBeforeReadsRecordsOrRefusesTheirVersion(t *testing.T) {
	for name, tc := range map[string]struct {
		r    desktop.Registration
		read bool
	}{
		"as before":        {desktop.Registration{Address: "10.0.0.1:5900", Credential: "lab"}, true},
		"a generation":     {desktop.Registration{Address: "10.0.0.1:5900", Machine: "vm-1"}, false},
		"a source":         {desktop.Registration{Address: "10.0.0.1:5900", Source: "ctl-a"}, false},
		"a label":          {desktop.Registration{Address: "10.0.0.1:5900", Labels: map[string]string{"a": ""}}, false},
		"a rule":           {desktop.Registration{Address: "10.0.0.1:5900", Session: desktop.SessionRules{MaxGuests: desktop.NoGuests}}, false},
		"automation":       {desktop.Registration{Address: "10.0.0.1:5900", Session: desktop.SessionRules{Automation: desktop.AutomationView}}, false},
		"an end":           {desktop.Registration{Address: "10.0.0.1:5900", ExpiresIn: time.Hour}, false},
		"an end of desks":  {desktop.Registration{Address: "10.0.0.1:5900", ExpiresIn: time.Hour, OnExpiry: "end"}, false},
		"a name for keeps": {desktop.Registration{Address: "10.0.0.1:5900", New: true, By: "ctl"}, true},
	} {
		storage := new(desktoptest.Storage)
		d := open(t, func(c *desktop.Config) { c.Storage = storage })
		mustRegister(t, d, "run", tc.r)
		if err := d.Release(t.Context(), "default", "desk1", desktop.Releaser{}); err != nil {
			t.Fatal(err)
		}
		for range 2 { // in service, and released
			for key, value := range storage.Values() {
				err := readAsBefore(value)
				if ours := key == (desktop.ID{Tenant: "default", Name: "run"}).Key(); (err == nil) != (tc.read || !ours) || err != nil && err.Error() != version(name) {
					t.Errorf("%s: %s: %v", name, value, err)
				}
			}
			if err := d.Release(t.Context(), "default", "run", desktop.Releaser{}); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// version is how the build before refuses the record.
func version(name string) string {
	if name == "automation" {
		return "version 3; this program knows 1"
	}
	return "version 2; this program knows 1"
}

// What the build before has written, as it has written it.
func TestRecordsOfTheBuildBeforeAreRead(t *testing.T) {
	const written = `{"version":1,"tenant":"default","name":"%s","address":"10.0.0.7:5901","credential":"lab","registered_at":"2026-03-18T12:00:00Z"%s,"changed_at":"2026-03-18T12:00:00.000000001Z"}`
	storage := new(desktoptest.Storage)
	put := func(name, more string) {
		storage.Put(desktop.ID{Tenant: "default", Name: name}.Key(), fmt.Appendf(nil, written, name, more))
	}
	put("run", "")
	put("gone", `,"released_at":"2026-03-18T13:00:00Z"`)
	before := string(storage.Values()[desktop.ID{Tenant: "default", Name: "run"}.Key()])
	d := open(t, func(c *desktop.Config) { c.Storage = storage })
	pass, err := d.Find(mustIssue(t, d, "run"), viewer.Addr())
	if err != nil || pass.Target.Address != "10.0.0.7:5901" || pass.Target.Password != "hunter2-lab" {
		t.Errorf("%+v, %v", pass, err)
	}
	if _, err := d.Issue(dev, "gone", desktop.Options{}); err == nil {
		t.Error("a released workstation is open")
	}
	if again, err := desktop.Reencode([]byte(before)); err != nil || string(again) != before {
		t.Errorf("%s becomes %s, %v", before, again, err)
	}
	if strings.Count(before, "version") != 1 {
		t.Error("nothing was compared")
	}
}
