package vncrelay

import (
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/vncrelaytest"
)

// A workstation that has more to show than the bandwidth lets through: the viewer gets that much, and
// its pointer goes up as before.
func TestABandwidthHolds(t *testing.T) {
	for _, bits := range []int64{64_000, 1_000_000, 80_000_000} {
		synctest.Test(t, func(t *testing.T) {
			g := vncrelaytest.New(t, options{})
			ours, theirs := net.Pipe()
			workstationsEnd, backend := net.Pipe()
			r := ruledRelay(g, &viewer{Conn: ours}, workstationsEnd, desktop.SessionRules{Bandwidth: bits})
			done := make(chan struct{})
			go func() { defer close(done); r.Run() }()
			go func() { _, _ = io.Copy(backend, endless{}) }()
			const measured = 10 * time.Second
			begun, got := time.Now(), int64(0)
			for buffer := make([]byte, bulkSize); time.Since(begun) < measured; {
				n, err := theirs.Read(buffer)
				if err != nil {
					t.Fatal(err)
				}
				got += int64(n)
			}
			if want := bits / 8 * int64(measured/time.Second); got < want*95/100 || got > want*105/100 {
				t.Errorf("%d bits a second: %d bytes in %v, want %d within 5 %%", bits, got, measured, want)
			}
			go func() { _, _ = io.WriteString(theirs, pointer) }()
			said := time.Now()
			if _, err := io.ReadFull(backend, make([]byte, len(pointer))); err != nil || time.Since(said) > 0 {
				t.Errorf("the pointer took %v, %v", time.Since(said), err)
			}
			r.Session.Live.End(desktop.ReasonEnded) // it may wait for its next turn
			ended := time.Now()
			<-done
			if took := time.Since(ended); took > interruptGrace {
				t.Errorf("it ended after %v", took)
			}
			g.WantRecord("", "ended")
			_, _ = theirs.Close(), backend.Close()
		})
	}
}

func TestTheWorkstationsClipboardStaysThere(t *testing.T) {
	const cut, bell, picture = "\x03...\x00\x00\x00\x06marked", "\x02", "\x00.\x00\x01\x00\x00\x00\x00\x00\x01\x00\x01\x00\x00\x00\x00pixl"
	for name, c := range map[string]struct {
		rules desktop.SessionRules
		want  string
	}{
		"with the rule":    {desktop.SessionRules{NoClipboardOut: true}, bell + picture + bell},
		"without the rule": {desktop.SessionRules{}, bell + cut + picture + cut + bell},
	} {
		g := vncrelaytest.New(t, options{})
		ours, theirs := loopback(t)
		workstationsEnd, backend := loopback(t)
		r := ruledRelay(g, &viewer{Conn: ours}, workstationsEnd, c.rules)
		done := make(chan struct{})
		go func() { defer close(done); r.Run() }()
		_ = theirs.SetDeadline(time.Now().Add(patient))
		_, _ = io.WriteString(backend, bell+cut+picture+cut+bell)
		got := make([]byte, len(c.want))
		if _, err := io.ReadFull(theirs, got); err != nil || string(got) != c.want {
			t.Errorf("%s: %q, %v, want %q", name, got, err, c.want)
		}
		_ = backend.Close()
		if rest, err := io.ReadAll(theirs); len(rest) > 0 || err != nil {
			t.Errorf("%s: %q, %v at the end", name, rest, err)
		}
		_ = theirs.Close()
		<-done
		if r := g.WantRecord("", "workstation_left"); r.BytesDown != int64(len(c.want)) {
			t.Errorf("%s: %d bytes down, want %d", name, r.BytesDown, len(c.want))
		}
	}
}

func TestAWorkstationThatCannotBeFollowedEndsItsSession(t *testing.T) {
	g := vncrelaytest.New(t, options{})
	ours, theirs := loopback(t)
	workstationsEnd, backend := loopback(t)
	r := ruledRelay(g, &viewer{Conn: ours}, workstationsEnd, desktop.SessionRules{NoClipboardOut: true})
	done := make(chan struct{})
	go func() { defer close(done); r.Run() }()
	_ = theirs.SetDeadline(time.Now().Add(patient))
	_, _ = io.WriteString(backend, "\x02\x63"+strings.Repeat("marked", 10))
	if got, err := io.ReadAll(theirs); err != nil || strings.Contains(string(got), "marked") {
		t.Errorf("%q, %v", got, err)
	}
	_ = theirs.Close()
	<-done
	g.WantRecord("message", "protocol_error")
}
