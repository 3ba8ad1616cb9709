package realtime

import (
	"context"
	"crypto/sha1"
	"encoding/base64"
	"io"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/handlerstest"
	"github.com/gatehouse-proxy/gatehouse/internal/wsconn"
)

// mute is the handshake of a provider that answers no ping.
func mute(t *testing.T) (*Upstream, net.Conn) {
	t.Helper()
	near, far := net.Pipe()
	u, _, err := Connect(t.Context(), handlerstest.RoundTrip(func(r *http.Request) (*http.Response, error) {
		// RFC 6455, section 1.3.
		accept := sha1.Sum([]byte(r.Header.Get("Sec-Websocket-Key") + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
		h := http.Header{"Upgrade": {"websocket"}, "Connection": {"Upgrade"}, "Sec-Websocket-Accept": {base64.StdEncoding.EncodeToString(accept[:])}}
		return &http.Response{StatusCode: http.StatusSwitchingProtocols, Header: h, Body: near, Request: r}, nil
	}), time.Minute, plenty{})
	if err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = io.Copy(io.Discard, far) }()
	return u, far
}

type plenty struct{}

func (plenty) Wait(context.Context, int64, time.Duration) bool { return true }
func (plenty) Give(int64)                                      {}

// A missed pong counts only where somebody has waited for it: nobody reads while the client is
// slow.
func TestAProviderIsNotDeadWhileNobodyReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u, far := mute(t)
		time.Sleep(3 * (wsconn.PingAfter + wsconn.PongWithin))
		go func() { _, _ = far.Write([]byte("\x81\x02{}")) }() // a text of two bytes
		if event, err := u.Next(); string(event) != "{}" || err != nil {
			t.Errorf("%q, %v", event, err)
		}
		begun := time.Now()
		if _, err := u.Next(); err == nil || time.Since(begun) > 2*(wsconn.PingAfter+wsconn.PongWithin) {
			t.Errorf("%v after %v", err, time.Since(begun))
		}
		u.Close(NormalClose, "")
		_ = far.Close()
	})
}
