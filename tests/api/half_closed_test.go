package api

import (
	"io"
	"net"
	"net/http"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// A client that only stopped sending still reads; it must not read a success. Its call has counted.
func TestAHalfClosedClientReadsNoSuccess(t *testing.T) {
	h := harness.Start(t, harness.Setup{Keys: harness.FullKey("rate 10/min")})
	conn, reader := h.Client.Dial()
	if _, err := io.WriteString(conn, harness.Head(harness.ChatV1, "full", "Content-Length: 500")+`{"model":`); err != nil {
		t.Fatal(err)
	}
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(reader, nil)
	if err == nil {
		defer func() { _ = resp.Body.Close() }()
		if resp.StatusCode < 400 {
			t.Errorf("half a request was answered %s", resp.Status)
		}
		if left := resp.Header.Get("X-Ratelimit-Remaining-Requests"); left != "9" {
			t.Errorf("%q requests are left, want 9", left)
		}
	}
}
