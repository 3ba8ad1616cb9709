package tests

import (
	"io"
	"net"
	"net/http"
	"testing"
)

// A client that only stopped sending still reads; it must not read a success. Its call has counted.
func TestAHalfClosedClientReadsNoSuccess(t *testing.T) {
	h := start(t, setup{keys: limitedKey("rate 10/min")})
	conn, reader := h.dial()
	if _, err := io.WriteString(conn, head(chatV1, "full", "Content-Length: 500")+`{"model":`); err != nil {
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
