package vncrelay

import (
	"cmp"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/vncrelaytest"
)

const (
	offers      = "\x02\x00\x00\x02\x00\x00\x00\x00\xff\xff\xfe\xc7" // Raw, ContinuousUpdates
	announces   = "\x96"
	enables     = "\x96\x01\x00\x00\x00\x00\x05\x00\x02\xd0"
	asks        = "\x03\x01\x00\x00\x00\x00\x05\x00\x02\xd0"
	emptyUpdate = "\x00.\x00\x00"
)

// continuousSession is a session whose viewer has continuous updates and whose workstation has been asked once.
func continuousSession(t *testing.T, rules desktop.SessionRules) (viewersEnd, workstationsEnd net.Conn, end func()) {
	t.Helper()
	g := vncrelaytest.New(t, options{})
	ours, theirs := net.Pipe()
	conn, backend := net.Pipe()
	r := ruledRelay(g, &viewer{Conn: ours}, conn, rules)
	done := make(chan struct{})
	go func() { defer close(done); r.Run() }()
	for _, step := range []struct {
		from, to net.Conn
		said     string
	}{{theirs, backend, offers}, {backend, theirs, announces}} {
		go func() { _, _ = io.WriteString(step.from, step.said) }()
		got := make([]byte, len(step.said))
		if _, err := io.ReadFull(step.to, got); err != nil || string(got) != step.said {
			t.Fatalf("%q, %v, want %q", got, err, step.said)
		}
	}
	synctest.Wait()
	go func() { _, _ = io.WriteString(theirs, enables) }()
	wantAsked(t, backend)
	return theirs, backend, func() {
		_, _ = theirs.Close(), backend.Close()
		<-done
	}
}

func wantAsked(t *testing.T, backend net.Conn) {
	t.Helper()
	got := make([]byte, len(asks))
	if _, err := io.ReadFull(backend, got); err != nil || string(got) != asks {
		t.Fatalf("the workstation is asked %q, %v", got, err)
	}
}

// A workstation that answers each request at once, and a viewer that only reads: for ten seconds.
func TestAViewerGetsPicturesWithoutAsking(t *testing.T) {
	for name, rules := range map[string]desktop.SessionRules{
		"thirty": {FPS: 30}, "five": {FPS: 5}, "no clipboard": {FPS: 30, NoClipboardOut: true}, "a bandwidth": {Bandwidth: 1_000_000},
	} {
		synctest.Test(t, func(t *testing.T) {
			viewersEnd, backend, end := continuousSession(t, rules)
			defer end()
			pictures := 0
			go func() {
				for buffer := make([]byte, len(emptyUpdate)); ; pictures++ {
					if _, err := io.ReadFull(viewersEnd, buffer); err != nil {
						return
					}
				}
			}()
			go func() {
				for {
					_, _ = io.WriteString(backend, emptyUpdate)
					if _, err := io.ReadFull(backend, make([]byte, len(asks))); err != nil {
						return
					}
				}
			}()
			const measured = 10
			time.Sleep(measured * time.Second)
			synctest.Wait()
			fps := cmp.Or(rules.FPS, throttledFPS)
			if pictures < measured*fps || pictures > measured*fps+1 {
				t.Errorf("%s: %d pictures in %d seconds, want %d a second", name, pictures, measured, fps)
			}
		})
	}
}

// While a desktop is at rest nothing is asked, whatever the viewer does.
func TestADesktopAtRestIsAskedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		viewersEnd, backend, end := continuousSession(t, desktop.SessionRules{FPS: 30})
		defer end()
		pieces := receive(backend)
		for range 10 {
			_, _ = io.WriteString(viewersEnd, pointer)
			time.Sleep(time.Minute)
		}
		_ = backend.Close()
		for p := range pieces {
			if string(p.data) != pointer {
				t.Errorf("the workstation hears %q", p.data)
			}
		}
	})
}

// A viewer that reads nothing stops the asking, and gets the next picture when it reads again.
func TestAViewerThatReadsNothingStopsTheAsking(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		viewersEnd, backend, end := continuousSession(t, desktop.SessionRules{FPS: 30})
		defer end()
		go func() { _, _ = io.WriteString(backend, emptyUpdate) }()
		pieces := receive(backend)
		time.Sleep(time.Minute)
		select {
		case p := <-pieces:
			t.Fatalf("%q after %v", p.data, p.at)
		default:
		}
		go func() { _, _ = io.Copy(io.Discard, viewersEnd) }()
		if p := <-pieces; string(p.data) != asks || p.at < time.Minute {
			t.Errorf("%q after %v", p.data, p.at)
		}
	})
}

// A workstation that reads nothing until its own bytes are taken: they are, while a request to it is stuck.
func TestAWorkstationThatDoesNotReadIsStillRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		viewersEnd, backend, end := continuousSession(t, desktop.SessionRules{FPS: 30})
		defer end()
		got := make(chan int, 1)
		go func() {
			n, _ := io.ReadFull(viewersEnd, make([]byte, 100*len(emptyUpdate)))
			got <- n
		}()
		for range 100 {
			if _, err := io.WriteString(backend, emptyUpdate); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second / 30)
		}
		if n := <-got; n != 100*len(emptyUpdate) {
			t.Errorf("%d bytes", n)
		}
		wantAsked(t, backend)
	})
}

// A viewer that has no continuous updates is not followed: what its workstation sends may be anything.
func TestAViewerWithoutContinuousUpdatesGetsAnything(t *testing.T) {
	g := vncrelaytest.New(t, options{})
	ours, theirs := loopback(t)
	conn, backend := loopback(t)
	r := ruledRelay(g, &viewer{Conn: ours}, conn, desktop.SessionRules{FPS: 30})
	done := make(chan struct{})
	go func() { defer close(done); r.Run() }()
	deadline := time.Now().Add(patient)
	_, _ = theirs.SetDeadline(deadline), backend.SetDeadline(deadline)
	const raw = "\x02\x00\x00\x01\x00\x00\x00\x00"
	_, _ = io.WriteString(theirs, raw+request)
	got := make([]byte, len(raw+request))
	if _, err := io.ReadFull(backend, got); err != nil || string(got) != raw+request {
		t.Fatalf("%q, %v", got, err)
	}
	said := strings.Repeat("\x63 anything", 10)
	_, _ = io.WriteString(backend, said)
	got = make([]byte, len(said))
	if _, err := io.ReadFull(theirs, got); err != nil || string(got) != said {
		t.Errorf("%q, %v", got, err)
	}
	_, _ = theirs.Close(), backend.Close()
	<-done
}
