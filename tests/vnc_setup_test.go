package tests

import (
	"regexp"
	"strings"
)

// vncDomain is the base of the addresses in every setup with desktops.
const vncDomain = "vnc.localhost"

// deskPassword is the workstations' password. Of it VNC authentication uses the first 8 characters.
const deskPassword = "wk-canary-4a7d91e0c35b"

// vncKeyNames are the keys of a setup with desktops, besides its own.
var vncKeyNames = []string{"desk", "connect", "manage", "foreign"}

const vncKeys = `
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
	key foreign {
		secret {env.KEY_FOREIGN}
		scopes workstations:connect workstations:manage activity:read
		tenant other
	}
`

// vncBlock is what a setup with desktops adds to the gatehouse block.
func (s setup) vncBlock() string {
	if s.vnc == "" {
		return ""
	}
	domain := ""
	if !strings.Contains(s.vnc, "domain ") {
		domain = "domain " + vncDomain + "\n"
	}
	vnc := "vnc {\nport VNC_PORT\n" + domain + s.vnc + "\n}\n"
	if s.noKeys {
		return vnc
	}
	return vncKeys + vnc
}

// layer4Block is the layer4 app of a setup with desktops.
func (s setup) layer4Block() string {
	if s.vnc == "" || s.noLayer4 {
		return ""
	}
	route := s.route
	if route == "" {
		if !strings.Contains(s.vncHandler, "tls_first_wait") {
			s.vncHandler = wrapped + s.vncHandler
		}
		route = "vnc {\n" + s.vncHandler + "\n}"
	}
	return "layer4 {\n127.0.0.1:VNC_PORT {\nroute {\n" + route + "\n}\n}\n}"
}

// logLevel is INFO with TLS: at DEBUG Caddy v2.11.9 emits the events of
// certificates before its tls app is started, and reads that app while it
// starts, which the race detector sees.
func (s setup) logLevel() string {
	if s.vnc == "" && !s.secure {
		return "DEBUG"
	}
	return "INFO"
}

// How the layer-4 handler waits for TLS. It need not where all viewers of a test wait for the
// greeting, and it can wait long where all begin with TLS, as the machine may be busy.
const (
	silent  = "tls_first_wait off\n"
	wrapped = "tls_first_wait 20s\n"
	both    = "tls_first_wait 400ms\n" // the default
)

// dropKey is vncKeys without one of them.
func dropKey(name string) string {
	return regexp.MustCompile(`(?s)key `+name+` \{.*?\n\t\}`).ReplaceAllString(vncKeys, "")
}
