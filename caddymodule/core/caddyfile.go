package core

import (
	"github.com/caddyserver/caddy/v2/caddyconfig"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"

	"github.com/gatehouse-proxy/gatehouse/internal/caddykit"
)

func init() {
	httpcaddyfile.RegisterGlobalOption(caddykit.AppName, parseGlobalOption)
}

func parseGlobalOption(d *caddyfile.Dispenser, existing any) (any, error) {
	if existing != nil {
		return nil, d.Errf("the global option %s is given twice", caddykit.AppName)
	}
	app := new(App)
	if err := app.UnmarshalCaddyfile(d); err != nil {
		return nil, err
	}
	return httpcaddyfile.App{Name: caddykit.AppName, Value: caddyconfig.JSON(app, nil)}, nil
}

// UnmarshalCaddyfile reads the global option:
//
//	gatehouse {
//		key NAME { … }          # any number
//		key_file FILE…
//		runtime_keys { … }
//		role NAME { … }         # any number
//		identity NAME { … }     # any number
//		origin URL
//		encryption_secret SECRET…
//		authorization_server { … }
//		provider NAME { … }     # any number
//		mcp NAME { … }          # any number
//		alias NAME { … }        # any number
//		tenant NAME { … }       # any number
//		model PATTERN { … }     # any number
//		guardrail NAME { … }    # any number
//		guardrails NAME…        # those that read every call
//		rate, concurrency, budget …
//		on_store_failure open | closed
//		on_disconnect cancel | drain DURATION
//		catalog FILE…
//		data_dir PATH
//		share_ports
//		body_memory SIZE
//		answer_memory SIZE
//		timeouts {
//			body | header | first_byte | idle | call | write | commit_after | heartbeat DURATION
//		}
//		activity {
//			keep DURATION
//			keep_series DURATION
//			max_size SIZE
//			no_end_user
//		}
//		responses_websocket|realtime {
//			connections N
//			per_key N
//		}
//		vnc { … }
//		cluster NAME { … }
//	}
func (a *App) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next()
	if d.NextArg() {
		return d.ArgErr()
	}
	a.features = newFeatures(InApp)
	return a.features.read(InApp, caddykit.With(caddykit.Options{
		"key":      caddykit.Listed(&a.Keys, (*Key).read),
		"key_file": caddykit.Words(&a.KeyFiles),
		"provider": caddykit.Listed(&a.Providers, (*Provider).read),
		"alias":    {Many: true, Read: a.Aliases.read},
		"tenant":   caddykit.Listed(&a.Tenants, (*Tenant).read),
		"model":    caddykit.Listed(&a.Models, (*ModelLimit).read),

		"guardrail":  caddykit.Listed(&a.Guardrails, (*Guardrail).read),
		"guardrails": caddykit.Words(&a.GuardrailsOnAll),

		"on_store_failure": caddykit.Word(&a.OnStoreFailure),
		"on_disconnect":    {Read: a.readDisconnect},

		"catalog":       caddykit.Words(&a.Catalogs),
		"data_dir":      caddykit.Word(&a.DataDir),
		"share_ports":   caddykit.Flag(&a.SharePorts),
		"answer_memory": caddykit.Value(&a.AnswerMemory, caddykit.ParseSize),
		"body_memory":   caddykit.Value(&a.BodyMemory, caddykit.ParseSize),
		"timeouts": caddykit.Nested(caddykit.Options{
			"body":         caddykit.Value(&a.Timeouts.Body, caddykit.ParseDuration),
			"header":       caddykit.Value(&a.Timeouts.Header, caddykit.ParseDuration),
			"first_byte":   caddykit.Value(&a.Timeouts.FirstByte, caddykit.ParseDuration),
			"idle":         caddykit.Value(&a.Timeouts.Idle, caddykit.ParseDuration),
			"call":         caddykit.Value(&a.Timeouts.Call, caddykit.ParseDuration),
			"commit_after": caddykit.Value(&a.Timeouts.CommitAfter, caddykit.ParseDuration),
			"write":        caddykit.Value(&a.Timeouts.Write, caddykit.ParseDuration),
			"heartbeat":    caddykit.Value(&a.Timeouts.Heartbeat, caddykit.ParseDuration),
		}),
		"activity": caddykit.Nested(caddykit.Options{
			"keep":        caddykit.Value(&a.Activity.Age, caddykit.ParseDuration),
			"keep_series": caddykit.Value(&a.Activity.Series, caddykit.ParseDuration),
			"max_size":    caddykit.Value(&a.Activity.Size, caddykit.ParseSize),
			"no_end_user": caddykit.Flag(&a.Activity.NoEndUser),
		}),
		"vnc": caddykit.Single(&a.VNC, (*VNC).read),
	}, a.Allowance.Options()), d)
}

var _ caddyfile.Unmarshaler = (*App)(nil)
