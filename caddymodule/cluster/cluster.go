// Package cluster is the block cluster of the configuration: several gateways serve as one.
package cluster

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/caddymodule/core"
	"github.com/gatehouse-proxy/gatehouse/internal/caddykit"
	"github.com/gatehouse-proxy/gatehouse/internal/features/cluster"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
	"github.com/gatehouse-proxy/gatehouse/internal/postgres"
	"github.com/gatehouse-proxy/gatehouse/internal/secret"
	"github.com/gatehouse-proxy/gatehouse/internal/valkey"
)

//go:embed *.go
var sources embed.FS

func init() { core.Register("cluster", func() core.Feature { return new(Feature) }, sources) }

// Feature is the member of the app.
type Feature struct {
	// Cluster makes this gateway one of several that serve as one. Default: it is the only one.
	Cluster *Cluster `json:"cluster,omitempty"`
}

// Options implements [core.Feature].
func (f *Feature) Options() caddykit.Options {
	return caddykit.Options{"cluster": readCluster(&f.Cluster)}
}

// Several reports whether the gateway is one of several.
func (f *Feature) Several() bool { return f.Cluster != nil }

// Build implements [core.Feature].
func (f *Feature) Build(b *core.Build) error {
	if f.Cluster != nil && b.InOtherCluster() {
		return errors.New("data_dir has changed, which a reload cannot do in a cluster: restart the gateway")
	}
	shared, err := f.Cluster.build(b.Ctx.Logger())
	if err != nil {
		return fmt.Errorf("cluster: %w", err)
	}
	b.Hide(shared.secrets...)
	b.Config.SecretFiles = append(b.Config.SecretFiles, shared.files...)
	if shared.cluster != nil {
		b.Config.Cluster = shared.cluster
	}
	b.Add(func(c gateway.Core, _ []gateway.Feature) gateway.Feature { return cluster.Feature(c) })
	return nil
}

// Cluster makes several gateways serve as one. They share limits, tokens and sessions in Valkey or
// Redis, and activity, spent money, owners, keys and workstations in PostgreSQL. It is read when
// the process starts: a reload that changes it is refused.
type Cluster struct {
	// Name is that of the cluster, the same at all its gateways. It is in the names of all keys in
	// Valkey. Required; a-z, 0-9 and "-", at most 32 characters.
	Name string `json:"name"`

	// Valkey is the address of the server, valkey://[USER][:PASSWORD@]HOST[:PORT], or of several
	// nodes of a Valkey cluster. valkeys:// is TLS; redis:// and rediss:// mean the same.
	// Placeholders {env.NAME} and {file./path} may stand for any part. With Sentinels the host is
	// the name of their master. Required without Sentinel. Default port: 6379.
	Valkey []string `json:"valkey,omitempty" placeholders:"yes"`

	// Sentinel says that Sentinels know which server is the master. Default: none are asked.
	Sentinel *Sentinel `json:"sentinel,omitempty"`

	// TLS has what a valkeys:// address needs beyond the system's authorities. Default: nothing.
	TLS *EngineTLS `json:"tls,omitempty"`

	// Postgres is the address of the database: postgres://USER:PASSWORD@HOST:PORT/DATABASE with
	// libpq's parameters (sslmode, sslrootcert, …), or "host=… dbname=…". It may have placeholders
	// {env.NAME} and {file./path}, or be one. Required.
	Postgres string `json:"postgres" placeholders:"yes"`

	// Node is the name of this gateway, of no other in the cluster: a-z, 0-9 and "-", at most 63
	// characters. It may have Caddy's placeholders, such as {env.HOSTNAME} or {system.hostname};
	// upper case becomes lower. Default: a random name, which is kept in data_dir.
	Node string `json:"node,omitempty" placeholders:"yes"`
}

// Sentinel is how the Sentinels of a Valkey or Redis are asked.
type Sentinel struct {
	// Master is the name under which the Sentinels watch the server. Required.
	Master string `json:"master"`

	// Addresses are those of the Sentinels, HOST[:PORT]. At least one; name all. Default port:
	// 26379.
	Addresses []string `json:"addresses"`

	// User is the name to log in with at the Sentinels. Default: their default user.
	User string `json:"user,omitempty"`

	// Password is that of the Sentinels: {env.NAME} or {file./path}. Default: none is sent.
	Password string `json:"password,omitempty" placeholders:"yes"`
}

// EngineTLS is what a TLS connection to Valkey needs.
type EngineTLS struct {
	// CA is files of certificates, in PEM, of the authorities that may have signed the server's.
	// Default: the system's authorities.
	CA []string `json:"ca,omitempty"`

	// ClientCert is a file with the certificate, in PEM, that the gateway shows to the server. It
	// is read again for each connection. Default: none is shown.
	ClientCert string `json:"client_cert,omitempty"`

	// ClientKey is the file with the key of ClientCert. Required with it.
	ClientKey string `json:"client_key,omitempty"`

	// ServerName is the name that the server's certificate must have. Default: the host that is
	// connected to.
	ServerName string `json:"server_name,omitempty"`
}

var (
	clusterNames = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,31}$`)
	nodeNames    = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,62}$`)
)

// builtCluster is the result of the cluster block.
type builtCluster struct {
	cluster *cluster.Config // nil without the block
	secrets []string        // to be taken out of texts
	files   []*secret.File  // that have passwords
}

