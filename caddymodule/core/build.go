package core

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/memory"
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall"
	"github.com/gatehouse-proxy/gatehouse/internal/policy"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
	"github.com/gatehouse-proxy/gatehouse/internal/upload"
)

// Build is a configuration that becomes a gateway's. The core has checked and resolved its part
// before features add theirs.
type Build struct {
	Ctx      caddy.Context
	Settings *Settings
	Config   gateway.Config
	DataDir  string // where the gateway keeps its data

	state       *gateway.State
	credentials *heldCredentials
	all         features // of the build

	accounts   *accounts
	guardrails guardNames
	belongs    map[string]bool // tenants that have keys or roles
	anyTenant  bool            // keys of all tenants can be made
	maxBody    int64
	allowances []Tenant // of all blocks
	added      []newFeature
}

// newFeature makes a feature of a gateway, after those before it.
type newFeature func(c gateway.Core, before []gateway.Feature) gateway.Feature

// build turns the configuration into the gateway's: it resolves secrets, reads files and checks
// everything. Errors name what is wrong and never a secret.
func (a *App) build() (*Build, error) {
	b := &Build{Ctx: a.ctx, Settings: &a.Settings, DataDir: a.stateDir, state: a.state, credentials: a.credentials, all: a.allFeatures()}
	for _, step := range []func() error{b.callers, b.models, b.bounds, b.desktops, b.addFeatures, b.check} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	c := &b.Config
	c.Secrets, c.SecretFiles = append(c.Secrets, b.accounts.secrets...), append(b.accounts.files, c.SecretFiles...)
	c.Features = func(core gateway.Core) (all []gateway.Feature) {
		for _, add := range b.added {
			all = append(all, add(core, all))
		}
		return all
	}
	c.State, c.Logger, c.Now, c.NoEndUser = a.state, a.logger, time.Now, a.Activity.NoEndUser
	return b, nil
}

// callers are the keys, and what limits them.
func (b *Build) callers() error {
	specs, secrets, err := keySpecs(b, b.Ctx.Logger())
	if err != nil {
		return err
	}
	if b.Config.Keyring, err = keys.NewKeyring(specs); err != nil {
		return err
	}
	b.Config.Secrets = secrets
	if b.Config.Limits, err = buildLimits(b); err != nil {
		return err
	}
	return buildGuardrails(b)
}

// models are the providers and their models.
func (b *Build) models() error {
	a, c := b.Settings, &b.Config
	models, err := readCatalogs(a.Catalogs)
	if err != nil {
		return err
	}
	providers, err := buildProviders(b.Ctx, a.Providers, models, b.credentials, b.all)
	if err != nil {
		return err
	}
	b.accounts = &providers.accounts
	if c.Catalog, err = catalog.NewCatalog(append(models, providers.models...), providers.sources); err != nil {
		return fmt.Errorf("catalog: %w", err)
	}
	c.Providers, c.Discover, c.Aliases = providers.providers, providers.discover, a.Aliases.build()
	c.Timeouts, err = a.Timeouts.resolve()
	return err
}

// bounds are those of memory.
func (b *Build) bounds() error {
	a, c := b.Settings, &b.Config
	c.BodyMemory = cmp.Or(a.BodyMemory, memory.Default(upload.MinMemory))
	if c.BodyMemory < upload.MinMemory {
		return fmt.Errorf("body_memory: %d bytes is too small for one body of the largest size; at least %d are needed", c.BodyMemory, upload.MinMemory)
	}
	c.AnswerMemory = cmp.Or(a.AnswerMemory, memory.Default(modelcall.MinAnswers))
	if c.AnswerMemory < modelcall.MinAnswers {
		return fmt.Errorf("answer_memory: %d bytes is too small for one answer of the largest size; at least %d are needed",
			c.AnswerMemory, modelcall.MinAnswers)
	}
	b.MaxBody(c.Limits.MaxBody())
	return nil
}

// desktops are the workstations.
func (b *Build) desktops() (err error) {
	a := b.Settings
	var logins []string
	if b.Config.Workstations, logins, err = a.VNC.build(b.Ctx, b.state, sessionLevels(a.Tenants, a.Keys), b.all); err != nil {
		return fmt.Errorf("vnc: %w", err)
	}
	b.Hide(logins...)
	return nil
}

