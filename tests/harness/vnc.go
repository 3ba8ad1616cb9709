package harness

import (
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// VNC is the part of a gateway that desktops are behind.
type VNC struct {
	t       *testing.T
	dir     string // of the gateway
	ports   *Ports
	client  *Client
	records *Records

	greetsAtOnce bool // the layer-4 handler does not wait for TLS
	tries        int  // attempts at the port to get its certificate
}

// StartVNC is Start, and waits for the VNC certificate.
func StartVNC(t *testing.T, s Setup) *Gateway {
	t.Helper()
	h := Start(t, s)
	h.VNC.Ready()
	return h
}

// Ready waits until VNC has its certificate: Caddy obtains it in the background. A viewer that
// comes before fails, so each try comes from an address of its own.
func (v *VNC) Ready() {
	v.t.Helper()
	var last error
	if !Eventually(func() bool {
		w := v.DialFresh()
		defer w.Leave()
		if v.greetsAtOnce {
			w.Greet("RFB 003.008\n", 19).VeNCrypt(262) // nothing is decided without a password
		}
		w.StartTLS("ready." + VNCDomain)
		last = w.Err
		return w.Err == nil
	}) {
		v.t.Fatal("there is no VNC certificate: ", last)
	}
}

// DialFresh is Dial from an address that no viewer had before.
func (v *VNC) DialFresh() *Conn {
	v.tries++
	return v.Dial(fmt.Sprintf("127.0.%d.%d", 200+v.tries/250, 1+v.tries%250))
}

// Roots are the local CA's, for viewers.
func (v *VNC) Roots() *x509.CertPool {
	roots := x509.NewCertPool()
	pem, _ := os.ReadFile(rootFile(v.dir)) // without it no certificate is good
	roots.AppendCertsFromPEM(pem)
	return roots
}

// rootFile is where Caddy keeps the certificate of its local CA.
func rootFile(dir string) string {
	return filepath.Join(dir, "storage", "pki", "authorities", "local", "root.crt")
}

// Address is an issued VNC address.
type Address struct {
	Token string // the label
	Host  string // <token>.<domain>
	URL   string
}

// Issue asks for a VNC address for a workstation.
func (v *VNC) Issue(key, workstation, body string) Address {
	v.t.Helper()
	a := v.client.Do(http.MethodPost, "/v1/workstations/"+workstation+"/vnc", key, body)
	if a.Status != 200 {
		v.t.Fatalf("issuing: %d %s", a.Status, a.Body)
	}
	url, _ := At(Parse(v.t, a.Body), "vnc_url").(string)
	return ParseAddress(url)
}

// ParseAddress takes a vnc_url apart.
func ParseAddress(url string) Address {
	host, _, _ := strings.Cut(url, ":")
	token, _, _ := strings.Cut(host, ".")
	return Address{token, host, url}
}

// Release releases a workstation.
func (v *VNC) Release(workstation string) {
	v.t.Helper()
	v.client.Want(204, http.MethodDelete, "/v1/workstations/"+workstation, "desk", "")
}

// Sessions are the ids of the open sessions at a workstation.
func (v *VNC) Sessions(workstation string) (ids []string) {
	v.t.Helper()
	a := v.client.Want(200, http.MethodGet, "/v1/workstations/"+workstation+"/sessions", "desk", "")
	list, _ := At(Parse(v.t, a.Body), "data").([]any)
	for _, s := range list {
		id, _ := At(s, "session_id").(string)
		ids = append(ids, id)
	}
	return ids
}

// WaitClosed waits until no connection is half open and no session is open.
func (v *VNC) WaitClosed() {
	v.t.Helper()
	if !Eventually(func() bool {
		return v.records.Metric("gatehouse_vnc_connections_half_open") == 0 && v.records.Metric("gatehouse_vnc_sessions_open") == 0
	}) {
		v.t.Error("VNC connections do not end")
	}
}

// Dial connects to the VNC port from an address of the loopback network.
func (v *VNC) Dial(from string) *Conn {
	dialer := net.Dialer{Timeout: WaitLimit}
	if from != "" {
		dialer.LocalAddr = &net.TCPAddr{IP: net.ParseIP(from)}
	}
	conn, err := dialer.Dial("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(v.ports.VNC)))
	if err != nil {
		return &Conn{roots: v.Roots, Err: err}
	}
	w := &Conn{Conn: conn, roots: v.Roots}
	_ = conn.SetDeadline(time.Now().Add(WaitLimit)) // a broken connection fails the next read
	return w
}

// TLSFirst comes as a viewer behind a TLS wrapper does, up to the result.
func (v *VNC) TLSFirst(name string) *Conn { return v.TLSFirstFrom(ViewerAddress, name) }

// TLSFirstFrom is TLSFirst from an address.
func (v *VNC) TLSFirstFrom(from, name string) *Conn {
	w := v.Dial(from).StartTLS(name)
	return w.Expect("RFB 003.008\n").Send("RFB 003.008\n").Expect(1, 1).Send(1)
}

// View opens a session and sees that it works.
func (v *VNC) View(a Address) *Conn {
	v.t.Helper()
	w := v.TLSFirst(a.Host).Accepted().Echo(7, 9)
	v.t.Cleanup(w.Leave)
	if w.Err != nil {
		v.t.Fatal(w.Err)
	}
	return w
}

// WantEnd waits for a clean end: io.Copy finds nothing wrong only after a
// close_notify, and never after a reset.
func WantEnd(t *testing.T, what string, end chan error) {
	t.Helper()
	select {
	case err := <-end:
		if err != nil {
			t.Errorf("%s: the end is not clean: %v", what, err)
		}
	case <-time.After(WaitLimit):
		t.Errorf("%s: no end", what)
	}
}
