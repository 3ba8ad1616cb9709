//go:build linux

package main

import "fmt"

// benchWorkstation is the workstation that the gateway knows.
const benchWorkstation = "desk1"

// ownCertificate makes Caddy load the certificate that all servers show. It belongs to a site that
// nobody calls.
func ownCertificate(s site) string {
	return fmt.Sprintf(`https://*.%s:%d {
	bind 127.0.0.1
	tls %q %q
	respond 204
}
`, vncDomain, s.guarded, s.cert.cert, s.cert.key)
}

// l4Caddyfile is the alternative to the gateway: caddy-l4's own tls and proxy. Viewers come to the secure port.
func l4Caddyfile(s site) string {
	return globalOptions(s, fmt.Sprintf(`	layer4 {
		127.0.0.1:%d {
			route {
				tls
				proxy %s
			}
		}
	}
`, s.secure, s.upstream)) + ownCertificate(s)
}

// gatewayVNCCaddyfile is the gateway with one workstation. Everything that is on by default stays
// on; sharing allows many sessions of one workstation.
func gatewayVNCCaddyfile(s site) string {
	return globalOptions(s, fmt.Sprintf(`	gatehouse {
		key bench {
			secret {env.%s}
			scopes workstations:connect
		}
		key audit {
			secret {env.%s}
			scopes activity:read
		}
		vnc {
			domain %s
			port %d
			on_conflict share
			workstation %s %s
		}
	}
	layer4 {
		127.0.0.1:%d {
			route {
				vnc
			}
		}
	}
`, gatewayKeyVar, auditKeyVar, vncDomain, s.secure, benchWorkstation, s.upstream, s.secure)) + ownCertificate(s) + fmt.Sprintf(`http://:%d {
	bind 127.0.0.1
	gatehouse
}
`, s.port)
}
