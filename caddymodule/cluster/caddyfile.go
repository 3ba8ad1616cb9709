package cluster

import (
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/gatehouse-proxy/gatehouse/internal/caddykit"
)

// readCluster reads what several gateways share:
//
//	cluster NAME {
//		valkey URL…                          # several are nodes of a Valkey cluster
//		sentinel MASTER HOST[:PORT]… {
//			user NAME
//			password {env.NAME}
//		}
//		tls {
//			ca FILE…
//			client_cert CERT_FILE KEY_FILE
//			server_name NAME
//		}
//		postgres URL
//		node NAME
//	}
func readCluster(dst **Cluster) caddykit.Option {
	return caddykit.Option{Read: func(d *caddyfile.Dispenser) error {
		c := new(Cluster)
		*dst = c
		if !d.AllArgs(&c.Name) {
			return d.ArgErr()
		}
		return caddykit.Options{
			"valkey":   caddykit.Words(&c.Valkey),
			"sentinel": {Read: c.readSentinel},
			"tls":      {Read: c.readTLS},
			"postgres": caddykit.Word(&c.Postgres),
			"node":     caddykit.Word(&c.Node),
		}.Block(d)
	}}
}

func (c *Cluster) readSentinel(d *caddyfile.Dispenser) error {
	args := d.RemainingArgs()
	if len(args) < 2 {
		return d.ArgErr()
	}
	c.Sentinel = &Sentinel{Master: args[0], Addresses: args[1:]}
	return caddykit.Options{
		"user":     caddykit.Word(&c.Sentinel.User),
		"password": caddykit.Word(&c.Sentinel.Password),
	}.Block(d)
}

func (c *Cluster) readTLS(d *caddyfile.Dispenser) error {
	c.TLS = new(EngineTLS)
	return caddykit.Nested(caddykit.Options{
		"ca": caddykit.Words(&c.TLS.CA),
		"client_cert": {Read: func(d *caddyfile.Dispenser) error {
			if !d.AllArgs(&c.TLS.ClientCert, &c.TLS.ClientKey) {
				return d.ArgErr()
			}
			return nil
		}},
		"server_name": caddykit.Word(&c.TLS.ServerName),
	}).Read(d)
}
