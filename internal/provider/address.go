package provider

import (
	"net/url"
	"strconv"
)

// Host is the host of the address, and its port if that is not the scheme's own.
func (e *Endpoint) Host() string { return e.base.Host }

// Address is the host of the address, without brackets, and its port.
func (e *Endpoint) Address() (host string, port int) { return HostPort(&e.base) }

// HostPort returns the host of an address, without brackets, and its port.
func HostPort(u *url.URL) (host string, port int) {
	if port, err := strconv.Atoi(u.Port()); err == nil {
		return u.Hostname(), port
	}
	if u.Scheme == "http" {
		return u.Hostname(), 80
	}
	return u.Hostname(), 443
}
