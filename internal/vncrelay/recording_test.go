package vncrelay

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"filippo.io/age"
	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/recording"
	"github.com/gatehouse-proxy/gatehouse/internal/rfb"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/desktoptest"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/vncrelaytest"
)

// A viewer gets all that it would get unrecorded, the clipboard too, and the recording has what can be
// replayed without it.
func TestARecordingHasWhatTheViewerSawButTheClipboard(t *testing.T) {
	const (
		bell, cut = "\x02", "\x03...\x00\x00\x00\x06marked"
		picture   = "\x00.\x00\x01\x00\x00\x00\x00\x00\x01\x00\x01\x00\x00\x00\x00pixl"
		format    = "\x00...\x20\x18\x00\x01\x00\xff\x00\xff\x00\xff\x00\x08\x10\x00\x00\x00"
		asks      = "\x02\x00\x00\x04\x00\x00\x00\x00\x00\x00\x00\x07\x00\x00\x00\x10\x00\x00\x27\x0f"
		asked     = "\x02\x00\x00\x03\x00\x00\x00\x07\x00\x00\x00\x00\x00\x00\x00\x10" // Tight first, nothing unknown
		key       = "\x04\x01..\x00\x00\x00a"
		text      = "\x06...\x00\x00\x00\x05hello"
	)
	for _, cutForAll := range []bool{false, true} {
		dir := t.TempDir()
		id, err := age.GenerateX25519Identity()
		if err != nil {
			t.Fatal(err)
		}
		store := recording.NewStore(recording.Settings{Dir: dir, Recipients: []age.Recipient{id.Recipient()}, Input: recording.InputPointer},
			func() string { return "" }, zap.NewNop(), time.Now)
		g := vncrelaytest.New(t, options{Policy: desktop.Policy{Records: true}, Recordings: store})
		ours, theirs := loopback(t)
		workstationsEnd, backend := loopback(t)
		r := ruledRelay(g, &viewer{Conn: ours}, workstationsEnd, desktop.SessionRules{Record: desktop.RecordRequired, NoClipboardOut: cutForAll})
		done := make(chan struct{})
		go func() { defer close(done); r.Run() }()
		for _, conn := range []interface{ SetDeadline(time.Time) error }{theirs, backend} {
			_ = conn.SetDeadline(time.Now().Add(patient))
		}
		said, heard := format+asks+pointer+key+text+request, format+asked+pointer+key+text+request
		_, _ = io.WriteString(theirs, said)
		got := make([]byte, len(heard))
		if _, err := io.ReadFull(backend, got); err != nil || string(got) != heard {
			t.Fatalf("the workstation hears %q, %v, want %q", got, err, heard)
		}
		_, _ = io.WriteString(backend, bell+cut+picture+cut)
		want := bell + cut + picture + cut
		if cutForAll {
			want = bell + picture
		}
		got = make([]byte, len(want))
		if _, err := io.ReadFull(theirs, got); err != nil || string(got) != want {
			t.Fatalf("the viewer gets %q, %v, want %q", got, err, want)
		}
		_, _ = theirs.Close(), backend.Close()
		<-done
		files, _ := filepath.Glob(dir + "/*/*.ghrec")
		if len(files) != 1 {
			t.Fatalf("files %v", files)
		}
		file, err := os.ReadFile(files[0])
		if err != nil {
			t.Fatal(err)
		}
		reader, err := recording.NewReader(bytes.NewReader(file), id)
		if err != nil {
			t.Fatal(err)
		}
		server, sent := "", ""
		for err == nil {
			var f recording.Frame
			switch f, err = reader.Next(); f.Kind {
			case recording.KindServer:
				server += string(f.Data)
			case recording.KindFormat, recording.KindEncodings, recording.KindPointer, recording.KindKey:
				sent += fmt.Sprintf("%d%s", f.Kind, f.Data)
			}
		}
		if err != io.EOF || server != bell+picture || sent != "2"+format[4:]+"3"+asked[4:]+"4"+pointer[1:] {
			t.Errorf("the recording has %q and %q, %v", server, sent, err)
		}
		if record := g.WantRecord("", string(r.Session.Live.Why())); record.Recording != r.Session.Live.ID {
			t.Errorf("the record names the recording %q", record.Recording)
		}
	}
}

