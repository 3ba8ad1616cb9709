// Package caddymodule is what xcaddy imports: the gatehouse app with all its features. Package core
// is the app without them.
package caddymodule

// What registers itself.
import (
	_ "github.com/gatehouse-proxy/gatehouse/caddymodule/admin" // admin.api.gatehouse
	_ "github.com/gatehouse-proxy/gatehouse/caddymodule/cli"   // the command gatehouse
	_ "github.com/gatehouse-proxy/gatehouse/caddymodule/core"  // the app
	_ "github.com/gatehouse-proxy/gatehouse/caddymodule/schema"
	_ "github.com/gatehouse-proxy/gatehouse/caddymodule/setup"
	_ "github.com/gatehouse-proxy/gatehouse/caddymodule/viewer"
	_ "github.com/gatehouse-proxy/gatehouse/handlers/agents"
	_ "github.com/gatehouse-proxy/gatehouse/handlers/audio"
	_ "github.com/gatehouse-proxy/gatehouse/handlers/console"
	_ "github.com/gatehouse-proxy/gatehouse/handlers/gemini"
	_ "github.com/gatehouse-proxy/gatehouse/handlers/keys"
	_ "github.com/gatehouse-proxy/gatehouse/handlers/mcp"
	_ "github.com/gatehouse-proxy/gatehouse/handlers/openapi"
	_ "github.com/gatehouse-proxy/gatehouse/handlers/recordings"
	_ "github.com/gatehouse-proxy/gatehouse/handlers/vncsocket"
)
