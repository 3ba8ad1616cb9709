package core

import (
	"fmt"
	"net"
	"net/netip"
	"strings"
	"sync/atomic"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/mholt/caddy-l4/layer4"

	"github.com/gatehouse-proxy/gatehouse/internal/ports"
)

// started is set once a configuration of this process has started: later ones share its ports.
var started atomic.Bool

// freeServers is freePorts for all servers, and for what listens already, such as the admin
// endpoint. All apps must be provisioned.
func freeServers(ctx caddy.Context) error {
	var addresses []string
	if module, err := ctx.AppIfConfigured("http"); err == nil {
		for _, server := range module.(*caddyhttp.App).Servers {
			addresses = append(addresses, server.Listen...)
		}
	}
	if module, err := ctx.AppIfConfigured("layer4"); err == nil {
		for _, server := range module.(*layer4.App).Servers {
			addresses = append(addresses, server.Listen...)
		}
	}
	return freePorts(addresses)
}

// freePorts refuses addresses at which another process listens, at the start of this one.
func freePorts(addresses []string) error {
	if started.Load() {
		return nil
	}
	var all []netip.AddrPort
	for _, text := range addresses {
		all = append(all, tcpAddresses(caddy.NewReplacer().ReplaceAll(text, ""))...)
	}
	ours, other := ports.Taken(all)
	if other == nil {
		return nil
	}
	at := ours.String()
	if other.Address != ours {
		at += " (there " + other.Address.String() + ")"
	}
	return fmt.Errorf("%s is in use by %s: end that process or choose another port; with share_ports in gatehouse { … } both take connections", at, other)
}

// tcpAddresses returns what Caddy's TCP listeners of an address will have. Other addresses, and
// those that cannot be read, are left to the app that listens.
func tcpAddresses(text string) (all []netip.AddrPort) {
	address, err := caddy.ParseNetworkAddress(text)
	if err != nil || !strings.HasPrefix(address.Network, "tcp") {
		return nil
	}
	for offset := range address.PortRangeSize() {
		resolved, err := net.ResolveTCPAddr(address.Network, address.JoinHostPort(offset))
		if err != nil {
			return nil
		}
		ip := resolved.AddrPort().Addr().Unmap()
		if !ip.IsValid() { // all of them
			ip = unspecified(address.Network)
		}
		all = append(all, netip.AddrPortFrom(ip, uint16(resolved.Port)))
	}
	return all
}

func unspecified(network string) netip.Addr {
	if network == "tcp4" {
		return netip.IPv4Unspecified()
	}
	return netip.IPv6Unspecified()
}
