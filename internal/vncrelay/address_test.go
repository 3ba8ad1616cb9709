package vncrelay

import (
	"net"
	"net/netip"
	"testing"
)

type textAddr string

func (textAddr) Network() string  { return "test" }
func (a textAddr) String() string { return string(a) }

func TestAddressesAreThoseOfIPv4WhereTheyCanBe(t *testing.T) {
	for _, c := range []struct {
		address net.Addr
		want    string
	}{
		{&net.TCPAddr{IP: net.ParseIP("::ffff:192.0.2.1"), Port: 7}, "192.0.2.1:7"},
		{&net.TCPAddr{IP: net.ParseIP("2001:db8::1"), Port: 7}, "[2001:db8::1]:7"},
		{textAddr("192.0.2.1:7"), "192.0.2.1:7"},
		{textAddr("[::ffff:192.0.2.1]:7"), "192.0.2.1:7"},
		{textAddr("@"), "invalid AddrPort"},
	} {
		if got := AddressOf(c.address); got.String() != c.want || got != (netip.AddrPort{}) != (c.want != "invalid AddrPort") {
			t.Errorf("%v is %v, want %s", c.address, got, c.want)
		}
	}
}
