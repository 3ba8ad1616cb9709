package vnc

import (
	"io"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// busyViewer keeps moving the pointer and reading, as a person does who does not know of the
// release, and sends how its connection ended.
func busyViewer(w *harness.Conn) (end chan error) {
	end = make(chan error, 1)
	stop := make(chan struct{})
	go func() {
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				return
			case <-tick.C:
			}
			if _, err := w.Write([]byte{5, 1, 0, 5, 0, 5}); err != nil {
				return // the reader says how it ended
			}
		}
	}()
	go func() {
		_, err := io.Copy(io.Discard, w)
		close(stop)
		end <- err
	}()
	return end
}

func TestVNCAReleaseEndsEverythingWithinASecond(t *testing.T) {
	d := harness.NewVNCServer(t, harness.NoSecurity)
	h := harness.StartVNC(t, harness.Setup{VNCHandler: both, VNC: "on_conflict share\nvncauth on\n" + d.As("one", "") + d.As("other", "")})
	a, unused, elsewhere := h.VNC.Issue("connect", "one", ""), h.VNC.Issue("connect", "one", ""), h.VNC.Issue("connect", "other", "")
	veNCrypt := h.VNC.Dial("").Greet("RFB 003.008\n", 19)
	veNCrypt.VeNCrypt(260)
	viewers := map[string]*harness.Conn{
		"TLS first": h.VNC.TLSFirst(a.Host).Accepted(),
		"VeNCrypt":  veNCrypt.StartTLS(a.Host).Accepted(),
		"in clear":  h.VNC.Dial("").Greet("RFB 003.008\n", 2).AnswerChallenge(a.Token).Accepted(),
		"quiet":     h.VNC.TLSFirst(a.Host).Accepted(),
	}
	ends := map[string]chan error{}
	for name, w := range viewers {
		mustSucceed(h, w)
		if name == "quiet" {
			ends[name] = w.ReadToEnd()
			continue
		}
		ends[name] = busyViewer(w)
	}
	spared := h.VNC.View(elsewhere)
	if !harness.Eventually(func() bool { return len(h.VNC.Sessions("one")) == len(viewers) }) {
		t.Fatal("sessions are missing")
	}
	begun := time.Now()
	h.VNC.Release("one")
	if n := len(h.VNC.Sessions("one")); n != 0 {
		t.Errorf("%d sessions are open when the release is told", n)
	}
	for name, end := range ends {
		harness.WantEnd(t, name, end)
	}
	took := time.Since(begun)
	t.Logf("the last of %d viewers saw its end after %s", len(viewers), took.Round(time.Millisecond))
	if took > oneSecond {
		t.Errorf("it took %s", took)
	}
	for _, dead := range []harness.Address{a, unused} {
		refusedWith(h, dead, "This workstation was released.")
	}
	mustSucceed(h, spared.Echo(1, 2))
	if line := vncLogLine(h, `"ended":"released"`, `"workstation":"one"`); harness.At(line, "level") != "info" {
		t.Errorf("line %v", line)
	}
}

func TestVNCWhatAReloadDropsIsRevoked(t *testing.T) {
	d := harness.NewVNCServer(t, harness.NoSecurity)
	one, two := d.As("one", ""), d.As("two", "")
	h := harness.StartVNC(t, harness.Setup{VNC: "on_conflict share\n" + one + two})
	kept, gone, other := h.VNC.Issue("connect", "one", ""), h.VNC.Issue("connect", "two", ""), h.VNC.Issue("desk", "one", "")
	keptViewer, goneViewer, otherViewer := h.VNC.View(kept), busyViewer(h.VNC.View(gone)), h.VNC.View(other)
	h.Become(harness.Setup{VNC: "on_conflict share\n" + one})
	harness.WantEnd(t, "of a workstation that was dropped", goneViewer)
	refusedWith(h, gone, "This VNC address was withdrawn. Ask for a new one.")
	vncLogLine(h, `"ended":"removed"`, `"workstation":"two"`)

	// A key that is gone, may no more, or has moved to another tenant.
	for _, change := range []string{
		"", "key connect {\nsecret {env.KEY_CONNECT}\nscopes workstations:manage\n}\n",
		"key connect {\nsecret {env.KEY_CONNECT}\nscopes workstations:connect\ntenant other\n}\n",
	} {
		end := busyViewer(keptViewer)
		h.Become(harness.Setup{NoKeys: true, Keys: harness.DefaultKeys + dropKey("connect") + change, VNC: "on_conflict share\n" + one})
		harness.WantEnd(t, "of a key that was dropped", end)
		refusedWith(h, kept, "This VNC address was withdrawn. Ask for a new one.")
		mustSucceed(h, otherViewer.Echo(2, 2))
		h.Become(harness.Setup{VNC: "on_conflict share\n" + one})
		kept = h.VNC.Issue("connect", "one", "")
		keptViewer = h.VNC.View(kept)
	}
	mustSucceed(h, otherViewer.Echo(1, 2))
}
