package vnc

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// A viewer connects while its workstation is released, a thousand times, the release one step of
// the dialogue later each time round: whichever is first, no session is open when the release is
// answered, and the viewer has seen a desktop that ended cleanly, or a reason.
func TestVNCAReleaseAgainstAConnectLeavesNoSessionOpen(t *testing.T) {
	const races, lanes, steps = 1000, 4, 6
	d := harness.NewVNCServer(t, harness.NoSecurity)
	vnc := ""
	for lane := range lanes {
		vnc += d.As(fmt.Sprintf("desk%d", lane), "")
	}
	h := harness.StartVNC(t, harness.Setup{VNC: vnc, Site: "gatehouse\nhandle /metrics {\nmetrics\n}"})
	var all sync.WaitGroup
	var mu sync.Mutex // guards the following
	desktops, failures := 0, 0
	var slowest time.Duration
	for lane := range lanes {
		all.Go(func() {
			path := fmt.Sprintf("%s/desk%d", workstations, lane)
			for i := range races / lanes {
				from := fmt.Sprintf("127.%d.%d.%d", 10+lane, i/250, 1+i%250) // a bad token is a failure of its address
				desktop, took, err := race(h, path, from, i%steps)
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
	h.VNC.WaitClosed()
}

// race is one of them: took is from the end of the release to that of the viewer.
func race(h *harness.Gateway, path, from string, step int) (desktop bool, took time.Duration, err error) {
	call := func(method, path, key, body string, want int) ([]byte, error) {
		r := h.Client.Request(path, key, body)
		r.Method = method
		status, answer, err := h.Client.Try(r)
		if err == nil && status != want {
			err = fmt.Errorf("%s %s: %d %s", method, path, status, answer)
		}
		return answer, err
	}
	answer, err := call("POST", path+"/vnc", "connect", "", 200)
	if err != nil {
		return false, 0, err
	}
	a := harness.ParseAddress(textIn(answer, "vnc_url"))
	type end struct {
		desktop bool
		at      time.Time
		err     error
	}
	ended, reached := make(chan end, 1), make(chan struct{})
	go func() {
		var once sync.Once
		desktop, err := viewOrLeave(h, from, a.Host, func(now int) {
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
func viewOrLeave(h *harness.Gateway, from, host string, at func(step int)) (desktop bool, err error) {
	at(0)
	w := h.VNC.Dial(from)
	defer w.Leave()
	at(1)
	w.StartTLS(host).Expect("RFB 003.008\n")
	at(2)
	w.Send("RFB 003.008\n").Expect(1, 1).Send(1)
	at(3)
	if result := w.Uint32(); w.Err == nil && result == 0 {
		at(4)
		w.Send(0)
		rest := make([]byte, len(harness.ServerInit))
		n, err := io.ReadFull(w, rest)
		if errors.Is(err, io.EOF) { // let in and sent away at once
			return false, w.Err
		}
		if err == nil {
			at(5)
			w.End()
		}
		if string(rest[:n]) != harness.ServerInit[:n] {
			err = errors.Join(err, fmt.Errorf("heard %q", rest[:n]))
		}
		return true, errors.Join(w.Err, err)
	}
	if text := w.Text(); w.Err == nil && text != "This workstation was released." {
		w.Fail("told %q", text)
	}
	w.End()
	return false, w.Err
}

// textIn returns a string at the top level of an object, "" if there is none.
func textIn(object []byte, name string) string {
	var v map[string]any
	_ = json.Unmarshal(object, &v) // in anything but an object nothing is found
	text, _ := v[name].(string)
	return text
}
