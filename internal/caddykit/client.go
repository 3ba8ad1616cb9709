package caddykit

import (
	"net/http"
	"net/netip"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// Client is the address of the person who asks. Behind proxies in the server's trusted_proxies it is the
// one that they report, and its port is not known.
func Client(r *http.Request) netip.AddrPort {
	remote, _ := netip.ParseAddrPort(r.RemoteAddr) // invalid: the connection says it
	reported, _ := caddyhttp.GetVar(r.Context(), caddyhttp.ClientIPVarKey).(string)
	address, err := netip.ParseAddr(reported)
	if err != nil || address.Unmap() == remote.Addr().Unmap() {
		return remote
	}
	return netip.AddrPortFrom(address, 0)
}
