package desktop

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// special are addresses that belong to the machine the gateway runs on, to its network's plumbing,
// or that stand for another address: a network that merely contains one does not open it.
var special = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"),          // this host (RFC 1122 section 3.2.1.3)
	netip.MustParsePrefix("127.0.0.0/8"),        // loopback
	netip.MustParsePrefix("169.254.0.0/16"),     // link-local; cloud metadata
	netip.MustParsePrefix("224.0.0.0/4"),        // multicast
	netip.MustParsePrefix("255.255.255.255/32"), // broadcast
	netip.MustParsePrefix("100.100.100.200/32"), // metadata, Alibaba Cloud
	netip.MustParsePrefix("168.63.129.16/32"),   // platform address, Azure
	netip.MustParsePrefix("192.0.0.192/32"),     // metadata, Oracle Cloud
	netip.MustParsePrefix("::/96"),              // unspecified, loopback, IPv4-compatible
	netip.MustParsePrefix("64:ff9b::/96"),       // NAT64 (RFC 6052): any IPv4 address
	netip.MustParsePrefix("64:ff9b:1::/48"),     // NAT64 (RFC 8215)
	netip.MustParsePrefix("2001::/32"),          // Teredo: any IPv4 address
	netip.MustParsePrefix("2002::/16"),          // 6to4: any IPv4 address
	netip.MustParsePrefix("fd00:ec2::254/128"),  // metadata, AWS
	netip.MustParsePrefix("fd20:ce::254/128"),   // metadata, Google Cloud
	netip.MustParsePrefix("fe80::/10"),          // link-local
	netip.MustParsePrefix("ff00::/8"),           // multicast
}

// Why an address is not dialled.
var (
	errOutside = errors.New("the address is outside the networks of register_networks, or of its source")
	errPort    = errors.New("the port is not one of register_ports, or of its source")
)

// Ports are those at which a workstation registered at run time may be; empty: all.
type Ports []PortRange

// PortRange is ports with the first and the last.
type PortRange struct{ First, Last uint16 }

func (p Ports) has(port uint16) bool {
	return len(p) == 0 || slices.ContainsFunc(p, func(r PortRange) bool { return r.First <= port && port <= r.Last })
}

func cleanNetwork(n netip.Prefix) (netip.Prefix, error) {
	if !n.IsValid() {
		return n, errors.New("not a network")
	}
	if n.Addr().Is4In6() {
		return n, fmt.Errorf("%s: write it as an IPv4 network", n)
	}
	return n.Masked(), nil
}

// allowed reports whether a run-time workstation may be at ap. own reports whether the gateway
// itself listens on an address; nil means on none.
func allowed(networks []netip.Prefix, ap netip.AddrPort, own func(netip.AddrPort) bool) bool {
	addr := plain(ap.Addr())
	inside, exactly := false, false
	for _, n := range networks {
		if n.Contains(addr) {
			inside = true
			exactly = exactly || n.IsSingleIP()
		}
	}
	if !inside || exactly {
		return inside
	}
	for _, n := range special {
		if n.Contains(addr) {
			return false
		}
	}
	return own == nil || !own(netip.AddrPortFrom(addr, ap.Port()))
}

// plain is the address that comparisons use: no IPv4 in IPv6, no zone.
func plain(addr netip.Addr) netip.Addr { return addr.Unmap().WithZone("") }

// maxAddress is the longest "host:port" that is looked at.
const maxAddress = 253 + len(":65535")

// parseAddress reads "host:port" as a registration gives it. The address is
// valid only where the host is one; a name is looked up when it is dialled.
func parseAddress(text string) (netip.Addr, uint16, error) {
	if len(text) > maxAddress {
		return netip.Addr{}, 0, fmt.Errorf("an address has at most %d characters", maxAddress)
	}
	host, digits, err := net.SplitHostPort(text)
	if err != nil {
		return netip.Addr{}, 0, fmt.Errorf("%q is not host:port", text)
	}
	port, err := strconv.ParseUint(digits, 10, 16)
	if err != nil || port == 0 || digits[0] == '+' {
		return netip.Addr{}, 0, fmt.Errorf("%q is not a port", digits)
	}
	if addr, err := netip.ParseAddr(host); err == nil {
		if addr.Zone() != "" {
			return netip.Addr{}, 0, fmt.Errorf("%q: an address with a zone means another machine on every machine", host)
		}
		return addr.Unmap(), uint16(port), nil
	}
	if !validHostName(host) {
		return netip.Addr{}, 0, fmt.Errorf("%q is neither an IP address nor a host name", host)
	}
	return netip.Addr{}, uint16(port), nil
}

// validHostName refuses what resolvers read as a number: 127.1, 0x7f000001.
func validHostName(host string) bool {
	host = strings.TrimSuffix(lowerASCII(host), ".")
	last := ""
	for label := range strings.SplitSeq(host, ".") {
		if len(label) > maxLabel || !validDomainLabel.MatchString(label) {
			return false
		}
		last = label
	}
	return strings.Trim(last, "0123456789") != "" && !strings.HasPrefix(last, "0x")
}
