package vncrelay

import (
	"io"
	"testing"
	"time"

	"filippo.io/age"
	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/recording"
	"github.com/gatehouse-proxy/gatehouse/internal/rfb"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/vncrelaytest"
)

// A recording that nobody could replay is none.
func TestASessionThatCannotBeReplayedIsNotRecorded(t *testing.T) {
	for name, c := range map[string]struct {
		said string
		init rfb.Init
		sent string // by the workstation
	}{
		"a pixel format":       {said: "\x00...\x20\x18\x00\x01\x00\xfe\x00\xff\x00\xff\x00\x08\x10\x00\x00\x00"}, // at most 254 of red
		"a large desktop":      {init: rfb.Init{Width: 8192, Height: 8192}},
		"a desktop that grows": {sent: "\x00.\x00\x01\x00\x00\x00\x00\x20\x00\x20\x00\xff\xff\xff\x21"},
	} {
		id, err := age.GenerateX25519Identity()
		if err != nil {
			t.Fatal(err)
		}
		store := recording.NewStore(recording.Settings{Dir: t.TempDir(), Recipients: []age.Recipient{id.Recipient()}}, func() string { return "" }, zap.NewNop(), time.Now)
		g := vncrelaytest.New(t, options{Policy: desktop.Policy{Records: true}, Recordings: store})
		ours, theirs := loopback(t)
		workstationsEnd, backend := loopback(t)
		r := ruledRelay(g, &viewer{Conn: ours}, workstationsEnd, desktop.SessionRules{Record: desktop.RecordRequired})
		if c.init.Width > 0 {
			c.init.Format = [16]byte{32, 24, 0, 1}
			r = New(r.Session, r.viewer, &rfb.Desktop{Conn: workstationsEnd, Init: c.init}, g.Service.Policy())
		}
		done := make(chan struct{})
		go func() { defer close(done); r.Run() }()
		_, _ = io.WriteString(theirs, c.said)
		_, _ = io.WriteString(backend, c.sent)
		select {
		case <-done:
		case <-time.After(patient):
			t.Errorf("%s: the session goes on", name)
			_ = backend.Close()
			<-done
			continue
		}
		g.WantRecord("recording_failed", "recording_failed")
	}
}