// build checks the block and resolves its secrets. It connects to nothing. Errors show no address
// that may have a password.
func (c *Cluster) build(logger *zap.Logger) (built builtCluster, err error) {
	if c == nil {
		return built, nil
	}
	if !clusterNames.MatchString(c.Name) {
		return built, fmt.Errorf("name %q: want a-z, 0-9 and \"-\", at most 32 characters: it is in the names of all keys", c.Name)
	}
	out := &cluster.Config{Name: c.Name}
	configured, err := json.Marshal(c)
	if err != nil {
		return built, err
	}
	out.Configured = string(configured)
	if out.Node, err = c.node(); err != nil {
		return built, err
	}
	text := addressText{logger: logger}
	if out.Engine, err = c.engine(&text); err != nil {
		return built, err
	}
	if err = c.database(out, &text); err != nil {
		return built, err
	}
	return builtCluster{out, text.secrets, text.files}, nil
}

// node returns the name of this gateway; "" for a random one.
func (c *Cluster) node() (string, error) {
	if c.Node == "" {
		return "", nil
	}
	name, err := caddy.NewReplacer().ReplaceOrErr(c.Node, true, true)
	if err != nil {
		return "", fmt.Errorf("node: %w; leave the option out for a name that is made once and kept in data_dir", err)
	}
	if name = strings.ToLower(name); !nodeNames.MatchString(name) {
		return "", fmt.Errorf("node %s: want a-z, 0-9 and \"-\", at most 63 characters, such as gw-1; each gateway needs another", c.Node)
	}
	return name, nil
}

// database checks the address of PostgreSQL.
func (c *Cluster) database(out *cluster.Config, text *addressText) error {
	if c.Postgres == "" {
		return errors.New("postgres is missing: a cluster keeps its activity, spent money, keys and workstations there")
	}
	value, err := text.dsn(c.Postgres)
	if err != nil {
		return fmt.Errorf("postgres: %w", err)
	}
	out.Database = value.String()
	address, err := postgres.ParseAddress(out.Database)
	if err != nil {
		return fmt.Errorf("postgres: %w", err)
	}
	text.know("postgres", c.Postgres, address.Password)
	if value.changes() {
		out.DatabasePassword = func() (string, error) {
			address, err := postgres.ParseAddress(value.String())
			return address.Password, err
		}
	}
	return nil
}

// engine returns how to reach Valkey.
func (c *Cluster) engine(text *addressText) (valkey.Config, error) {
	config := valkey.Config{}
	if len(c.Valkey) == 0 && c.Sentinel == nil {
		return config, errors.New("valkey is missing: a cluster shares limits, tokens and sessions there")
	}
	secure := false
	for i, raw := range c.Valkey {
		value, err := text.parse(raw, inURL)
		if err != nil {
			return config, fmt.Errorf("valkey: address %d: %w", i+1, err)
		}
		address, err := parseValkey(value.String(), c.Sentinel != nil)
		if err != nil {
			return config, fmt.Errorf("valkey: address %d: %w", i+1, err)
		}
		text.know("valkey", raw, address.password)
		if i == 0 {
			secure, config.Username, config.Password = address.secure, address.user, address.password
			if value.changes() {
				config.ReadPassword = func() (string, error) {
					address, err := parseValkey(value.String(), c.Sentinel != nil)
					return address.password, err
				}
			}
		} else if secure != address.secure || config.Username != address.user || config.Password != address.password {
			return config, errors.New("valkey: several addresses are nodes of one cluster: all need the same scheme, user and password")
		}
		config.Addresses = append(config.Addresses, address.hostPort)
	}
	if c.Sentinel != nil {
		if err := c.sentinel(&config, text); err != nil {
			return config, fmt.Errorf("sentinel: %w", err)
		}
	}
	if !secure && c.TLS != nil {
		return config, errors.New("tls: the address is not one of TLS: write valkeys:// (or rediss://)")
	}
	var err error
	if secure {
		if config.TLS, err = c.TLS.build(); err != nil {
			return config, fmt.Errorf("tls: %w", err)
		}
	}
	return config, nil
}

// sentinel replaces the addresses of config with those of the Sentinels.
func (c *Cluster) sentinel(config *valkey.Config, text *addressText) error {
	s := c.Sentinel
	switch {
	case s.Master == "" || len(s.Addresses) == 0:
		return errors.New("want the name of the master, and the addresses of the Sentinels")
	case len(config.Addresses) > 1 || len(config.Addresses) == 1 && config.Addresses[0] != s.Master:
		return fmt.Errorf("the Sentinels know the address of the server: "+
			"in valkey write the name of the master as the host (valkey://USER:PASSWORD@%s), or leave valkey out if there is no login", s.Master)
	}
	config.Addresses = nil
	for _, address := range s.Addresses {
		at, err := hostPort(address, sentinelPort)
		if err != nil {
			return err
		}
		config.Addresses = append(config.Addresses, at)
	}
	config.Sentinel, config.SentinelUsername = s.Master, s.User
	if s.Password == "" {
		if s.User != "" {
			return errors.New("a user without a password")
		}
		return nil
	}
	value, err := secret.Parse(s.Password)
	if err != nil {
		return err
	}
	config.SentinelPassword = value.Value()
	text.know("sentinel", s.Password, config.SentinelPassword)
	if value.File() != nil {
		text.files = append(text.files, value.File())
		config.ReadSentinelPassword = func() (string, error) { return value.Value(), nil }
	}
	return nil
}
