package desktop

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// The layout in storage: one JSON object a workstation, no secret in it.
//
//	gatehouse/workstations/<hex of SHA-256(tenant NUL name)>.json
//	{"version":2,"tenant":"default","name":"desk1","address":"10.0.0.7:5901","credential":"lab",
//	 "generation":"vm-7f3a/4","source":"ctl-a","labels":{"course":"cs101"},"on_expiry":"end",
//	 "session":{"view_only":true},
//	 "registered_at":"…","released_at":"…","changed_at":"…","expires_at":"…"}
//
// A record without generation, source, labels, rules and an end is written in version 1, which has none of
// them: a build that knows only that version reads it. Such a build refuses version 2 by its number. Version
// 3 has the rule automation.
// A workstation of the configuration has a record once it was released: "declared" is set and,
// unless it was registered before it was declared, there is no address. A restored one keeps its
// record without released_at, so that of two machines on one storage the later word counts.
const (
	storageDir    = "gatehouse/workstations"
	recordSuffix  = ".json"
	recordVersion = 3
	maxRecord     = 16 << 10 // bytes: twice the longest that is written
)

// record is a registration or a release mark.
type record struct {
	Version int    `json:"version"`
	Tenant  string `json:"tenant"`
	Name    string `json:"name"`
	Registration
	RegisteredAt time.Time `json:"registered_at,omitzero"`
	ReleasedAt   time.Time `json:"released_at,omitzero"` // zero: in service
	ChangedAt    time.Time `json:"changed_at"`
	ExpiresAt    time.Time `json:"expires_at,omitzero"`
	Declared     bool      `json:"declared,omitempty"` // the mark is for a workstation of the configuration: it is never pruned
}

func (id ID) key() string {
	sum := sha256.Sum256([]byte(id.Tenant + "\x00" + id.Name))
	return storageDir + "/" + hex.EncodeToString(sum[:]) + recordSuffix
}

// isRecordKey reports whether a key is that of a record: a storage may keep other values beside
// them.
func isRecordKey(key string) bool {
	name, ok := strings.CutPrefix(key, storageDir+"/")
	if !ok {
		return false
	}
	digits, ok := strings.CutSuffix(name, recordSuffix)
	if !ok || len(digits) != 2*sha256.Size {
		return false
	}
	_, err := hex.DecodeString(digits)
	return err == nil
}

func (r *record) id() ID { return ID{r.Tenant, r.Name} }

func (r *record) encode() ([]byte, error) {
	written := *r
	written.Version = r.layout()
	return json.Marshal(&written)
}

// layout is the lowest version that has the members of the record.
func (r *record) layout() int {
	switch {
	case r.Session.Automation != 0:
		return recordVersion
	case r.extended() || !r.ExpiresAt.IsZero():
		return 2
	}
	return 1
}

// decodeRecord is strict: a release mark that is misread opens a desktop.
func decodeRecord(key string, value []byte) (record, error) {
	r, err := parseRecord(value)
	if err == nil && r.id().key() != key {
		err = errors.New("it is the record of another workstation")
	}
	if err != nil {
		return record{}, fmt.Errorf("workstation record %s: %w", key, err)
	}
	return r, nil
}

func parseRecord(value []byte) (r record, err error) {
	if len(value) > maxRecord {
		return r, fmt.Errorf("%d bytes; at most %d are possible", len(value), maxRecord)
	}
	var head struct {
		Version int `json:"version"`
	}
	if err := json.Unmarshal(value, &head); err != nil {
		return r, fmt.Errorf("damaged: %w", err)
	}
	if head.Version < 1 || head.Version > recordVersion {
		return r, fmt.Errorf("version %d; this program knows 1 to %d", head.Version, recordVersion)
	}
	decoder := json.NewDecoder(bytes.NewReader(value))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&r); err != nil {
		return r, fmt.Errorf("damaged: %w", err)
	}
	return r, r.check()
}

func (r *record) check() error {
	if err := r.id().check(); err != nil {
		return err
	}
	if r.ChangedAt.IsZero() {
		return errors.New("no changed_at")
	}
	if r.Version < r.layout() {
		return errors.New("members that its version does not have")
	}
	if param, err := r.checkForm(); err != nil {
		return fmt.Errorf("%s: %w", param, err)
	}
	if r.Address == "" {
		if !r.Declared || r.Credential != "" || !r.RegisteredAt.IsZero() || r.layout() > 1 {
			return errors.New("no address")
		}
		return nil
	}
	if r.RegisteredAt.IsZero() {
		return errors.New("no registered_at")
	}
	_, _, err := parseAddress(r.Address)
	return err
}

// touch sets the time of a change, which is later than that of the one before
// even where the clock was set back.
func (r *record) touch(now time.Time) {
	now = now.UTC().Round(0)
	if !now.After(r.ChangedAt) {
		now = r.ChangedAt.Add(1)
	}
	r.ChangedAt = now
}

// newer reports whether r replaces other. Of two records of the same time the release counts.
func (r *record) newer(other *record) bool {
	if r.ChangedAt.Equal(other.ChangedAt) {
		return !r.ReleasedAt.IsZero() && other.ReleasedAt.IsZero()
	}
	return r.ChangedAt.After(other.ChangedAt)
}

// keepReleased is how long the record of a released run-time workstation stays.
const keepReleased = 7 * 24 * time.Hour

// expired reports whether no address is issued any more. ends: open sessions end too.
func (r *record) expired(now time.Time) (expired, ends bool) {
	expired = !r.ExpiresAt.IsZero() && !now.Before(r.ExpiresAt)
	return expired, expired && r.OnExpiry == OnExpiryEnd
}

// old reports whether the record can be deleted: its workstation was registered at run time and
// released long ago. Without the record it is unknown, not open.
func (r *record) old(now time.Time) bool {
	return !r.Declared && !r.ReleasedAt.IsZero() && now.Sub(r.ReleasedAt) >= keepReleased
}
