package core

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"slices"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddytls"

	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
)

// Sources of a workstation.
const (
	sourceStatic   = "static"
	sourceTestCard = "test_card"
)

// The default of fps.
const defaultFPS = 30

// build builds the service of the workstations, nil without any, and returns the
// secrets in the configuration.
func (v *VNC) build(ctx caddy.Context, state *gateway.State, levels desktop.Levels, all features) (*desktop.Service, []string, error) {
	if v == nil {
		return nil, nil, nil
	}
	if v.Drain < 0 {
		return nil, nil, errors.New("drain: the duration is negative")
	}
	policy, err := v.policy()
	if err != nil {
		return nil, nil, err
	}
	var secrets []string
	policy.Credentials = make(map[string]desktop.Credential, len(v.Credentials))
	for _, c := range v.Credentials {
		if _, twice := policy.Credentials[c.Name]; twice || c.Name == "" {
			return nil, nil, fmt.Errorf("credential %q: the name is missing or given twice", c.Name)
		}
		login, err := c.build(ctx)
		if err != nil {
			return nil, nil, err
		}
		secrets = append(secrets, login.Password, login.Root)
		policy.Credentials[c.Name] = login
	}
	var specs []desktop.Spec
	for _, w := range v.Workstations {
		target, err := w.target(ctx, all, fmt.Sprintf("workstation %q", w.Name))
		if err != nil {
			return nil, nil, err
		}
		secrets = append(secrets, target.Password)
		id := desktop.ID{Tenant: w.Tenant, Name: w.Name}
		if id.Tenant == "" {
			id.Tenant = keys.DefaultTenant
		}
		target.Session = w.Session
		specs = append(specs, desktop.Spec{ID: id, Target: target})
	}
	var sources []desktop.Source
	if feature, ok := offerOf[Sources](v.features); ok {
		var more []string
		if sources, more, err = feature.BuildSources(ctx, state.Workstations.Node); err != nil {
			return nil, nil, err
		}
		secrets = append(secrets, more...)
	}
	service, err := desktop.New(desktop.Config{
		Policy: policy, Levels: levels, Workstations: specs, Sources: sources, State: state.Workstations, Storage: ctx.Storage(), Random: rand.Reader,
		Emit: state.Emit, Observed: state.Observed,
	})
	if err != nil {
		return nil, nil, err
	}
	if warning := service.Policy().Warning(); warning != "" {
		ctx.Logger().Warn(warning)
	}
	return service, slices.DeleteFunc(secrets, func(s string) bool { return s == "" }), nil
}

// Sources is a feature that has control planes for workstations.
type Sources interface {
	// BuildSources returns them, and the secrets in them. Node is the name of this gateway among
	// several.
	BuildSources(ctx caddy.Context, node func() string) (built []desktop.Source, secrets []string, err error)
}

// TestCard is a feature that serves the desktop of workstations that are a test card.
type TestCard interface {
	// TestCard is as [desktop.Target] has it.
	TestCard(ctx context.Context, conn net.Conn, name string) error
}

func (w *Workstation) target(ctx caddy.Context, all features, owner string) (desktop.Target, error) {
	none := desktop.Target{}
	switch w.Source {
	case sourceTestCard:
		if w.Address != "" || w.Login != (Login{}) {
			return none, fmt.Errorf("%s: the test card takes no address, user, password or tls", owner)
		}
		card, ok := offerOf[TestCard](all)
		if !ok {
			return none, fmt.Errorf("%s: %w", owner, NotInBuild(sourceTestCard, "demo"))
		}
		return desktop.Target{TestCard: card.TestCard}, nil
	case "", sourceStatic:
	default:
		return none, fmt.Errorf("%s: source %q: want %s or %s", owner, w.Source, sourceStatic, sourceTestCard)
	}
	host, _, err := net.SplitHostPort(w.Address)
	if err != nil || host == "" {
		return none, fmt.Errorf("%s: address %q: want host:port", owner, w.Address)
	}
	login, err := w.login(ctx, owner, host)
	return desktop.Target{Address: w.Address, User: login.User, Password: login.Password, TLS: login.TLS}, err
}

// minRoot is the shortest secret from which passwords are derived: whoever guesses it has all of
// them.
const minRoot = 16

// build resolves a login that registrations can name.
func (c *Credential) build(ctx caddy.Context) (desktop.Credential, error) {
	owner, login := fmt.Sprintf("credential %q", c.Name), c.Login
	if c.Derive != "" {
		if c.Password != "" {
			return desktop.Credential{}, fmt.Errorf("%s: give a password or derive, not both", owner)
		}
		login.Password = c.Derive
	}
	out, err := login.login(ctx, owner, "")
	out.Tenants = c.Tenants
	if c.Derive != "" && err == nil {
		if len(out.Password) < minRoot {
			return out, fmt.Errorf("%s: derive: the secret has %d characters; give it at least %d", owner, len(out.Password), minRoot)
		}
		out.Password, out.Root = "", out.Password
	}
	return out, err
}

