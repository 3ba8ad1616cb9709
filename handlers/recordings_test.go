package handlers

import (
	"bytes"
	"testing"

	"filippo.io/age"

	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
	"github.com/gatehouse-proxy/gatehouse/internal/recording"
)

const recordedID = "vnc-0123456789abcdef"

// recordingGateway has one recording, of the default tenant's desk1.
func recordingGateway(t *testing.T) (*gateway.Gateway, *recording.Writer) {
	t.Helper()
	id, err := age.GenerateX25519Identity()
	must(t, err)
	g := startGateway(t, setup{workstations: true, recordings: &recording.Settings{Dir: t.TempDir(), Recipients: []age.Recipient{id.Recipient()}}})
	store, err := g.VNC().Recordings()
	must(t, err)
	w, err := store.Begin(recording.Header{Session: recordedID, Tenant: "default", Workstation: "desk1", Key: "connect", Begun: noon}, nil)
	must(t, err)
	t.Cleanup(func() { _ = w.Close("") })
	return g, w
}

func TestRecordingsAreSeenByThoseWhoMay(t *testing.T) {
	g, w := recordingGateway(t)
	must(t, w.Close("viewer_left"))
	for key, want := range map[string]int{"reader": 1, "operator": 1, "other": 0} {
		a := call(t, g, "GET", "/v1/recordings?workstation=desk1&limit=10", key, "")
		if list, ok := a.at(t, "data").([]any); a.Code != 200 || !ok || len(list) != want || a.at(t, "next_cursor") != nil {
			t.Errorf("%s: %d %s", key, a.Code, a.Body)
		}
	}
	a := call(t, g, "GET", "/v1/recordings", "reader", "")
	for name, want := range map[string]string{"id": recordedID, "workstation": "desk1", "key": "connect", "state": "complete", "reason": "viewer_left", "begun": "2026-03-18T12:00:00Z"} {
		if got := a.at(t, "data", 0, name); got != want {
			t.Errorf("%s is %v, want %s", name, got, want)
		}
	}
	call(t, g, "GET", "/v1/recordings?limit=0", "reader", "").want(t, 400, "invalid_value", "limit")
	call(t, g, "GET", "/v1/recordings?session=x", "reader", "").want(t, 400, "unsupported_parameter", "workstation")
	call(t, startGateway(t, setup{workstations: true}), "GET", "/v1/recordings", "reader", "").want(t, 404, "unknown_url", "records no sessions")
}

// Each request about one recording needs its scope and tenant, and leaves a row that says who.
func TestARecordingIsReadAndDeletedByThoseWhoMay(t *testing.T) {
	g, w := recordingGateway(t)
	const path = "/v1/recordings/" + recordedID
	call(t, g, "DELETE", path, "eraser", "").want(t, 409, "recording_in_progress", recordedID)
	must(t, w.Close("viewer_left"))
	for _, c := range []struct {
		method, path, key string
		status            int
	}{
		{"GET", path, "full", 403}, // activity:read alone
		{"GET", path + "/file", "full", 403},
		{"GET", path + "/file", "eraser", 403},
		{"DELETE", path, "reader", 403},
		{"GET", path, "other", 404},
		{"GET", path + "/file", "other", 404},
		{"DELETE", path, "other", 404},
		{"GET", path, "reader", 200},
		{"GET", path, "operator", 200},
		{"GET", path + "/file", "reader", 200},
		{"HEAD", path + "/file", "reader", 200},
		{"DELETE", path, "eraser", 204},
		{"GET", path, "reader", 404},
	} {
		if a := call(t, g, c.method, c.path, c.key, ""); a.Code != c.status {
			t.Errorf("%s %s by %s: %d %s", c.method, c.path, c.key, a.Code, a.Body)
		}
		tenant := map[string]string{"other": "other", "operator": "ops"}[c.key]
		if tenant == "" {
			tenant = "default"
		}
		row := rowsOf(t, g, tenant)[0]
		if row.Key != c.key || row.Status != c.status || c.status < 300 && (row.Recording != recordedID || row.Workstation != "desk1") {
			t.Errorf("%s %s by %s left %+v", c.method, c.path, c.key, row)
		}
	}
}

func TestAFileIsSentInRanges(t *testing.T) {
	g, w := recordingGateway(t)
	must(t, w.Close("viewer_left"))
	const path = "/v1/recordings/" + recordedID + "/file"
	whole := call(t, g, "GET", path, "reader", "")
	if h := whole.Header(); !bytes.HasPrefix(whole.Body.Bytes(), []byte("GHREC1")) || h.Get("Content-Type") != "application/octet-stream" ||
		h.Get("Content-Disposition") != `attachment; filename="`+recordedID+`.ghrec"` {
		t.Errorf("%q %v", whole.Body, h)
	}
	r := newTestRequest("GET", path, "reader", "")
	r.Header.Set("Range", "bytes=6-")
	if a := send(t, &Gatehouse{gateway: g}, r); a.Code != 206 || !bytes.Equal(a.Body.Bytes(), whole.Body.Bytes()[6:]) {
		t.Errorf("%d, %d bytes", a.Code, a.Body.Len())
	}
	r = newTestRequest("GET", path, "reader", "")
	r.Header.Set("Range", "bytes=1000000-")
	a := send(t, &Gatehouse{gateway: g}, r)
	a.want(t, 416, "range_not_satisfiable", "bytes")
	if a.Header().Get("Content-Range") == "" {
		t.Errorf("%v", a.Header())
	}
}
