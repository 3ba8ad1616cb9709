package soak

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"sync"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

const (
	// soakViewers open one desktop after the other. Each has a workstation of its own.
	soakViewers = 4
	// soakEchoes bounds how often the pointer moves in a session. With far fewer the memory of ended
	// addresses, which is bounded, would still grow at the end.
	soakEchoes = 4000
	// soakSession is the route of a session's record.
	soakSession = "VNC session"
	// soakDesktops is the tenant of the desktops.
	soakDesktops = "default"
)

// soakDesk is the half of a soak that opens desktops.
type soakDesk struct {
	server  *harness.VNCServer
	viewers sync.WaitGroup

	mu      sync.Mutex     // guards the following
	ended   map[string]int // sessions that viewers saw, by why they ended
	records map[string]int // of sessions, the same
	unmade  map[string]int // connections that did not open a desktop, by why
}

// desktopsSetup adds the workstations to a configuration.
func (s *soak) desktopsSetup(set *harness.Setup) {
	if s.desk.server == nil {
		s.desk = soakDesk{server: harness.NewVNCServer(s.t, harness.NoSecurity), ended: map[string]int{}, records: map[string]int{}, unmade: map[string]int{}}
	}
	set.VNCHandler = harness.WaitForTLS
	for i := range soakViewers {
		set.VNC += s.desk.server.As(soakWorkstation(i), "")
	}
}

func soakWorkstation(viewer int) string { return fmt.Sprintf("desk%d", viewer) }

// view starts the viewers.
func (s *soak) view() {
	for i := range soakViewers {
		rng := rand.New(rand.NewPCG(*soakSeed, uint64(i)))
		s.desk.viewers.Go(func() {
			for {
				s.running.RLock()
				select {
				case <-s.over:
					s.running.RUnlock()
					return
				default:
				}
				s.viewOnce(soakWorkstation(i), rng)
				s.running.RUnlock()
			}
		})
	}
}

// viewOnce opens a desktop, moves its pointer and ends the session in one of several ways.
func (s *soak) viewOnce(name string, rng *rand.Rand) {
	var issued struct {
		URL string `json:"vnc_url"`
	}
	path := "/v1/workstations/" + name
	if err := s.manage(http.MethodPost, path+"/vnc", "connect", &issued); err != nil {
		s.desk.count(s.desk.unmade, "no address")
		return
	}
	w := s.h.VNC.TLSFirst(harness.ParseAddress(issued.URL).Host).Accepted()
	defer w.Leave()
	if w.Err != nil { // a connection that reaches the listener of the older configuration as it closes
		s.desk.count(s.desk.unmade, "no desktop")
		return
	}
	for range rng.IntN(soakEchoes) {
		w.Echo(rng.IntN(1280), 1)
	}
	why := []desktop.Reason{desktop.ReasonViewer, desktop.ReasonReleased, desktop.ReasonEnded}[rng.IntN(3)]
	var err error
	switch why {
	case desktop.ReasonReleased:
		err = errors.Join(s.manage(http.MethodDelete, path, "desk", nil), s.manage(http.MethodPut, path, "desk", nil))
	case desktop.ReasonEnded:
		var open struct {
			Data []struct {
				ID string `json:"session_id"`
			}
		}
		if err = s.manage(http.MethodGet, path+"/sessions", "desk", &open); err == nil && len(open.Data) != 1 {
			err = fmt.Errorf("%d sessions are open", len(open.Data))
		}
		if err == nil {
			err = s.manage(http.MethodDelete, path+"/sessions/"+open.Data[0].ID, "desk", nil)
		}
	}
	if err == nil && why != desktop.ReasonViewer {
		w.End()
	}
	if err = errors.Join(err, w.Err); err != nil {
		s.faults.add("desktop %s, to be %s: %v", name, why, err)
	}
	s.desk.count(s.desk.ended, string(why))
}

// soakRepeats is how often a request may meet a server that shuts down.
const soakRepeats = 10

// manage makes a request about workstations. A server that shuts down may drop it, so it is repeated:
// all of them may be.
func (s *soak) manage(method, path, key string, answer any) error {
	var last error
	for range soakRepeats {
		body := "{}"
		if method == http.MethodGet {
			body = ""
		}
		r := s.h.Client.Request(path, key, body)
		r.Method = method
		status, text, err := s.h.Client.Try(r)
		switch {
		case err != nil:
			last = err
			s.h.Client.HTTP.CloseIdleConnections()
			continue
		case status >= 300:
			return fmt.Errorf("%s %s: %d %s", method, path, status, text)
		case answer == nil:
			return nil
		}
		return json.Unmarshal(text, answer)
	}
	return last
}

func (d *soakDesk) count(in map[string]int, why string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	in[why]++
}

// take notes the record of a session.
func (d *soakDesk) take(row *activity.Record) {
	switch {
	case row.Ended != "":
		d.count(d.records, row.Ended)
	case row.Code == string(desktop.RefusedBusy): // the viewer before has left, and the gateway has not noticed yet
	default:
		d.count(d.records, "refused: "+row.Code)
	}
}

// check compares the sessions that viewers saw with their records.
func (d *soakDesk) check(s *soak) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !maps.Equal(d.ended, d.records) {
		s.faults.add("viewers saw sessions end: %s; the records: %s; no desktop: %s", countsOf(d.ended), countsOf(d.records), countsOf(d.unmade))
	}
	s.t.Logf("desktops: %s; without one: %s", countsOf(d.records), countsOf(d.unmade))
}
