package caddymodule

// What registers itself: the features of this build.
import (
	_ "github.com/gatehouse-proxy/gatehouse/caddymodule/admin" // admin.api.gatehouse
	_ "github.com/gatehouse-proxy/gatehouse/caddymodule/cli"   // the command gatehouse
	_ "github.com/gatehouse-proxy/gatehouse/caddymodule/schema"
	_ "github.com/gatehouse-proxy/gatehouse/caddymodule/setup"
	_ "github.com/gatehouse-proxy/gatehouse/caddymodule/viewer"
	_ "github.com/gatehouse-proxy/gatehouse/handlers/agents"
	_ "github.com/gatehouse-proxy/gatehouse/handlers/audio"
	_ "github.com/gatehouse-proxy/gatehouse/handlers/authserver"
	_ "github.com/gatehouse-proxy/gatehouse/handlers/console"
	_ "github.com/gatehouse-proxy/gatehouse/handlers/gemini"
	_ "github.com/gatehouse-proxy/gatehouse/handlers/keys"
	_ "github.com/gatehouse-proxy/gatehouse/handlers/mcp"
	_ "github.com/gatehouse-proxy/gatehouse/handlers/openapi"
	_ "github.com/gatehouse-proxy/gatehouse/handlers/recordings"
	_ "github.com/gatehouse-proxy/gatehouse/handlers/vncsocket"
	_ "github.com/gatehouse-proxy/gatehouse/l4vnc" // the layer-4 handler
)

// The features that have work of their own.
import (
	"github.com/gatehouse-proxy/gatehouse/internal/features/agents"
	programs "github.com/gatehouse-proxy/gatehouse/internal/features/authserver"
	"github.com/gatehouse-proxy/gatehouse/internal/features/cluster"
	"github.com/gatehouse-proxy/gatehouse/internal/features/console"
	people "github.com/gatehouse-proxy/gatehouse/internal/features/identity"
	"github.com/gatehouse-proxy/gatehouse/internal/features/mcp"
	"github.com/gatehouse-proxy/gatehouse/internal/features/recordings"
	makekeys "github.com/gatehouse-proxy/gatehouse/internal/features/runtimekeys"
	"github.com/gatehouse-proxy/gatehouse/internal/features/signin"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
	"github.com/gatehouse-proxy/gatehouse/internal/recording"
	"github.com/gatehouse-proxy/gatehouse/internal/runtimekeys"
	"github.com/gatehouse-proxy/gatehouse/internal/screen"
	"github.com/gatehouse-proxy/gatehouse/internal/toolserver"
)

// features is what the blocks of features say.
type features struct {
	made       *runtimekeys.Block  // nil: no keys are made at run time
	identities *people.Config      // nil: none
	signIns    *signin.Config      // nil: nobody signs in at one
	oauth      *programs.Config    // nil: nobody signs in to programs
	cluster    *cluster.Config     // nil: the gateway is the only one
	recorded   *recording.Settings // nil: no session is
	tools      *toolserver.Servers // nil: none
	automation screen.Limits
}

// list makes the features of a configuration, in the order in which they start.
func (f features) list(c gateway.Core) []gateway.Feature {
	tools := mcp.New(c, f.tools)
	var all []gateway.Feature
	var identities, signIns gateway.Feature
	if f.identities != nil { // before the keys: these may ask a database
		identities = people.Feature(c, f.identities)
		if all = append(all, identities); f.signIns != nil {
			signIns = signin.Feature(c, identities, f.signIns)
			all = append(all, signIns, signin.ConsoleFeature(signIns))
		}
	}
	return append(all,
		programs.Feature(c, f.oauth, identities, signIns),
		makekeys.Feature(c, f.made),
		cluster.Feature(c),
		recordings.Feature(c, f.recorded),
		tools.Feature(),
		agents.Feature(c, tools, f.automation),
		console.Feature(c),
	)
}