// A person who takes the input from an agent marks that moment, and not each key.
func TestATakeoverIsMarked(t *testing.T) {
	dir := t.TempDir()
	id, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	store := recording.NewStore(recording.Settings{Dir: dir, Recipients: []age.Recipient{id.Recipient()}}, func() string { return "" }, zap.NewNop(), time.Now)
	g := vncrelaytest.New(t, options{Policy: desktop.Policy{Records: true, OnConflict: desktop.Share}, Recordings: store})
	by := vncrelaytest.Issuer
	by.Key, by.Agent = "agent", true
	agent := desktoptest.MustJoin(t, g.Service, desktoptest.Issue(t, g.Service, by, "one", desktop.Options{Shared: true}), desktoptest.Other)
	defer agent.Leave()
	if err := agent.Input.Act(func() error { return nil }); err != nil {
		t.Fatal(err)
	}
	ours, theirs := loopback(t)
	workstationsEnd, backend := loopback(t)
	r := ruledRelay(g, &viewer{Conn: ours}, workstationsEnd, desktop.SessionRules{Record: desktop.RecordOn})
	done := make(chan struct{})
	go func() { defer close(done); r.Run() }()
	_ = backend.SetDeadline(time.Now().Add(patient))
	const keys = "\x04\x01..\x00\x00\x00a\x04\x00..\x00\x00\x00a\x04\x01..\x00\x00\x00b"
	_, _ = io.WriteString(theirs, keys)
	if _, err := io.ReadFull(backend, make([]byte, len(keys))); err != nil {
		t.Fatal(err)
	}
	_, _ = theirs.Close(), backend.Close()
	<-done
	files, _ := filepath.Glob(dir + "/*/*.ghrec")
	file, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	reader, err := recording.NewReader(bytes.NewReader(file), id)
	marks := ""
	for err == nil {
		var f recording.Frame
		if f, err = reader.Next(); f.Kind == recording.KindMark {
			marks += string(f.Data)
		}
	}
	if want := `{"kind":"takeover"}`; err != io.EOF || marks != want {
		t.Errorf("marks %s, %v, want %s", marks, err, want)
	}
}

// A workstation that cannot be followed ends the recording, and the session only by its rules.
func TestAWorkstationThatCannotBeFollowedEndsTheRecording(t *testing.T) {
	for rule, want := range map[desktop.Record]string{desktop.RecordOn: "workstation_left", desktop.RecordRequired: "recording_failed"} {
		id, err := age.GenerateX25519Identity()
		if err != nil {
			t.Fatal(err)
		}
		store := recording.NewStore(recording.Settings{Dir: t.TempDir(), Recipients: []age.Recipient{id.Recipient()}}, func() string { return "" }, zap.NewNop(), time.Now)
		g := vncrelaytest.New(t, options{Policy: desktop.Policy{Records: true}, Recordings: store})
		ours, theirs := loopback(t)
		workstationsEnd, backend := loopback(t)
		r := ruledRelay(g, &viewer{Conn: ours}, workstationsEnd, desktop.SessionRules{Record: rule})
		done := make(chan struct{})
		go func() { defer close(done); r.Run() }()
		_ = theirs.SetDeadline(time.Now().Add(patient))
		const odd = "\x63 is no type of message"
		_, _ = io.WriteString(backend, odd)
		if rule == desktop.RecordOn {
			got := make([]byte, len(odd))
			if _, err := io.ReadFull(theirs, got); err != nil || string(got) != odd {
				t.Errorf("the viewer gets %q, %v", got, err)
			}
			_ = backend.Close()
		}
		_, _ = io.ReadAll(theirs)
		_ = theirs.Close()
		<-done
		g.WantRecord("recording_failed", want)
	}
}

func TestARecordedDesktopSaysSoInItsName(t *testing.T) {
	for name, want := range map[string]string{
		"one":                              "one (recorded)",
		strings.Repeat("n", rfb.MaxName):   strings.Repeat("n", rfb.MaxName-11) + " (recorded)",
		strings.Repeat("n", rfb.MaxName-1): strings.Repeat("n", rfb.MaxName-11) + " (recorded)",
	} {
		if got := recordedName(name); got != want {
			t.Errorf("%.20q becomes %d bytes, %.20q", name, len(got), got)
		}
	}
}
