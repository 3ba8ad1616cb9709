package request

import (
	"net"
	"net/http"
)

// OnLoopback reports whether the request came in at an address that only this machine can reach.
func OnLoopback(r *http.Request) bool {
	switch addr := r.Context().Value(http.LocalAddrContextKey).(type) {
	case *net.TCPAddr:
		return addr.IP.IsLoopback()
	case *net.UDPAddr: // HTTP/3
		return addr.IP.IsLoopback()
	}
	return true
}
