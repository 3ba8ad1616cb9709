package core

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
)

// ParseNetworks reads networks (CIDR) of an option.
func ParseNetworks(option string, texts []string) (networks []netip.Prefix, err error) {
	for _, text := range texts {
		prefix, err := netip.ParsePrefix(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %q: want a network such as 10.0.0.0/8", option, text)
		}
		networks = append(networks, prefix)
	}
	return networks, nil
}

// ParsePorts reads ports: one, or the first and last of several.
func ParsePorts(option string, texts []string) (ports desktop.Ports, err error) {
	for _, text := range texts {
		low, high, several := strings.Cut(text, "-")
		if !several {
			high = low
		}
		first, err := strconv.ParseUint(low, 10, 16)
		last, err2 := strconv.ParseUint(high, 10, 16)
		if err != nil || err2 != nil || first == 0 || last < first {
			return nil, fmt.Errorf("%s: %q: want a port such as 5901, or ports such as 5900-5999", option, text)
		}
		ports = append(ports, desktop.PortRange{First: uint16(first), Last: uint16(last)})
	}
	return ports, nil
}
