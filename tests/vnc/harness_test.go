package vnc

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

func restoreWorkstation(h *harness.Gateway, workstation string) {
	h.T.Helper()
	h.Client.Want(200, http.MethodPut, "/v1/workstations/"+workstation, "desk", "{}")
}

func refusedBy(h *harness.Gateway, reason string) float64 {
	h.T.Helper()
	return h.Records.Metric(`gatehouse_vnc_refused_total{reason="` + reason + `"}`)
}

// refusedSoon waits until n connections were refused for the reason.
func refusedSoon(h *harness.Gateway, reason string, n float64) {
	h.T.Helper()
	var got float64
	if !harness.Eventually(func() bool { got = refusedBy(h, reason); return got >= n }) || got != n {
		h.T.Errorf("%v connections were refused for %q, want %v", got, reason, n)
	}
}

// vncLogLine is the log line of a VNC connection, once it is there, that holds all the texts.
func vncLogLine(h *harness.Gateway, texts ...string) any {
	h.T.Helper()
	var found string
	if !harness.Eventually(func() bool {
		for _, line := range harness.Log.Lines(`"logger":"gatehouse"`) {
			if !slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(line, text) }) {
				found = line
				return true
			}
		}
		return false
	}) {
		h.T.Fatalf("no line in the log with %q", texts)
	}
	return harness.Parse(h.T, []byte(found))
}

// vncRecord is the newest record of a VNC connection to a workstation, once there is one.
func vncRecord(h *harness.Gateway, workstation string) (row any) {
	h.T.Helper()
	if !harness.Eventually(func() bool {
		for _, r := range h.Records.Rows("") {
			if harness.At(r, "route") == "VNC session" && harness.At(r, "workstation") == workstation {
				row = r
				return true
			}
		}
		return false
	}) {
		h.T.Fatalf("no record of a connection to %s", workstation)
	}
	return row
}

// oneSecond is how long a release may take until the viewer sees its end.
const oneSecond = time.Second

// neverIssued has the form of a VNC address.
const neverIssued = "a2a2a2a2a2a2a2a2a2a2a2a2a2." + harness.VNCDomain

// atOnce bounds what happens without a delay: the shortest is two seconds, and a handshake on a
// busy machine may take a while.
const atOnce = 1500 * time.Millisecond