// login resolves how the gateway logs in to a VNC server.
func (l *Login) login(ctx caddy.Context, owner, host string) (desktop.Credential, error) {
	out := desktop.Credential{User: l.User}
	var err error
	if l.Password != "" {
		if out.Password, err = ResolveSecret(ctx.Logger(), owner, l.Password); err != nil {
			return out, err
		}
	}
	if l.User != "" && (l.TLS == nil || l.Password == "") {
		return out, fmt.Errorf("%s: a user is sent only inside TLS and with a password: give both, or no user", owner)
	}
	if out.TLS, err = l.TLS.build(ctx, host); err != nil {
		return out, fmt.Errorf("%s: tls: %w", owner, err)
	}
	return out, nil
}

// records reports whether there is where sessions can be recorded.
func (v *VNC) records() bool {
	recorder, ok := offerOf[interface{ Records() bool }](v.features)
	return ok && recorder.Records()
}

// sessionLevels returns the session rules of tenants and keys.
func sessionLevels(tenants []Tenant, all []Key) desktop.Levels {
	levels := desktop.Levels{Tenants: map[string]desktop.SessionRules{}, Keys: map[desktop.KeyName]desktop.SessionRules{}}
	for _, t := range tenants {
		levels.Tenants[t.Name] = t.Session
	}
	for _, k := range all {
		if k.Session != (desktop.SessionRules{}) {
			levels.Keys[desktop.KeyName{Tenant: TenantOf(k.Rights), Key: k.Name}] = k.Session
		}
	}
	return levels
}

func (v *VNC) policy() (desktop.Policy, error) {
	p := desktop.Policy{
		Domain: v.Domain, Port: v.Port,
		ConnectWithin: time.Duration(v.ConnectWithin), ReconnectWithin: time.Duration(v.ReconnectWithin),
		MaxDuration: time.Duration(v.MaxDuration),
		MaxTokens:   v.MaxTokens, MaxSessions: v.MaxSessions, MaxRegistered: v.MaxRegistered,
		PinClient: v.PinClient, VNCAuth: v.VNCAuth, ViewOnly: v.ViewOnly, FixedSize: v.FixedSize, Records: v.records(),
		ReturnAfter: time.Duration(v.ReturnAfter), ScreenshotsDuringHold: v.ScreenshotsDuringHold,
	}
	options := desktop.SessionRules{
		Automation: v.Automation,
		FPS:        max(v.FPS, 0), NoClipboardIn: v.ClipboardIn != nil && !*v.ClipboardIn, IdleTimeout: time.Duration(v.IdleTimeout),
	}
	if v.FPS == 0 {
		options.FPS = defaultFPS
	}
	p.Session = v.Session.Within(options)
	switch v.OnConflict {
	case "", "refuse":
		p.OnConflict = desktop.Refuse
	case "replace":
		p.OnConflict = desktop.Replace
	case "share":
		p.OnConflict = desktop.Share
	default:
		return p, fmt.Errorf("on_conflict %q: want refuse, replace or share", v.OnConflict)
	}
	var err error
	if p.Networks, err = ParseNetworks("register_networks", v.RegisterNetworks); err != nil {
		return p, err
	}
	p.Ports, err = ParsePorts("register_ports", v.RegisterPorts)
	return p, err
}

// build returns the TLS configuration for a VNC server, nil without TLS.
func (t *ServerTLS) build(ctx caddy.Context, host string) (*tls.Config, error) {
	if t == nil {
		return nil, nil
	}
	if t.PinnedKey != "" && (t.TrustPoolRaw != nil || t.ServerName != "") {
		return nil, errors.New("pinned_key: a pinned key needs neither trust_pool nor server_name")
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: t.ServerName}
	if config.ServerName == "" {
		config.ServerName = host
	}
	if t.TrustPoolRaw != nil {
		module, err := ctx.LoadModule(t, "TrustPoolRaw")
		if err != nil {
			return nil, fmt.Errorf("trust_pool: %w", err)
		}
		pool, ok := module.(caddytls.CA)
		if !ok {
			return nil, fmt.Errorf("trust_pool: a %T is not a source of CA certificates", module)
		}
		config.RootCAs = pool.CertPool()
	}
	if t.PinnedKey == "" {
		return config, nil
	}
	return config, desktop.PinKey(config, t.PinnedKey)
}
