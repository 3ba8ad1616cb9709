package tests

import (
	"crypto/x509"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// startVNC is start, and waits for the VNC certificate.
func startVNC(t *testing.T, s setup) *harness {
	t.Helper()
	h := start(t, s)
	h.vncReady()
	return h
}

// vncReady waits until VNC has its certificate: Caddy obtains it in the background. A viewer that
// comes before fails, so each try has an address of its own.
func (h *harness) vncReady() {
	h.t.Helper()
	var last error
	if !eventually(func() bool {
		h.tries++
		w := h.dialVNC(fmt.Sprintf("127.0.%d.%d", 200+h.tries/250, 1+h.tries%250))
		defer w.leave()
		if h.vncGreetsAtOnce {
			w.greeted("RFB 003.008\n", 19).veNCrypt(262) // nothing is decided without a password
		}
		w.startTLS("ready." + vncDomain)
		last = w.err
		return w.err == nil
	}) {
		h.t.Fatal("there is no VNC certificate: ", last)
	}
}

// become loads another setup and waits until only that answers.
func (h *harness) become(s setup) {
	h.t.Helper()
	h.change(h.caddyfile(s))
	if s.vnc != "" && !s.noLayer4 {
		h.vncReady()
	}
}

// roots are the local CA's, for viewers.
func (h *harness) roots() *x509.CertPool {
	roots := x509.NewCertPool()
	pem, _ := os.ReadFile(filepath.Join(h.dir, "storage", "pki", "authorities", "local", "root.crt")) // without it no certificate is good
	roots.AppendCertsFromPEM(pem)
	return roots
}

// address is an issued VNC address.
type address struct {
	token string // the label
	host  string // <token>.<domain>
	url   string
}

// issue asks for a VNC address for a workstation.
func (h *harness) issue(key, workstation, body string) address {
	h.t.Helper()
	a := h.do(http.MethodPost, "/v1/workstations/"+workstation+"/vnc", key, body)
	if a.status != 200 {
		h.t.Fatalf("issuing: %d %s", a.status, a.body)
	}
	url, _ := at(parse(h.t, a.body), "vnc_url").(string)
	return splitAddress(url)
}

func splitAddress(url string) address {
	host, _, _ := strings.Cut(url, ":")
	token, _, _ := strings.Cut(host, ".")
	return address{token, host, url}
}

// do is a call with any method.
func (h *harness) do(method, path, key, body string) answer {
	h.t.Helper()
	r := h.request(path, key, body)
	r.Method = method
	return h.send(r)
}

// want is do, and the status it must have.
func (h *harness) want(status int, method, path, key, body string) answer {
	h.t.Helper()
	a := h.do(method, path, key, body)
	if a.status != status {
		h.t.Fatalf("%s %s: %d %s, want %d", method, path, a.status, a.body, status)
	}
	return a
}

func (h *harness) release(workstation string) {
	h.t.Helper()
	h.want(204, http.MethodDelete, "/v1/workstations/"+workstation, "desk", "")
}

func (h *harness) restore(workstation string) {
	h.t.Helper()
	h.want(200, http.MethodPut, "/v1/workstations/"+workstation, "desk", "{}")
}

// sessions are the ids of the open sessions at a workstation.
func (h *harness) sessions(workstation string) (ids []string) {
	h.t.Helper()
	a := h.want(200, http.MethodGet, "/v1/workstations/"+workstation+"/sessions", "desk", "")
	list, _ := at(parse(h.t, a.body), "data").([]any)
	for _, s := range list {
		id, _ := at(s, "session_id").(string)
		ids = append(ids, id)
	}
	return ids
}

// metric is the value of one series, as /metrics writes its name and labels; 0 without it.
func (h *harness) metric(series string) float64 {
	h.t.Helper()
	for line := range strings.Lines(string(h.get("/metrics", "").body)) {
		if value, ok := strings.CutPrefix(line, series+" "); ok {
			n, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			if err != nil {
				h.t.Fatal(err)
			}
			return n
		}
	}
	return 0
}

func (h *harness) refusedBy(reason string) float64 {
	h.t.Helper()
	return h.metric(`gatehouse_vnc_refused_total{reason="` + reason + `"}`)
}

// refusedSoon waits until n connections were refused for the reason.
func (h *harness) refusedSoon(reason string, n float64) {
	h.t.Helper()
	var got float64
	if !eventually(func() bool { got = h.refusedBy(reason); return got >= n }) || got != n {
		h.t.Errorf("%v connections were refused for %q, want %v", got, reason, n)
	}
}

// vncLogLine is the log line of a VNC connection, once it is there, that holds all the texts.
func (h *harness) vncLogLine(texts ...string) any {
	h.t.Helper()
	var found string
	if !eventually(func() bool {
		for _, line := range h.logLines(`"logger":"gatehouse"`) {
			if !slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(line, text) }) {
				found = line
				return true
			}
		}
		return false
	}) {
		h.t.Fatalf("no line in the log with %q", texts)
	}
	return parse(h.t, []byte(found))
}

// vncRecord is the newest record of a VNC connection to a workstation, once there is one.
func (h *harness) vncRecord(workstation string) (row any) {
	h.t.Helper()
	if !eventually(func() bool {
		for _, r := range h.allRows("") {
			if at(r, "route") == "VNC session" && at(r, "workstation") == workstation {
				row = r
				return true
			}
		}
		return false
	}) {
		h.t.Fatalf("no record of a connection to %s", workstation)
	}
	return row
}

// calm waits until no connection is half open and no session is open.
func (h *harness) vncClosed() {
	h.t.Helper()
	if !eventually(func() bool {
		return h.metric("gatehouse_vnc_connections_half_open") == 0 && h.metric("gatehouse_vnc_sessions_open") == 0
	}) {
		h.t.Error("VNC connections do not end")
	}
}

// oneSecond is how long a release may take until the viewer sees its end.
const oneSecond = time.Second
