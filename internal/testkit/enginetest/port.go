//go:build unix

package enginetest

import (
	"net"
	"os"
	"strconv"
	"sync/atomic"
)

// The ports of engines. Those from 32768 on are given to connections, which could have the port of an
// engine before it starts, or while it is ended.
const firstPort, endPort = 10_000, 32_768

// nextPort begins elsewhere in each process, so that packages tested at the same time seldom meet.
var nextPort atomic.Int64

func init() { nextPort.Store(int64(os.Getpid()) * 101) }

// freePort returns a port on which nothing listens. It returns none twice before all had their turn.
func freePort(t T) int {
	t.Helper()
	for range endPort - firstPort {
		port := firstPort + int(nextPort.Add(1)%(endPort-firstPort))
		if l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port))); err == nil {
			_ = l.Close()
			return port
		}
	}
	t.Fatal("no port is free")
	return 0
}
