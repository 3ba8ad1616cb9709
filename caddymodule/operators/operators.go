// Package operators is the command gatehouse of Caddy, and the admin API that it asks.
package operators

import (
	_ "github.com/gatehouse-proxy/gatehouse/caddymodule/admin" // admin.api.gatehouse
	"github.com/gatehouse-proxy/gatehouse/caddymodule/check"
	"github.com/gatehouse-proxy/gatehouse/caddymodule/cli"
	"github.com/gatehouse-proxy/gatehouse/caddymodule/core"
	_ "github.com/gatehouse-proxy/gatehouse/caddymodule/login"  // the commands login and logout
	_ "github.com/gatehouse-proxy/gatehouse/caddymodule/schema" // the command schema
	_ "github.com/gatehouse-proxy/gatehouse/caddymodule/setup"  // the command init
)

func init() {
	cli.Add(newVersionCommand)
	core.AtStart(check.WarnOfLoggedKeys)
}
