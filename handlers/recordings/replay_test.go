package recordings

import (
	"bytes"
	"testing"

	"filippo.io/age"

	"github.com/gatehouse-proxy/gatehouse/internal/features/recordings"
	"github.com/gatehouse-proxy/gatehouse/internal/framebuffer"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
	"github.com/gatehouse-proxy/gatehouse/internal/recording"
	"github.com/gatehouse-proxy/gatehouse/internal/rfb"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/handlerstest"
)

// playingGateway has one recording that shows a black desktop, and reads recordings with a key.
func playingGateway(t *testing.T, width uint16, recipient *age.X25519Identity, identities ...age.Identity) *gateway.Gateway {
	t.Helper()
	g := handlerstest.Start(t, withRecordings(recording.Settings{
		Dir: t.TempDir(), Recipients: []age.Recipient{recipient.Recipient()}, Identities: identities,
	}))
	all, _ := gateway.Offered[*recordings.Recordings](g)
	store, err := all.Open()
	handlerstest.Must(t, err)
	w, err := store.Begin(recording.Header{
		Session: recordedID, Tenant: "default", Workstation: "desk1", Key: "connect", Begun: handlerstest.Noon,
		Init: rfb.Init{Width: width, Height: 48, Format: framebuffer.LiveFormat},
	}, nil)
	handlerstest.Must(t, err)
	handlerstest.Must(t, w.Close("viewer_left"))
	return g
}

// Each request to see what a recording shows needs its scope, its tenant and a key, and leaves a
// row.
func TestARecordingIsPlayedToThoseWhoMay(t *testing.T) {
	id, err := age.GenerateX25519Identity()
	handlerstest.Must(t, err)
	stranger, err := age.GenerateX25519Identity()
	handlerstest.Must(t, err)
	const path = "/v1/recordings/" + recordedID
	g, blind, foreign := playingGateway(t, 64, id, id), playingGateway(t, 64, id), playingGateway(t, 64, id, stranger)
	for _, c := range []struct {
		gateway           *gateway.Gateway
		method, path, key string
		status            int
		says              string
	}{
		{g, "GET", "/fbs", "full", 403, "recordings:read"},
		{g, "GET", "/fbs", "other", 404, "there is no recording"},
		{g, "GET", "/fbs", "reader", 200, "FBS 001.000\n"},
		{g, "HEAD", "/fbs", "reader", 200, ""},
		{g, "GET", "/socket", "full", 403, "recordings:read"},
		{g, "GET", "/socket", "other", 404, "there is no recording"},
		{g, "GET", "/socket", "reader", 400, "WebSocket"},
		{g, "GET", "", "reader", 200, `"replay":true`},
		{blind, "GET", "", "reader", 200, `"replay":false`},
		{blind, "GET", "/fbs", "reader", 404, "replay_identity"},
		{blind, "GET", "/socket", "reader", 404, "replay_identity"},
		{foreign, "GET", "/fbs", "reader", 400, "identity"},
		{playingGateway(t, 0, id, id), "GET", "/fbs", "reader", 400, "0x48"},
	} {
		a := handlerstest.Call(t, c.gateway, c.method, path+c.path, c.key, "")
		if a.Code != c.status || !bytes.Contains(a.Body.Bytes(), []byte(c.says)) {
			t.Errorf("%s %s by %s: %d %.200q", c.method, c.path, c.key, a.Code, a.Body)
		}
		if c.key == "other" {
			continue
		}
		if row := handlerstest.RowsOf(t, c.gateway, "default")[0]; row.Key != c.key || row.Status != c.status || c.status == 200 && (row.Recording != recordedID || row.Workstation != "desk1") {
			t.Errorf("%s %s by %s left %+v", c.method, c.path, c.key, row)
		}
	}
}
