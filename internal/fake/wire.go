package fake

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// net/http sorts nothing but keeps neither order nor case of headers. wireConn
// reads along and cuts the heads of the requests out of the bytes.

// maxHead is net/http's own bound on a request head; a longer one never gets to
// a handler.
const maxHead = http.DefaultMaxHeaderBytes + 4096

type wireListener struct{ net.Listener }

func (l wireListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &wireConn{Conn: conn}, nil
}

type wireKey struct{}

func withWireConn(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, wireKey{}, conn)
}

type wireConn struct {
	net.Conn

	mu    sync.Mutex
	heads headCutter
}

func (c *wireConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.mu.Lock()
	c.heads.feed(p[:n])
	c.mu.Unlock()
	return n, err
}

// SetLinger lets a hijacker reset the connection.
func (c *wireConn) SetLinger(seconds int) error {
	if tcp, ok := c.Conn.(*net.TCPConn); ok {
		return tcp.SetLinger(seconds)
	}
	return nil
}

// headCutter follows the framing of HTTP/1.1 requests just far enough to tell
// heads from bodies.
type headCutter struct {
	heads   []string
	line    []byte // the head, or the line of a chunked body, so far
	state   cutState
	skip    int64 // bytes of body or chunk still to come
	dropped bool  // a head without end: nothing more is cut
}

type cutState int

const (
	inHead cutState = iota
	inBody
	inChunkSize
	inChunk
	inTrailer
)

func (h *headCutter) feed(p []byte) {
	for len(p) > 0 && !h.dropped {
		if h.state == inBody || h.state == inChunk {
			n := min(int64(len(p)), h.skip)
			p, h.skip = p[n:], h.skip-n
			if h.skip == 0 {
				h.state = map[cutState]cutState{inBody: inHead, inChunk: inChunkSize}[h.state]
			}
			continue
		}
		end := bytes.IndexByte(p, '\n')
		if end < 0 {
			end = len(p) - 1
		}
		h.line = append(h.line, p[:end+1]...)
		p = p[end+1:]
		h.dropped = len(h.line) > maxHead
		if bytes.HasSuffix(h.line, []byte("\n")) {
			h.lineEnd()
		}
	}
}

// lineEnd acts on a line that is now whole.
func (h *headCutter) lineEnd() {
	text := string(h.line)
	switch h.state {
	case inHead:
		if strings.TrimSpace(text) == "" { // net/http skips empty lines before a request
			h.line = h.line[:0]
		} else if strings.HasSuffix(text, "\r\n\r\n") || strings.HasSuffix(text, "\n\n") {
			h.line = h.line[:0]
			h.headEnd(text)
		}
	case inChunkSize:
		h.line = h.line[:0]
		size, _, _ := strings.Cut(strings.TrimSpace(text), ";")
		n, err := strconv.ParseInt(size, 16, 62)
		h.dropped = err != nil
		h.state, h.skip = inChunk, n+2 // and its CR LF
		if n == 0 {
			h.state = inTrailer
		}
	case inTrailer:
		h.line = h.line[:0]
		if strings.TrimSpace(text) == "" {
			h.state = inHead
		}
	}
}

func (h *headCutter) headEnd(head string) {
	h.heads = append(h.heads, head)
	for _, line := range headLines(head) {
		switch strings.ToLower(line[0]) {
		case "content-length":
			n, err := strconv.ParseInt(line[1], 10, 62)
			h.dropped = err != nil
			if n > 0 {
				h.state, h.skip = inBody, n
			}
		case "transfer-encoding":
			h.state = inChunkSize
		}
	}
}

// headLines takes the header lines of a head apart.
func headLines(head string) [][2]string {
	var out [][2]string
	for i, line := range strings.Split(head, "\n") {
		name, value, ok := strings.Cut(line, ":")
		if i > 0 && ok {
			out = append(out, [2]string{name, strings.TrimSpace(value)})
		}
	}
	return out
}

// wireHeaders returns the headers of r as they were sent, or, on a server that
// does not read along, sorted; it must be called once a request.
func wireHeaders(r *http.Request) (headers [][2]string, asSent bool) {
	if c, ok := r.Context().Value(wireKey{}).(*wireConn); ok {
		c.mu.Lock()
		defer c.mu.Unlock()
		if len(c.heads.heads) > 0 {
			head := c.heads.heads[0]
			c.heads.heads = c.heads.heads[1:]
			return headLines(head), true
		}
	}
	headers = append(headers, [2]string{"Host", r.Host})
	for name, values := range r.Header {
		for _, value := range values {
			headers = append(headers, [2]string{name, value})
		}
	}
	slices.SortStableFunc(headers, func(a, b [2]string) int { return strings.Compare(a[0], b[0]) })
	return headers, false
}
