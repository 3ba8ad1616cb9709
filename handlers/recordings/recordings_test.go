package recordings

import (
	"bytes"
	"testing"

	"filippo.io/age"

	"github.com/gatehouse-proxy/gatehouse/internal/features/recordings"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
	"github.com/gatehouse-proxy/gatehouse/internal/recording"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/handlerstest"
)

const recordedID = "vnc-0123456789abcdef"

// withRecordings is a gateway whose sessions are recorded; recordingNothing is one whose are not.
func withRecordings(settings recording.Settings) handlerstest.Setup { return setup(&settings) }

var recordingNothing = setup(nil)

func setup(settings *recording.Settings) handlerstest.Setup {
	return handlerstest.Setup{Workstations: true, Features: func(c gateway.Core) []gateway.Feature {
		return []gateway.Feature{recordings.Feature(c, settings)}
	}}
}

// recordingGateway has one recording, of the default tenant's desk1.
func recordingGateway(t *testing.T) (*gateway.Gateway, *recording.Writer) {
	t.Helper()
	id, err := age.GenerateX25519Identity()
	handlerstest.Must(t, err)
	g := handlerstest.Start(t, withRecordings(recording.Settings{Dir: t.TempDir(), Recipients: []age.Recipient{id.Recipient()}}))
	all, _ := gateway.Offered[*recordings.Recordings](g)
	store, err := all.Open()
	handlerstest.Must(t, err)
	w, err := store.Begin(recording.Header{Session: recordedID, Tenant: "default", Workstation: "desk1", Key: "connect", Begun: handlerstest.Noon}, nil)
	handlerstest.Must(t, err)
	t.Cleanup(func() { _ = w.Close("") })
	return g, w
}

func TestRecordingsAreSeenByThoseWhoMay(t *testing.T) {
	g, w := recordingGateway(t)
	handlerstest.Must(t, w.Close("viewer_left"))
	for key, want := range map[string]int{"reader": 1, "operator": 1, "other": 0} {
		a := handlerstest.Call(t, g, "GET", "/v1/recordings?workstation=desk1&limit=10", key, "")
		if list, ok := a.At(t, "data").([]any); a.Code != 200 || !ok || len(list) != want || a.At(t, "next_cursor") != nil {
			t.Errorf("%s: %d %s", key, a.Code, a.Body)
		}
	}
	a := handlerstest.Call(t, g, "GET", "/v1/recordings", "reader", "")
	for name, want := range map[string]string{"id": recordedID, "workstation": "desk1", "key": "connect", "state": "complete", "reason": "viewer_left", "begun": "2026-03-18T12:00:00Z"} {
		if got := a.At(t, "data", 0, name); got != want {
			t.Errorf("%s is %v, want %s", name, got, want)
		}
	}
	handlerstest.Call(t, g, "GET", "/v1/recordings?limit=0", "reader", "").Want(t, 400, "invalid_value", "limit")
	handlerstest.Call(t, g, "GET", "/v1/recordings?session=x", "reader", "").Want(t, 400, "unsupported_parameter", "workstation")
	handlerstest.Call(t, handlerstest.Start(t, recordingNothing), "GET", "/v1/recordings", "reader", "").Want(t, 404, "unknown_url", "records no sessions")
}

// Each request about one recording needs its scope and tenant, and leaves a row that says who.
func TestARecordingIsReadAndDeletedByThoseWhoMay(t *testing.T) {
	g, w := recordingGateway(t)
	const path = "/v1/recordings/" + recordedID
	handlerstest.Call(t, g, "DELETE", path, "eraser", "").Want(t, 409, "recording_in_progress", recordedID)
	handlerstest.Must(t, w.Close("viewer_left"))
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
		if a := handlerstest.Call(t, g, c.method, c.path, c.key, ""); a.Code != c.status {
			t.Errorf("%s %s by %s: %d %s", c.method, c.path, c.key, a.Code, a.Body)
		}
		tenant := map[string]string{"other": "other", "operator": "ops"}[c.key]
		if tenant == "" {
			tenant = "default"
		}
		row := handlerstest.RowsOf(t, g, tenant)[0]
		if row.Key != c.key || row.Status != c.status || c.status < 300 && (row.Recording != recordedID || row.Workstation != "desk1") {
			t.Errorf("%s %s by %s left %+v", c.method, c.path, c.key, row)
		}
	}
}

func TestAFileIsSentInRanges(t *testing.T) {
	g, w := recordingGateway(t)
	handlerstest.Must(t, w.Close("viewer_left"))
	const path = "/v1/recordings/" + recordedID + "/file"
	whole := handlerstest.Call(t, g, "GET", path, "reader", "")
	if h := whole.Header(); !bytes.HasPrefix(whole.Body.Bytes(), []byte("GHREC1")) || h.Get("Content-Type") != "application/octet-stream" ||
		h.Get("Content-Disposition") != `attachment; filename="`+recordedID+`.ghrec"` {
		t.Errorf("%q %v", whole.Body, h)
	}
	r := handlerstest.NewRequest("GET", path, "reader", "")
	r.Header.Set("Range", "bytes=6-")
	if a := handlerstest.Send(t, handlerstest.API(t, g), r); a.Code != 206 || !bytes.Equal(a.Body.Bytes(), whole.Body.Bytes()[6:]) {
		t.Errorf("%d, %d bytes", a.Code, a.Body.Len())
	}
	r = handlerstest.NewRequest("GET", path, "reader", "")
	r.Header.Set("Range", "bytes=1000000-")
	a := handlerstest.Send(t, handlerstest.API(t, g), r)
	a.Want(t, 416, "range_not_satisfiable", "bytes")
	if a.Header().Get("Content-Range") == "" {
		t.Errorf("%v", a.Header())
	}
}
