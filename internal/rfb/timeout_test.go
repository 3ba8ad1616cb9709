package rfb_test

import (
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/rfb"
)

// A viewer that falls silent in a step is waited for as long as the step may take, from its begin.
func TestAStepEndsInItsTime(t *testing.T) {
	timeouts := rfb.Timeouts{Step: 3 * time.Second, Person: 50 * time.Second}
	types := dialogue{greets, says38, "S \x01\x13"}
	taken := append(types[:3:3], "C \x13", "S \x00\x02", "C \x00\x02", "S \x00\x01\x00\x00\x01\x05", "C \x00\x00\x01\x05", "S \x01")
	inits := dialogue{greets, says38, "S \x01\x01", "C \x01", ok}
	for name, test := range map[string]struct {
		offer string
		talk  dialogue
		want  time.Duration
	}{
		"version":           {"x509vnc", types[:1], timeouts.Step},
		"half the version":  {"x509vnc", append(types[:1:1], "C RFB 00"), timeouts.Step},
		"type":              {"x509vnc", types, timeouts.Step},
		"VeNCrypt version":  {"x509vnc", taken[:5], timeouts.Step},
		"sub-type":          {"x509vnc", taken[:7], timeouts.Step},
		"ClientHello":       {"x509vnc", taken, timeouts.Person},
		"rest of TLS":       {"x509vnc", append(taken[:9:9], "C \x16\x03\x01\x02\x00\x01"), timeouts.Person},
		"response":          {"vncauth", dialogue{greets, says33, "S \x00\x00\x00\x02" + string(challenge[:])}, timeouts.Person},
		"ClientInit":        {"none", inits, timeouts.Person},
		"deferred None":     {"none", dialogue{greets, says37, "S \x01\x01"}, timeouts.Step},
		"takes no greeting": {"none", nil, timeouts.Step},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				conn, viewer := net.Pipe()
				defer viewer.Close()
				go silent{viewer}.play(test.talk)
				begin := time.Now()
				_, _, err := serve(rfb.NewServer(conn, timeouts), offer(test.offer), "")
				wantKind(t, err, rfb.KindTimeout)
				if took := time.Since(begin); took != test.want {
					t.Errorf("ended after %v, want %v", took, test.want)
				}
				conn.Close()
			})
		})
	}
}

// silent plays a dialogue and then neither speaks nor listens, nor goes.
type silent struct{ conn net.Conn }

func (s silent) play(d dialogue) {
	for _, line := range d {
		if line[0] == 'C' {
			s.conn.Write([]byte(line[2:]))
		} else {
			readN(s.conn, len(line)-2)
		}
	}
}

func TestOneByteNowAndThenBuysNoTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn, viewer := net.Pipe()
		gone := make(chan struct{})
		go func() {
			defer close(gone)
			readN(viewer, 12)
			for _, b := range []byte("RFB 003.008\n") {
				time.Sleep(2 * time.Second)
				if _, err := viewer.Write([]byte{b}); err != nil {
					return
				}
			}
		}()
		begin := time.Now()
		_, err := rfb.NewServer(conn, rfb.Timeouts{}).Negotiate(offer("none"))
		wantKind(t, err, rfb.KindTimeout)
		if took := time.Since(begin); took != rfb.StepTimeout {
			t.Errorf("ended after %v", took)
		}
		conn.Close()
		<-gone
	})
}

func TestAWorkstationHasTheSameTimeForEachStep(t *testing.T) {
	for name, d := range map[string]dialogue{
		"greeting": nil, "types": {"S RFB 003.008\n", "C RFB 003.008\n"},
		"result":     {"S RFB 003.008\n", "C RFB 003.008\n", "S \x01\x01", "C \x01"},
		"ServerInit": {"S RFB 003.008\n", "C RFB 003.008\n", "S \x01\x01", "C \x01", "S \x00\x00\x00\x00", "C \x01"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				conn, desk := net.Pipe()
				defer desk.Close()
				go silent{desk}.play(d.turned())
				begin := time.Now()
				_, err := rfb.Connect(conn, rfb.Login{}, 0)
				wantKind(t, err, rfb.KindTimeout)
				if took := time.Since(begin); took != rfb.StepTimeout {
					t.Errorf("ended after %v", took)
				}
				conn.Close()
			})
		})
	}
}

// No deadline of a handshake reaches into the session behind it.
func TestNoDeadlineIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		desk, conn := net.Pipe()
		served := make(chan error, 1)
		go func() {
			_, _, err := serve(rfb.NewServer(desk, rfb.Timeouts{}), offer("none"), "")
			served <- err
		}()
		d, err := rfb.Connect(conn, rfb.Login{}, 0)
		if err != nil {
			t.Fatal(err)
		}
		if err := <-served; err != nil {
			t.Fatal(err)
		}
		go func() {
			time.Sleep(24 * time.Hour)
			desk.Write([]byte{1})
			desk.Read(make([]byte, 1))
			desk.Close()
		}()
		if _, err := readN(d.Conn, 1); err != nil {
			t.Error(err)
		}
		if _, err := d.Conn.Write([]byte{1}); err != nil {
			t.Error(err)
		}
		d.Conn.Close()
	})
}
