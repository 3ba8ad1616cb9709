//go:build unix

package sockets

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net"
	"strings"
	"syscall"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/features/sockets"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/handlerstest"
)

// rawClient is a connection that sends requests as they are, and reads answers up to the last
// event, so that the client costs the same for both.
type rawClient struct {
	net.Conn
	buffer []byte
}

func dialRaw(b *testing.B, origin string) *rawClient {
	conn, err := net.Dial("tcp", strings.TrimPrefix(origin, "http://"))
	handlerstest.Must(b, err)
	b.Cleanup(func() { _ = conn.Close() })
	return &rawClient{conn, make([]byte, 256<<10)}
}

// ask sends a request and reads until the answer has a text.
func (c *rawClient) ask(b *testing.B, request []byte, last string) {
	_, err := c.Write(request)
	handlerstest.Must(b, err)
	for n := 0; ; {
		got, err := c.Read(c.buffer[n:])
		if err != nil {
			b.Fatalf("%v after %.400q", err, c.buffer[:n])
		}
		from := max(n-len(last), 0)
		if n += got; bytes.Contains(c.buffer[from:n], []byte(last)) {
			return
		}
	}
}

// masked is a text frame of a client.
func masked(text string) []byte {
	frame := binary.BigEndian.AppendUint16([]byte{0x81, 0x80 | 126}, uint16(len(text)))
	frame = append(frame, 0, 0, 0, 0)
	return append(frame, text...)
}

// BenchmarkStream compares a stream over a socket with the same over HTTP, by the CPU that it
// takes.
func BenchmarkStream(b *testing.B) {
	head := "Host: gateway\r\nAuthorization: Bearer " + handlerstest.SecretOf("full") + "\r\n"
	const last = `"total_tokens":3`
	const body = `{"model":"acme/m","input":"hello","stream":true}`
	for _, pieces := range []int{8, 64, 256} {
		origin, _ := start(b, handlerstest.Answering(200, "text/event-stream", answer(pieces)), sockets.Limits{})
		run := func(name string, c *rawClient, request []byte, last string) {
			b.Run(fmt.Sprintf("%s-%d", name, pieces), func(b *testing.B) {
				b.ReportAllocs()
				began := used()
				for b.Loop() {
					c.ask(b, request, last)
				}
				b.ReportMetric(float64(used()-began)/float64(b.N), "cpu-ns/op")
			})
		}
		post := fmt.Sprintf("POST /v1/responses HTTP/1.1\r\n%sContent-Length: %d\r\n\r\n%s", head, len(body), body)
		socket := dialRaw(b, origin)
		socket.ask(b, []byte("GET /v1/responses HTTP/1.1\r\n"+head+
			"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"), "\r\n\r\n")
		for range 3 {
			run("http", dialRaw(b, origin), []byte(post), last)
			run("socket", socket, masked(create+strings.Repeat(" ", 100)), last)
		}
	}
}

// used is the CPU time of the process, in nanoseconds.
func used() int64 {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u) // it knows the process
	return u.Utime.Nano() + u.Stime.Nano()
}