// addFeatures lets all features of the build add to it.
func (b *Build) addFeatures() error {
	for _, k := range kinds {
		for _, f := range b.all {
			if f.name == k.name {
				if err := f.Members.(Feature).Build(b); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// allFeatures are those of the app and of vnc.
func (a *App) allFeatures() features {
	if a.VNC == nil {
		return append(a.features, newFeatures(InVNC)...)
	}
	return append(a.features, a.VNC.features...)
}

// check is what can only be said of the whole.
func (b *Build) check() error {
	for _, t := range b.Settings.Tenants {
		if !b.belongs[t.Name] && !b.anyTenant {
			return fmt.Errorf("tenant %q: no key belongs to it", t.Name)
		}
	}
	if b.Config.BodyMemory < 2*b.maxBody {
		return fmt.Errorf("max_body %d: body_memory, %d bytes, is too small for one body of that size; it must be at least twice max_body",
			b.maxBody, b.Config.BodyMemory)
	}
	if err := b.guardrails.unused(); err != nil {
		return err
	}
	if !b.Several() {
		return nil
	}
	for _, n := range b.allowances {
		for _, text := range n.Budgets {
			if budget, err := limits.ParseBudget(text); err != nil || budget.Limit > limits.MaxSharedBudget {
				return errors.Join(err, fmt.Errorf("cluster: %s: budget %q: in a cluster a budget is at most 9000000usd, or 9000000000M tokens", n.Name, text))
			}
		}
	}
	return nil
}

// Add adds a feature to the gateway. New is called once, with those before it.
func (b *Build) Add(new newFeature) { b.added = append(b.added, new) }

// Hide keeps secrets out of texts of providers.
func (b *Build) Hide(secrets ...string) { b.Config.Secrets = append(b.Config.Secrets, secrets...) }

// Endpoint resolves what lets the gateway in at a server. Its secrets are kept out of texts.
// Resource is the URI of the server for tokens.
func (b *Build) Endpoint(owner string, account Account, resource string) (provider.EndpointConfig, error) {
	return b.accounts.endpoint(owner, account, resource)
}

// MaxBody says that a body may have that many bytes.
func (b *Build) MaxBody(bytes int64) { b.maxBody = max(b.maxBody, bytes) }

// Serves reports whether there is an MCP server with a name.
func (b *Build) Serves(server string) bool {
	servers, ok := Offer[interface{ Serves(name string) bool }](b)
	return ok && servers.Serves(server)
}

// Several reports whether the gateway is one of several.
func (b *Build) Several() bool {
	cluster, ok := Offer[interface{ Several() bool }](b)
	return ok && cluster.Several()
}

// InOtherCluster reports whether this process is a node of a cluster already, with another data
// directory.
func (b *Build) InOtherCluster() bool { return otherCluster(b.DataDir) }

// Made says that there are callers whom the configuration does not list: of one tenant, or of any
// (""). They have the limits of their tenant, too.
func (b *Build) Made(tenant string) error {
	b.belongs[tenant], b.anyTenant = true, b.anyTenant || tenant == ""
	return shareLimits(b.Settings, b.Config.Limits)
}

// Budgets notes the budgets of a block, which are bounded where gateways share them.
func (b *Build) Budgets(of string, a Allowance) {
	b.allowances = append(b.allowances, Tenant{Name: of, Allowance: a})
}

// shareLimits adds the limits of every tenant, for keys that the configuration does not have: all
// that it has may have limits of their own.
func shareLimits(a *Settings, shared *policy.Limits) error {
	if shared.OtherTenants != nil {
		return nil
	}
	everybody, err := Subject(a.Allowance, policy.GatewaySubject())
	if err != nil {
		return err
	}
	shared.OtherTenants = &policy.KeyLimits{Subjects: []limits.Subject{everybody}}
	for _, t := range a.Tenants {
		if shared.Tenants[t.Name] != nil {
			continue
		}
		tenant, err := Subject(t.Allowance, policy.TenantSubject(t.Name))
		if err != nil {
			return err
		}
		shared.Tenants[t.Name] = &policy.KeyLimits{Tenant: t.Name, Subjects: []limits.Subject{tenant, everybody}}
	}
	return nil
}
