package vnc

import (
	"bufio"
	"bytes"
	"io"
	"strings"
	"testing"

	"filippo.io/age"

	"github.com/gatehouse-proxy/gatehouse/internal/framebuffer"
	"github.com/gatehouse-proxy/gatehouse/internal/recording"
	"github.com/gatehouse-proxy/gatehouse/internal/rfb"
	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// auditor may read and delete recordings; its secret is that of full.
const auditor = "key full {\nsecret {env.KEY_FULL}\nscopes recordings:read recordings:manage activity:read\n}\nkey activity {\nsecret {env.KEY_ACTIVITY}\nscopes activity:read\n}\n"

func recordBlock(t *testing.T) (block string, id *age.X25519Identity) {
	t.Helper()
	id, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	return "record {\nrecipient " + id.Recipient().String() + "\n}\n", id
}

// drawn reads server messages until one has drawn all of the picture.
func drawn(t *testing.T, shown rfb.Init, server io.Reader) *framebuffer.Picture {
	t.Helper()
	d, err := framebuffer.NewDecoder(shown)
	if err != nil {
		t.Fatal(err)
	}
	for in := bufio.NewReader(server); ; {
		m, err := d.Read(in)
		if err != nil {
			t.Fatal(err)
		}
		if m.Kind == framebuffer.Update {
			return d.Picture()
		}
	}
}

// What a viewer saw is in the file, through a reload and for the private key alone; reading and deleting it
// leave rows.
func TestVNCASessionIsRecorded(t *testing.T) {
	block, id := recordBlock(t)
	s := harness.Setup{Keys: auditor, VNC: block + "session {\nrecord on\n}\nworkstation demo {\ntest_card\n}\n"}
	h := harness.StartVNC(t, s)
	w := h.VNC.TLSFirst(h.VNC.Issue("connect", "demo", "").Host).Expect(uint32(0)).Send(1)
	shown := rfb.Init{Width: 1280, Height: 720}
	copy(shown.Format[:], w.Expect(5, 0, 2, 0xd0).ReadN(16))
	if name := w.Text(); !strings.HasSuffix(name, " (recorded)") {
		t.Errorf("the desktop's name is %q", name)
	}
	s.VNC = strings.Replace(s.VNC, "record {\n", "record {\nkeep 2d\n", 1)
	h.Become(s)
	mustSucceed(h, w.Send(3, 0, 0, 0, 0, 0, 5, 0, 2, 0xd0))
	saw := drawn(t, shown, w)
	w.Leave()
	h.VNC.WaitClosed()

	listed := h.Client.Want(200, "GET", "/v1/recordings?workstation=demo", "full", "").Body
	harness.WantDocumented(t, "recordings.md", `"object":"list"`, string(listed))
	list := harness.Parse(t, listed)
	session, _ := harness.At(list, "data", 0, "id").(string)
	if harness.At(list, "data", 0, "state") != "complete" || harness.At(list, "data", 0, "key") != "connect" || harness.At(list, "data", 0, "reason") != "viewer_left" {
		t.Fatalf("%v", list)
	}
	file := h.Client.Want(200, "GET", "/v1/recordings/"+session+"/file", "full", "").Body
	if bytes.Contains(file, []byte("demo")) || bytes.Contains(file, []byte("connect")) {
		t.Error("the file shows its header")
	}
	r, err := recording.NewReader(bytes.NewReader(file), id)
	if err != nil || r.Header().Session != session || r.Header().Workstation != "demo" || r.Header().Init.Format != shown.Format {
		t.Fatalf("%+v, %v", r.Header(), err)
	}
	var server bytes.Buffer
	for err == nil {
		var f recording.Frame
		if f, err = r.Next(); f.Kind == recording.KindServer {
			server.Write(f.Data)
		}
	}
	if err != io.EOF || !bytes.Equal(drawn(t, r.Header().Init, &server).Pix, saw.Pix) {
		t.Errorf("the recording shows another picture, %v", err)
	}

	h.Client.Want(403, "GET", "/v1/recordings", "activity", "")
	h.Client.Want(204, "DELETE", "/v1/recordings/"+session, "full", "")
	rows := harness.Parse(t, h.Client.Want(200, "GET", "/api/v1/activity?workstation=demo", "full", "").Body)
	for i, route := range []string{"DELETE /v1/recordings/{id}", "GET /v1/recordings/{id}/file", "VNC session"} {
		if harness.At(rows, "data", i, "route") != route || harness.At(rows, "data", i, "recording") != session {
			t.Errorf("row %d is %v, want %s", i, harness.At(rows, "data", i), route)
		}
	}
}

// Without a place for it a session that must be recorded has no desktop; one that may be has.
func TestVNCASessionThatCannotBeRecorded(t *testing.T) {
	block, _ := recordBlock(t)
	block = strings.Replace(block, "record {\n", "record {\ndir /dev/null/recordings\n", 1)
	d := harness.NewVNCServer(t, harness.NoSecurity)
	h := harness.StartVNC(t, harness.Setup{VNC: block + d.As("one", "session {\nrecord required\n}") + d.As("two", "session {\nrecord on\n}")})
	refusedWith(h, h.VNC.Issue("connect", "one", ""), "The session must be recorded and cannot be now. Tell your administrator.")
	w := h.VNC.View(h.VNC.Issue("connect", "two", ""))
	mustSucceed(h, w.Echo(1, 2))
	w.Leave()
	h.VNC.WaitClosed()
	vncLogLine(h, `"rule":"on"`, "a session is not recorded")
}
