package vncrelay

import (
	"net"
	"net/netip"
)

// AddressOf returns an address as the gateway writes it. Unusual listeners have none.
func AddressOf(a net.Addr) netip.AddrPort {
	if tcp, ok := a.(*net.TCPAddr); ok {
		address := tcp.AddrPort()
		return netip.AddrPortFrom(address.Addr().Unmap(), address.Port())
	}
	address, _ := netip.ParseAddrPort(a.String())
	return netip.AddrPortFrom(address.Addr().Unmap(), address.Port())
}
