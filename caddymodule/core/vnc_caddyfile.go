package core

import (
	"github.com/caddyserver/caddy/v2/caddyconfig"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddytls"

	"github.com/gatehouse-proxy/gatehouse/internal/caddykit"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
)

// read reads the configuration of desktops:
//
//	vnc {
//		domain NAME
//		port NUMBER
//		workstation NAME [HOST:PORT] { … }   # any number
//		credential NAME { … }                # any number
//		source NAME { … }                    # any number
//		register_networks CIDR…
//		register_ports NUMBER|FIRST-LAST…
//		connect_within | reconnect_within | max_duration | idle_timeout | drain DURATION
//		on_conflict refuse|replace|share
//		return_after DURATION
//		screenshots_during_hold on|off
//		max_tokens | max_sessions | max_registered NUMBER
//		pin_client
//		vncauth on|off
//		view_only
//		fixed_size
//		fps NUMBER|off
//		clipboard_in on|off
//		record { … }
//		automation off|view|control
//		automation_memory SIZE
//		automation_sessions NUMBER
//		session { … }
//	}
func (v *VNC) read(d *caddyfile.Dispenser) error {
	if d.NextArg() {
		return d.ArgErr()
	}
	v.features = newFeatures(InVNC)
	return v.features.read(InVNC, caddykit.Options{
		"domain":            caddykit.Word(&v.Domain),
		"port":              caddykit.Value(&v.Port, caddykit.ParseCount),
		"workstation":       {Many: true, Read: v.readWorkstation},
		"credential":        {Many: true, Read: v.readCredential},
		"register_networks": caddykit.Words(&v.RegisterNetworks),
		"register_ports":    caddykit.Words(&v.RegisterPorts),
		"max_registered":    caddykit.Value(&v.MaxRegistered, caddykit.ParseCount),
		"connect_within":    caddykit.Value(&v.ConnectWithin, caddykit.ParseDuration),
		"reconnect_within":  caddykit.Value(&v.ReconnectWithin, caddykit.ParseDuration),
		"max_duration":      caddykit.Value(&v.MaxDuration, caddykit.ParseDuration),
		"idle_timeout":      caddykit.Value(&v.IdleTimeout, caddykit.ParseDuration),
		"drain":             caddykit.Value(&v.Drain, caddykit.ParseDuration),
		"on_conflict":       caddykit.Word(&v.OnConflict),
		"return_after":      caddykit.Value(&v.ReturnAfter, caddykit.ParseDuration),
		"max_tokens":        caddykit.Value(&v.MaxTokens, caddykit.ParseCount),
		"max_sessions":      caddykit.Value(&v.MaxSessions, caddykit.ParseCount),
		"pin_client":        caddykit.Flag(&v.PinClient),
		"vncauth":           caddykit.Value(&v.VNCAuth, caddykit.ParseSwitch),
		"view_only":         caddykit.Flag(&v.ViewOnly),
		"fixed_size":        caddykit.Flag(&v.FixedSize),
		"fps":               caddykit.Value(&v.FPS, parseFPS),
		"clipboard_in": {Read: func(d *caddyfile.Dispenser) error {
			v.ClipboardIn = new(bool)
			return caddykit.Value(v.ClipboardIn, caddykit.ParseSwitch).Read(d)
		}},
		"automation":              caddykit.Value(&v.Automation, desktop.ParseAutomation),
		"screenshots_during_hold": caddykit.Value(&v.ScreenshotsDuringHold, caddykit.ParseSwitch),

		"session": sessionOption(&v.Session),
	}, d)
}

// readWorkstation reads one workstation:
//
//	workstation NAME HOST:PORT {
//		tenant NAME
//		user NAME
//		password {env.NAME}
//		tls { … }
//		session { … }
//	}
//	workstation NAME {
//		tenant NAME
//		test_card
//		session { … }
//	}
func (v *VNC) readWorkstation(d *caddyfile.Dispenser) error {
	var w Workstation
	switch args := d.RemainingArgs(); len(args) {
	case 1:
		w.Name = args[0]
	case 2:
		w.Name, w.Address = args[0], args[1]
	default:
		return d.ArgErr()
	}
	testCard := false
	options := w.options()
	options["tenant"] = caddykit.Word(&w.Tenant)
	options["test_card"] = caddykit.Flag(&testCard)
	options["session"] = sessionOption(&w.Session)
	err := options.Block(d)
	if testCard {
		w.Source = sourceTestCard
	}
	v.Workstations = append(v.Workstations, w)
	return err
}

// readCredential reads one credential:
//
//	credential NAME {
//		tenants NAME…
//		derive {file./path}
//		user NAME
//		password {env.NAME}
//		tls { … }
//	}
func (v *VNC) readCredential(d *caddyfile.Dispenser) error {
	var c Credential
	if !d.AllArgs(&c.Name) {
		return d.ArgErr()
	}
	options := c.options()
	options["tenants"] = caddykit.Words(&c.Tenants)
	options["derive"] = caddykit.Word(&c.Derive)
	err := options.Block(d)
	v.Credentials = append(v.Credentials, c)
	return err
}

// options returns the options of a login; tls is a flag or a block:
//
//	tls {
//		trust_pool MODULE …
//		pinned_key sha256:HEX
//		server_name NAME
//	}
func (l *Login) options() caddykit.Options {
	return caddykit.Options{
		"user":     caddykit.Word(&l.User),
		"password": caddykit.Word(&l.Password),
		"tls": {Read: func(d *caddyfile.Dispenser) error {
			if d.NextArg() {
				return d.ArgErr()
			}
			l.TLS = new(ServerTLS)
			return caddykit.Options{
				"trust_pool":  {Read: l.TLS.readTrustPool},
				"pinned_key":  caddykit.Word(&l.TLS.PinnedKey),
				"server_name": caddykit.Word(&l.TLS.ServerName),
			}.Block(d)
		}},
	}
}

func (t *ServerTLS) readTrustPool(d *caddyfile.Dispenser) error {
	if !d.NextArg() {
		return d.ArgErr()
	}
	name := d.Val()
	module, err := caddyfile.UnmarshalModule(d, "tls.ca_pool.source."+name)
	if err != nil {
		return err
	}
	pool, ok := module.(caddytls.CA)
	if !ok {
		return d.Errf("%s is not a source of CA certificates", name)
	}
	t.TrustPoolRaw = caddyconfig.JSONModuleObject(pool, "provider", name, nil)
	return nil
}

func parseFPS(text string) (int, error) {
	if text == "off" {
		return -1, nil
	}
	return caddykit.ParseCount(text)
}
