package tests

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"testing"
	"time"
)

// A viewer connects while its workstation is released, a thousand times, the release one step of
// the dialogue later each time round: whichever is first, no session is open when the release is
// answered, and the viewer has seen a desktop that ended cleanly, or a reason.
func TestVNCAReleaseAgainstAConnectLeavesNoSessionOpen(t *testing.T) {
	const races, lanes, steps = 1000, 4, 6
	d := newVNCServer(t, asNone)
	vnc := ""
	for lane := range lanes {
		vnc += d.as(fmt.Sprintf("desk%d", lane), "")
	}
	h := startVNC(t, setup{vnc: vnc, site: "gatehouse\nhandle /metrics {\nmetrics\n}"})
	var all sync.WaitGroup
	var mu sync.Mutex // guards the following
	desktops, failures := 0, 0
	var slowest time.Duration
	for lane := range lanes {
		all.Go(func() {
			path := fmt.Sprintf("%s/desk%d", workstations, lane)
			for i := range races / lanes {
				from := fmt.Sprintf("127.%d.%d.%d", 10+lane, i/250, 1+i%250) // a bad token is a failure of its address
				desktop, took, err := h.race(path, from, i%steps)
				mu.Lock()
				if desktop {
					desktops++
				}
				slowest = max(slowest, took)
				if err != nil {
					failures++
					t.Errorf("race %d of lane %d: %v", i, lane, err)
				}
				stop := failures > 3
				mu.Unlock()
				if stop {
					return
				}
			}
		})
	}
	all.Wait()
	t.Logf("%d of %d viewers saw the desktop first; the slowest end came %s after its release", desktops, races, slowest.Round(time.Millisecond))
	if desktops == 0 || desktops == races {
		t.Error("nobody raced")
	}
	h.vncClosed()
}

// race is one of them: took is from the end of the release to that of the viewer.
func (h *harness) race(path, from string, step int) (desktop bool, took time.Duration, err error) {
	call := func(method, path, key, body string, want int) ([]byte, error) {
		r := h.request(path, key, body)
		r.Method = method
		status, answer, err := h.quietly(r)
		if err == nil && status != want {
			err = fmt.Errorf("%s %s: %d %s", method, path, status, answer)
		}
		return answer, err
	}
	answer, err := call("POST", path+"/vnc", "connect", "", 200)
	if err != nil {
		return false, 0, err
	}
	a := splitAddress(textIn(answer, "vnc_url"))
	type end struct {
		desktop bool
		at      time.Time
		err     error
	}
	ended, reached := make(chan end, 1), make(chan struct{})
	go func() {
		var once sync.Once
		desktop, err := h.viewOrLeave(from, a.host, func(now int) {
			if now == step {
				once.Do(func() { close(reached) })
			}
		})
		once.Do(func() { close(reached) }) // it got no further
		ended <- end{desktop, time.Now(), err}
	}()
	<-reached
	if _, err := call("DELETE", path, "manage", "", 204); err != nil {
		return false, 0, err
	}
	released := time.Now()
	list, err := call("GET", path+"/sessions", "manage", "", 200)
	if err == nil && string(list) != `{"object":"list","data":[]}` {
		err = fmt.Errorf("open after the release: %s", list)
	}
	e := <-ended
	if took = e.at.Sub(released); took > oneSecond {
		err = errors.Join(err, fmt.Errorf("the viewer's end came %s after the release", took))
	}
	_, restored := call("PUT", path, "manage", "{}", 200)
	return e.desktop, took, errors.Join(err, e.err, restored)
}

// viewOrLeave connects with an address and stays until it is closed; at is called at each step. It
// fails for anything but a desktop and a clean end, or a refusal in words.
func (h *harness) viewOrLeave(from, host string, at func(step int)) (desktop bool, err error) {
	at(0)
	w := h.dialVNC(from)
	defer w.leave()
	at(1)
	w.startTLS(host).hear("RFB 003.008\n")
	at(2)
	w.say("RFB 003.008\n").hear(1, 1).say(1)
	at(3)
	if result := w.number(); w.err == nil && result == 0 {
		at(4)
		w.say(0)
		rest := make([]byte, len(serverInit))
		n, err := io.ReadFull(w, rest)
		if errors.Is(err, io.EOF) { // let in and sent away at once
			return false, w.err
		}
		if err == nil {
			at(5)
			w.over()
		}
		if string(rest[:n]) != serverInit[:n] {
			err = errors.Join(err, fmt.Errorf("heard %q", rest[:n]))
		}
		return true, errors.Join(w.err, err)
	}
	if text := w.text(); w.err == nil && text != "This workstation was released." {
		w.fail("told %q", text)
	}
	w.over()
	return false, w.err
}
