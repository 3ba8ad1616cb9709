package vncrelay

import (
	"errors"
	"io"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/rfb"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/desktoptest"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/vncrelaytest"
)

const (
	pressed  = "\x04\x01\x00\x00\x00\x00\xff\xe3" + "\x05\x01\x00\x07\x00\x09" // Control and a button
	released = "\x04\x00\x00\x00\x00\x00\xff\xe3" + "\x05\x00\x00\x07\x00\x09"
)

// noting is a connection that notes what is written to it, and more.
type noting struct {
	net.Conn
	mu   sync.Mutex // guards text
	text string
}

func (n *noting) note(text string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.text += text
	return n.text
}

func (n *noting) Write(p []byte) (int, error) {
	n.note(string(p))
	return n.Conn.Write(p)
}

// heldUp is a relay whose viewer holds down what is pressed.
func heldUp(t *testing.T, g *vncrelaytest.Gateway) (viewers, workstation net.Conn, up *noting, done chan struct{}) {
	t.Helper()
	ours, theirs := net.Pipe()
	end, backend := net.Pipe()
	up = &noting{Conn: end}
	r := relayTo(g, &viewer{Conn: ours}, up)
	done = make(chan struct{})
	go func() { defer close(done); r.Run() }()
	go func() { _, _ = io.WriteString(theirs, pressed) }()
	got := make([]byte, len(pressed))
	if _, err := io.ReadFull(backend, got); err != nil || string(got) != pressed {
		t.Fatalf("%q, %v", got, err)
	}
	return theirs, backend, up, done
}

func TestWhatAPersonHoldsComesUpAtTheEnd(t *testing.T) {
	for name, end := range map[string]func(g *vncrelaytest.Gateway, viewer net.Conn){
		"the viewer leaves":   func(_ *vncrelaytest.Gateway, viewer net.Conn) { _ = viewer.Close() },
		"its message is none": func(_ *vncrelaytest.Gateway, viewer net.Conn) { go func() { _, _ = viewer.Write([]byte{77}) }() },
		"the session ends":    func(g *vncrelaytest.Gateway, _ net.Conn) { g.State.EndAll(desktop.ReasonEnded) },
		"a release": func(g *vncrelaytest.Gateway, _ net.Conn) {
			_ = g.Service.Release(g.T.Context(), "default", "one", desktop.Releaser{})
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			g := vncrelaytest.New(t, options{})
			viewer, workstation, _, done := heldUp(t, g)
			end(g, viewer)
			if got, err := io.ReadAll(workstation); string(got) != released || err != nil {
				t.Errorf("%s: %q, %v", name, got, err)
			}
			<-done
			_ = viewer.Close()
		})
	}
}

// A workstation that takes nothing holds up no end. In no bubble: its time stands still while a goroutine waits
// for a lock.
func TestASilentWorkstationDoesNotHoldUpTheEnd(t *testing.T) {
	g := vncrelaytest.New(t, options{})
	viewer, _, _, done := heldUp(t, g)
	begun := time.Now()
	g.State.EndAll(desktop.ReasonEnded)
	if <-done; time.Since(begun) > 5*time.Second {
		t.Errorf("it took %v", time.Since(begun))
	}
	_ = viewer.Close()
}

// What is given back is up before the agent's first event, also what was pressed before the agent came.
func TestWhatAPersonHoldsComesUpBeforeAnAgentActs(t *testing.T) {
	for name, gives := range map[string]func(g *vncrelaytest.Gateway, person net.Conn){
		"given back": func(g *vncrelaytest.Gateway, person net.Conn) {
			_, _ = io.WriteString(person, pressed[:8]) // it repeats, and takes the input
			time.Sleep(time.Second)
			if _, err := g.Service.Input.Return(vncrelaytest.Issuer, "one", false); err != nil {
				t.Error(err)
			}
		},
		"never taken": func(*vncrelaytest.Gateway, net.Conn) {},
		"left":        func(_ *vncrelaytest.Gateway, person net.Conn) { _ = person.Close() },
		"not used":    func(*vncrelaytest.Gateway, net.Conn) { time.Sleep(time.Hour) },
	} {
		synctest.Test(t, func(t *testing.T) {
			g := vncrelaytest.New(t, options{Policy: desktop.Policy{OnConflict: desktop.Share, MaxDuration: 2 * time.Hour}})
			person, workstation, up, done := heldUp(t, g)
			go func() { _, _ = io.Copy(io.Discard, workstation) }()
			by := vncrelaytest.Issuer
			by.Key, by.Agent = "bot", true
			agent := desktoptest.MustJoin(t, g.Service, desktoptest.Issue(t, g.Service, by, "one", desktop.Options{Shared: true}), desktoptest.Other)
			gives(g, person)
			if err := agent.Input.Act(func() error { up.note("acted"); return nil }); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			synctest.Wait()
			want := pressed + released + "acted"
			if name == "given back" {
				want = pressed + pressed[:8] + released + "acted"
			}
			if got := up.note(""); got != want {
				t.Errorf("%s: %q, want %q", name, got, want)
			}
			agent.Leave()
			_, _ = person.Close(), workstation.Close()
			<-done
		})
	}
}

// An agent waits for what comes up, and for nothing else.
func TestAnAgentActsAtOnceWhereAPersonHoldsNothing(t *testing.T) {
	for sent, waits := range map[string]bool{pressed: true, pressed + released: false} {
		synctest.Test(t, func(t *testing.T) {
			g := vncrelaytest.New(t, options{Policy: desktop.Policy{OnConflict: desktop.Share}})
			person, theirs := net.Pipe()
			end, workstation := net.Pipe()
			r := relayTo(g, &viewer{Conn: theirs}, end)
			done := make(chan struct{})
			go func() { defer close(done); r.Run() }()
			go func() { _, _ = io.Copy(io.Discard, workstation) }()
			if _, err := io.WriteString(person, sent); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			by := vncrelaytest.Issuer
			by.Key, by.Agent = "bot", true
			agent := desktoptest.MustJoin(t, g.Service, desktoptest.Issue(t, g.Service, by, "one", desktop.Options{Shared: true}), desktoptest.Other)
			begun := time.Now()
			if err := agent.Input.Act(func() error { return nil }); err != nil || (time.Since(begun) > 0) != waits {
				t.Errorf("%x: after %v, %v", sent, time.Since(begun), err)
			}
			agent.Leave()
			_, _ = person.Close(), workstation.Close()
			<-done
		})
	}
}

// A person who types again at once keeps what is held.
func TestAPersonWhoHasTheInputAgainKeepsWhatIsHeld(t *testing.T) {
	ours, backend := net.Pipe()
	defer func() { _ = backend.Close() }()
	u := newUplink(ours, rfb.Policy{})
	go func() { _, _ = u.send([]byte(pressed)) }()
	if _, err := io.ReadFull(backend, make([]byte, len(pressed))); err != nil {
		t.Fatal(err)
	}
	u.letGo(func() bool { return true })
	go func() { u.hangUp() }()
	if got, err := io.ReadAll(backend); string(got) != released || err != nil && !errors.Is(err, io.EOF) {
		t.Errorf("%q, %v", got, err)
	}
}
