package provider

import "strconv"

// Host is the host of the address, and its port if that is not the scheme's own.
func (e *Endpoint) Host() string { return e.base.Host }

// Address is the host of the address, without brackets, and its port.
func (e *Endpoint) Address() (host string, port int) {
	if port, err := strconv.Atoi(e.base.Port()); err == nil {
		return e.base.Hostname(), port
	}
	if e.base.Scheme == "http" {
		return e.base.Hostname(), 80
	}
	return e.base.Hostname(), 443
}
