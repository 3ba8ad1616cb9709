//go:build linux

package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

const (
	// ioTimeout bounds one call, so that a server that hangs fails its case.
	ioTimeout = 30 * time.Second
	// maxAnswer bounds what is read of one answer; the largest real one is under 32 KB.
	maxAnswer = 1 << 20
	// readBuffer takes a coalesced stream in a few reads.
	readBuffer = 32 << 10
)

// conn is one keep-alive HTTP/1.1 connection of the load client. It sends bytes that were encoded
// before and reads without helper goroutines, to leave the cores to the servers. It dials when
// needed and again after the server has closed.
type conn struct {
	addr string
	tls  *tls.Config // nil for plain TCP
	nc   net.Conn
	br   *bufio.Reader
	body bytes.Buffer
}

// answer is the input of a check. The body is valid until the connection's next call.
type answer struct {
	status int
	header http.Header
	body   []byte
	first  time.Time // when the first byte of the body had arrived
	closes bool      // the server ends the connection with it
}

func newConn(addr string) *conn {
	return &conn{addr: addr, br: bufio.NewReaderSize(nil, readBuffer)}
}

func (c *conn) dial(ctx context.Context) error {
	if c.nc != nil {
		return nil
	}
	d := net.Dialer{Timeout: ioTimeout}
	nc, err := d.DialContext(ctx, "tcp", c.addr)
	if err != nil {
		return err
	}
	if c.tls != nil {
		secure := tls.Client(nc, c.tls)
		if err := secure.HandshakeContext(ctx); err != nil {
			nc.Close()
			return err
		}
		nc = secure
	}
	c.nc = nc
	c.br.Reset(nc)
	return nil
}

func (c *conn) close() {
	if c.nc != nil {
		c.nc.Close()
		c.nc = nil
	}
}

// begin sends one encoded request and reads the answer's header. The end of ctx closes the
// connection, which ends every wait; release undoes that.
func (c *conn) begin(ctx context.Context, request []byte) (res *http.Response, release func() bool, err error) {
	if err := c.dial(ctx); err != nil {
		return nil, nil, err
	}
	nc := c.nc
	stop := context.AfterFunc(ctx, func() { nc.Close() })
	release = func() bool {
		undone := stop()
		if !undone {
			c.close() // else the next call would find it closed
		}
		return undone
	}
	nc.SetDeadline(time.Now().Add(ioTimeout))
	_, writeErr := nc.Write(request)
	// A server may refuse before it has read everything: its answer explains more than the broken
	// pipe.
	res, err = http.ReadResponse(c.br, nil)
	if err != nil {
		release()
		c.close()
		if writeErr != nil {
			return nil, nil, fmt.Errorf("sending: %w", writeErr)
		}
		return nil, nil, fmt.Errorf("reading the answer's header: %w", err)
	}
	if writeErr != nil {
		res.Close = true
	}
	return res, release, nil
}

// do makes one call and reads the whole answer.
func (c *conn) do(ctx context.Context, request []byte) (answer, error) {
	res, release, err := c.begin(ctx, request)
	if err != nil {
		return answer{}, err
	}
	defer release()
	a := answer{status: res.StatusCode, header: res.Header, closes: res.Close}
	c.body.Reset()
	body := io.LimitReader(res.Body, maxAnswer)
	var firstByte [1]byte
	if _, err := io.ReadFull(body, firstByte[:]); err == nil {
		a.first = time.Now()
		c.body.WriteByte(firstByte[0])
		if _, err := c.body.ReadFrom(body); err != nil {
			c.close()
			return answer{}, fmt.Errorf("reading the answer's body after %d bytes: %w", c.body.Len(), err)
		}
	} else if err != io.EOF {
		c.close()
		return answer{}, fmt.Errorf("reading the answer's body: %w", err)
	}
	a.body = c.body.Bytes()
	if res.Close || c.body.Len() == maxAnswer {
		c.close()
	}
	return a, nil
}

// open makes one call and returns when the first event of a stream has arrived. The stream stays
// open until the connection is closed.
func (c *conn) open(ctx context.Context, request []byte) (answer, error) {
	res, release, err := c.begin(ctx, request)
	if err != nil {
		return answer{}, err
	}
	defer release()
	a := answer{status: res.StatusCode, header: res.Header}
	lines := bufio.NewReaderSize(io.LimitReader(res.Body, maxAnswer), 4<<10)
	c.body.Reset()
	for !bytes.HasSuffix(c.body.Bytes(), []byte("\n\n")) {
		line, err := lines.ReadSlice('\n')
		c.body.Write(line)
		if err != nil {
			c.close()
			return answer{}, fmt.Errorf("reading the first event, status %d, %q: %w", a.status, c.body.Bytes(), err)
		}
	}
	a.first, a.body = time.Now(), c.body.Bytes()
	return a, nil
}

// encode writes one POST as the SDKs send it, with the body in the same slice.
func encode(host, path, key string, body []byte) []byte {
	version, contentType := "", "application/json"
	if path == transcriptsPath {
		contentType = formType
	}
	if path == messagesPath {
		version = "Anthropic-Version: 2023-06-01\r\n"
	}
	if path == toolPath {
		version = toolHeader
	}
	head := fmt.Sprintf("POST %s HTTP/1.1\r\nHost: %s\r\nAccept: application/json\r\nAuthorization: Bearer %s\r\n%s"+
		"Content-Type: %s\r\nUser-Agent: gatehouse-bench\r\nContent-Length: %d\r\n\r\n", path, host, key, version, contentType, len(body))
	return append(append(make([]byte, 0, len(head)+len(body)), head...), body...)
}
