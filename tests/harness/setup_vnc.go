package harness

import "strings"

// VNCDomain is the base of the addresses in every setup with desktops.
const VNCDomain = "vnc.localhost"

// DeskPassword is the workstations' password. Of it VNC authentication uses the first 8 characters.
const DeskPassword = "wk-canary-4a7d91e0c35b"

// vncKeyNames are the keys of a setup with desktops, besides its own.
var vncKeyNames = []string{"desk", "connect", "manage", "foreign", "agent"}

// VNCKeys are the keys of a setup with desktops, besides its own.
const VNCKeys = `
	key desk {
		secret {env.KEY_DESK}
		scopes workstations:connect workstations:manage activity:read
	}
	key connect {
		secret {env.KEY_CONNECT}
		scopes workstations:connect
	}
	key manage {
		secret {env.KEY_MANAGE}
		scopes workstations:manage
	}
	key agent {
		secret {env.KEY_AGENT}
		scopes workstations:automate
	}
	key foreign {
		secret {env.KEY_FOREIGN}
		scopes workstations:connect workstations:manage workstations:automate activity:read
		tenant other
	}
`

// vncBlock is what a setup with desktops adds to the gatehouse block.
func (s Setup) vncBlock() string {
	if s.VNC == "" {
		return ""
	}
	domain := ""
	if !strings.Contains(s.VNC, "domain ") {
		domain = "domain " + VNCDomain + "\n"
	}
	vnc := "vnc {\nport VNC_PORT\n" + domain + s.VNC + "\n}\n"
	if s.NoKeys {
		return vnc
	}
	return VNCKeys + vnc
}

// layer4Block is the layer4 app of a setup with desktops.
func (s Setup) layer4Block() string {
	if s.VNC == "" || s.NoLayer4 {
		return ""
	}
	route := s.Route
	if route == "" {
		if !strings.Contains(s.VNCHandler, "tls_first_wait") {
			s.VNCHandler = WaitForTLS + s.VNCHandler
		}
		route = "vnc {\n" + s.VNCHandler + "\n}"
	}
	return "layer4 {\n127.0.0.1:VNC_PORT {\nroute {\n" + route + "\n}\n}\n}"
}

// logLevel is INFO with TLS: at DEBUG Caddy v2.11.9 emits the events of
// certificates before its tls app is started, and reads that app while it
// starts, which the race detector sees.
func (s Setup) logLevel() string {
	if s.VNC == "" && !s.Secure {
		return "DEBUG"
	}
	return "INFO"
}

// WaitForTLS is for viewers that all begin with TLS: the layer-4 handler can wait long, as the
// machine may be busy.
const WaitForTLS = "tls_first_wait 20s\n"
