package vnc

import (
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// libvncclient takes the first encrypted type it knows, sends no server name,
// and comes again: then it must be asked for a password.
func TestVNCAViewerWithoutServerNameIsAskedForThePasswordNextTime(t *testing.T) {
	d := harness.NewVNCServer(t, harness.NoSecurity)
	h := harness.StartVNC(t, harness.Setup{VNCHandler: silent, VNC: d.As("one", "")})
	a := h.VNC.Issue("connect", "one", "")
	first := h.VNC.Dial("127.0.0.21").Greet("RFB 003.008\n", 19)
	if offered := first.VeNCrypt(260); first.Err == nil && offered[0] != 260 {
		t.Errorf("sub-types %v at first", offered)
	}
	if reason := first.StartTLS("").Refusal(); first.Err != nil || !strings.Contains(reason, "as the password") {
		t.Errorf("without a name: %q, %v", reason, first.Err)
	}
	refusedSoon(h, "no_server_name", 1)
	h.VNC.Dial("127.0.0.21").Expect("RFB 003.008\n").Leave() // a health check does not use the memory up
	second := h.VNC.Dial("127.0.0.21").Greet("RFB 003.008\n", 19)
	if offered := second.VeNCrypt(262); second.Err == nil && (len(offered) != 2 || offered[0] != 262) {
		t.Errorf("sub-types %v the second time", offered)
	}
	second.StartTLS("").Plain("", a.Token).Accepted().Echo(5, 6)
	second.Leave()
	third := h.VNC.Dial("127.0.0.21").Greet("RFB 003.008\n", 19) // a neighbour that sends names
	if offered := third.VeNCrypt(260); third.Err == nil && offered[0] != 260 {
		t.Errorf("sub-types %v the third time", offered)
	}
	third.Leave()
	elsewhere := h.VNC.Dial("127.0.0.22").Greet("RFB 003.008\n", 19)
	if offered := elsewhere.VeNCrypt(260); elsewhere.Err == nil && offered[0] != 260 {
		t.Errorf("sub-types %v from elsewhere", offered)
	}
	elsewhere.Leave()
	if second.Err != nil || third.Err != nil || elsewhere.Err != nil {
		t.Error(second.Err, third.Err, elsewhere.Err)
	}
}
