package rfb

import "net"

// replay is a connection whose first bytes were read already.
type replay struct {
	net.Conn
	first []byte // not handed out yet
}

// Replay returns conn with the bytes in front that were read from it to find out what follows. Its
// NetConn method returns the connection below, for callers that close it.
func Replay(conn net.Conn, first []byte) net.Conn { return &replay{conn, first} }

// Read hands out the first bytes first.
func (r *replay) Read(p []byte) (int, error) {
	if len(r.first) == 0 {
		return r.Conn.Read(p)
	}
	n := copy(p, r.first)
	r.first = r.first[n:]
	return n, nil
}

// NetConn is the connection below.
func (r *replay) NetConn() net.Conn { return r.Conn }
