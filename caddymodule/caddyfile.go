package caddymodule

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/caddyserver/caddy/v2/caddyconfig"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/dustin/go-humanize"

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
//		responses_websocket {
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
	return with(caddykit.Options{
		"key":          listed(&a.Keys, (*Key).read),
		"key_file":     caddykit.Words(&a.KeyFiles),
		"runtime_keys": single(&a.RuntimeKeys, (*RuntimeKeys).read),
		"role":         listed(&a.Roles, (*Role).read),
		"identity":     listed(&a.Identities, (*Identity).read),
		"provider":     listed(&a.Providers, (*Provider).read),
		"mcp":          listed(&a.MCP, (*MCPServer).read),
		"alias":        {Many: true, Read: a.Aliases.read},
		"tenant":       listed(&a.Tenants, (*Tenant).read),
		"model":        listed(&a.Models, (*ModelLimit).read),

		"guardrail":  listed(&a.Guardrails, (*Guardrail).read),
		"guardrails": caddykit.Words(&a.GuardrailsOnAll),

		"on_store_failure": caddykit.Word(&a.OnStoreFailure),
		"on_disconnect":    {Read: a.readDisconnect},

		"catalog":       caddykit.Words(&a.Catalogs),
		"data_dir":      caddykit.Word(&a.DataDir),
		"share_ports":   caddykit.Flag(&a.SharePorts),
		"answer_memory": caddykit.Value(&a.AnswerMemory, parseSize),
		"body_memory":   caddykit.Value(&a.BodyMemory, parseSize),
		"timeouts": block(caddykit.Options{
			"body":         caddykit.Value(&a.Timeouts.Body, caddykit.ParseDuration),
			"header":       caddykit.Value(&a.Timeouts.Header, caddykit.ParseDuration),
			"first_byte":   caddykit.Value(&a.Timeouts.FirstByte, caddykit.ParseDuration),
			"idle":         caddykit.Value(&a.Timeouts.Idle, caddykit.ParseDuration),
			"call":         caddykit.Value(&a.Timeouts.Call, caddykit.ParseDuration),
			"commit_after": caddykit.Value(&a.Timeouts.CommitAfter, caddykit.ParseDuration),
			"write":        caddykit.Value(&a.Timeouts.Write, caddykit.ParseDuration),
			"heartbeat":    caddykit.Value(&a.Timeouts.Heartbeat, caddykit.ParseDuration),
		}),
		"activity": block(caddykit.Options{
			"keep":        caddykit.Value(&a.Activity.Age, caddykit.ParseDuration),
			"keep_series": caddykit.Value(&a.Activity.Series, caddykit.ParseDuration),
			"max_size":    caddykit.Value(&a.Activity.Size, parseSize),
			"no_end_user": caddykit.Flag(&a.Activity.NoEndUser),
		}),
		"responses_websocket": single(&a.WebSocket, (*ResponsesWebSocket).read),

		"vnc":     single(&a.VNC, (*VNC).read),
		"cluster": readCluster(&a.Cluster),
	}, a.Allowance.options()).Block(d)
}

// listed is an option that adds an element to a list; read reads it.
func listed[T any](list *[]T, read func(*T, *caddyfile.Dispenser) error) caddykit.Option {
	return caddykit.Option{Many: true, Read: func(d *caddyfile.Dispenser) error {
		var element T
		err := read(&element, d)
		*list = append(*list, element)
		return err
	}}
}

// single is an option that sets a pointer; read reads what it points to.
func single[T any](dst **T, read func(*T, *caddyfile.Dispenser) error) caddykit.Option {
	return caddykit.Option{Read: func(d *caddyfile.Dispenser) error {
		*dst = new(T)
		return read(*dst, d)
	}}
}

// block is an option that has its own block.
func block(options caddykit.Options) caddykit.Option {
	return caddykit.Option{Read: func(d *caddyfile.Dispenser) error {
		if d.NextArg() {
			return d.ArgErr()
		}
		return options.Block(d)
	}}
}

// parseSize parses a number of bytes with a unit: 512MiB, 10GB.
func parseSize(text string) (int64, error) {
	size, err := humanize.ParseBytes(strings.TrimSpace(text))
	if err != nil || size == 0 || size > 1<<62 {
		return 0, fmt.Errorf("size %s: want bytes with a unit, such as 512MiB", strconv.Quote(text))
	}
	return int64(size), nil
}

var _ caddyfile.Unmarshaler = (*App)(nil)
