// Package caddymodule is what xcaddy imports: the gatehouse app with all its features. Package core
// is the app without them.
package caddymodule

// What registers itself.
import (
	_ "github.com/gatehouse-proxy/gatehouse/caddymodule/agents"
	_ "github.com/gatehouse-proxy/gatehouse/caddymodule/clouds"
	_ "github.com/gatehouse-proxy/gatehouse/caddymodule/cluster"
	_ "github.com/gatehouse-proxy/gatehouse/caddymodule/console"
	_ "github.com/gatehouse-proxy/gatehouse/caddymodule/demo"
	_ "github.com/gatehouse-proxy/gatehouse/caddymodule/gemini"
	_ "github.com/gatehouse-proxy/gatehouse/caddymodule/guardrails"
	_ "github.com/gatehouse-proxy/gatehouse/caddymodule/handover"
	_ "github.com/gatehouse-proxy/gatehouse/caddymodule/identity"
	_ "github.com/gatehouse-proxy/gatehouse/caddymodule/mcp"
	_ "github.com/gatehouse-proxy/gatehouse/caddymodule/operators"
	_ "github.com/gatehouse-proxy/gatehouse/caddymodule/recordings"
	_ "github.com/gatehouse-proxy/gatehouse/caddymodule/runtimekeys"
	_ "github.com/gatehouse-proxy/gatehouse/caddymodule/sockets"
	_ "github.com/gatehouse-proxy/gatehouse/caddymodule/sources"
	_ "github.com/gatehouse-proxy/gatehouse/caddymodule/viewer"
	_ "github.com/gatehouse-proxy/gatehouse/handlers/audio"
	_ "github.com/gatehouse-proxy/gatehouse/handlers/openapi"
	_ "github.com/gatehouse-proxy/gatehouse/handlers/vncsocket"
)
