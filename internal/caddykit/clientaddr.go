package caddykit

import (
	"net/http"
	"net/netip"
)

// ClientAddr returns the address of a request's client, see Client. Behind a proxy its port is not known.
func ClientAddr(r *http.Request) netip.AddrPort {
	remote, _ := netip.ParseAddrPort(r.RemoteAddr) // invalid: the connection says it
	address, err := netip.ParseAddr(Client(r))
	if err != nil || address.Unmap() == remote.Addr().Unmap() {
		return remote
	}
	return netip.AddrPortFrom(address, 0)
}
