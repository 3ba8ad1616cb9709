package vncsession

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"filippo.io/age"
	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/recording"
	"github.com/gatehouse-proxy/gatehouse/internal/rfb"
)

// recordings returns a store in a folder.
func recordings(t *testing.T, dir string) (*recording.Store, age.Identity) {
	t.Helper()
	id, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	return recording.NewStore(recording.Settings{Dir: dir, Recipients: []age.Recipient{id.Recipient()}}, func() string { return "" }, zap.NewNop(), time.Now), id
}

// recorded opens a session with a rule.
func recorded(t *testing.T, rule desktop.Record, store *recording.Store) (*rig, *Session, error) {
	t.Helper()
	r := newRig(t)
	r.pass.Rules.Record, r.deps.Recordings = rule, store
	s := Open(r.deps, r.pass, viewer, "X509None")
	if err := s.Join(); err != nil {
		t.Fatal(err)
	}
	return r, s, s.Record(rfb.Init{Width: 640, Height: 480, Name: "desk"})
}

func TestASessionIsRecordedByItsRule(t *testing.T) {
	for rule, want := range map[desktop.Record]bool{desktop.RecordOff: false, desktop.RecordOn: true, desktop.RecordRequired: true} {
		dir := t.TempDir()
		store, id := recordings(t, dir)
		r, s, err := recorded(t, rule, store)
		if err != nil || (s.Recording != nil) != want {
			t.Fatalf("%v: recorded %v, %v", rule, s.Recording != nil, err)
		}
		s.Recording.Server([]byte("picture"))
		s.Finish(desktop.ReasonViewer)
		record, _ := r.ended(t, "gatehouse_vnc_sessions_total")
		if (record.Recording == s.Live.ID) != want || record.Ended != "viewer_left" || record.Code != "" {
			t.Errorf("%v: record %+v", rule, record)
		}
		files, _ := filepath.Glob(dir + "/*/*.ghrec")
		if len(files) == 0 && !want {
			continue
		}
		file, err := os.Open(files[0])
		if err != nil {
			t.Fatal(err)
		}
		reader, err := recording.NewReader(file, id)
		if err != nil || reader.Header().Session != s.Live.ID || reader.Header().Workstation != "desk1" || reader.Header().Key != "dev" || reader.Header().Init.Name != "desk" {
			t.Errorf("%v: %v, %+v", rule, err, reader.Header())
		}
		_ = file.Close()
	}
}

// A recording that cannot begin refuses a session that requires it, and no other.
func TestARecordingThatCannotBegin(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	broken, _ := recordings(t, file)
	for what, store := range map[string]*recording.Store{"no block": nil, "no folder": broken} {
		_, s, err := recorded(t, desktop.RecordOn, store)
		if err != nil || s.Recording != nil || s.Live.Why() != "" {
			t.Errorf("%s: the session may be unrecorded and got %v, %s", what, err, s.Live.Why())
		}
		r, s, err := recorded(t, desktop.RecordRequired, store)
		var refusal *desktop.Refusal
		if !errors.As(err, &refusal) || refusal.Code != desktop.RefusedRecording {
			t.Fatalf("%s: %v", what, err)
		}
		s.Finish(desktop.ReasonViewer)
		record, line := r.ended(t, "gatehouse_vnc_sessions_total")
		if record.Ended != "recording_failed" || record.Code != "recording_failed" || record.RefusedBy != "session: record required" || record.Recording != "" || line.ContextMap()["cause"] == nil {
			t.Errorf("%s: record %+v, line %v", what, record, line.ContextMap())
		}
	}
}

// A recording that cannot go on ends a session that requires it, and no other.
func TestARecordingThatCannotGoOn(t *testing.T) {
	for rule, want := range map[desktop.Record]string{desktop.RecordOn: "viewer_left", desktop.RecordRequired: "recording_failed"} {
		store, _ := recordings(t, t.TempDir())
		r, s, err := recorded(t, rule, store)
		if err != nil {
			t.Fatal(err)
		}
		s.Recording.Abort(errors.New("no space left on device"))
		if rule == desktop.RecordRequired {
			<-s.Live.Ended()
		}
		s.Finish(desktop.ReasonViewer)
		record := r.records[0]
		if record.Ended != want || record.Code != "recording_failed" || record.Recording != s.Live.ID {
			t.Errorf("%v: record %+v", rule, record)
		}
		if e, err := store.Get(s.Live.ID, func(string) bool { return true }); err != nil || e.State != recording.Incomplete {
			t.Errorf("%v: %+v, %v", rule, e, err)
		}
	}
}
