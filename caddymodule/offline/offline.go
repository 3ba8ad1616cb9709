// Package offline loads a configuration as caddy validate does: it provisions the modules, starts
// nothing, and creates nothing where the server has its files. It is for commands that read a
// configuration of ours without a running Caddy.
//
//	c, warnings, err := offline.Load("/etc/caddy/Caddyfile", "")
package offline

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"

	"github.com/gatehouse-proxy/gatehouse/caddymodule/inspect"
	"github.com/gatehouse-proxy/gatehouse/internal/caddykit"
	"github.com/gatehouse-proxy/gatehouse/internal/features/cluster"
)

// What a configuration says.
type (
	Config    = inspect.Config
	MCPServer = inspect.MCPServer
	Tenant    = inspect.Tenant
	Key       = inspect.Key
)

// Cluster returns what the gateway shares with others, nil if it is the only one.
func Cluster(c *inspect.Config) *cluster.Config {
	shared, _ := c.Built.Cluster.(*cluster.Config)
	return shared
}

// ErrNoApp is the error of a configuration without our global option.
var ErrNoApp = errors.New("there is no global option gatehouse")

// ProvisionError is the error of a configuration that can be read and does not load.
type ProvisionError struct{ error }

// Load provisions the configuration of a file. The adapter "" is caddyfile, and none for .json. It
// returns the adapter's warnings also with an error.
func Load(path, adapter string) (*inspect.Config, []caddyconfig.Warning, error) {
	config, warnings, err := adapted(path, adapter)
	if err != nil {
		return nil, warnings, err
	}
	if _, ok := config.AppsRaw[caddykit.AppName]; !ok {
		return nil, warnings, ErrNoApp
	}
	c, err := provision(config)
	if err != nil {
		err = ProvisionError{err}
	}
	return c, warnings, err
}

// adapted reads a configuration file.
func adapted(path, adapter string) (*caddy.Config, []caddyconfig.Warning, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, err
	}
	if adapter == "" && filepath.Ext(path) != ".json" {
		adapter = "caddyfile"
	}
	var warnings []caddyconfig.Warning
	if adapter != "" {
		adapt := caddyconfig.GetAdapter(adapter)
		if adapt == nil {
			return nil, nil, fmt.Errorf("there is no adapter %q", adapter)
		}
		if text, warnings, err = adapt.Adapt(text, map[string]any{"filename": path}); err != nil {
			return nil, nil, err
		}
	}
	config := new(caddy.Config)
	return config, warnings, caddy.StrictUnmarshalJSON(caddy.RemoveMetaFields(text), config)
}

// provision loads the modules of a configuration as caddy validate does, and starts nothing. Logs
// are not opened, and Caddy's storage is an empty one: nothing is created where the server has its
// files.
func provision(config *caddy.Config) (c *inspect.Config, err error) {
	dir, err := os.MkdirTemp("", "gatehouse-check-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	storage, http := config.StorageRaw, config.AppsRaw["http"]
	config.StorageRaw = caddyconfig.JSONModuleObject(map[string]string{"root": dir}, "module", "file_system", nil)
	if config.Logging == nil {
		config.Logging = new(caddy.Logging)
	}
	if config.Logging.Logs == nil {
		config.Logging.Logs = map[string]*caddy.CustomLog{}
	}
	if config.Logging.Logs["default"] == nil {
		config.Logging.Logs["default"] = new(caddy.CustomLog)
	}
	for _, log := range config.Logging.Logs {
		if !bytes.Contains(log.WriterRaw, []byte(`"discard"`)) { // Caddy forgets such a log
			log.WriterRaw, log.Level = nil, "FATAL" // stderr, and nothing
		}
	}
	config.Logging.Sink = nil
	defer inspect.Take(func(provisioned *inspect.Config) { c = provisioned })()
	if err := caddy.Validate(config); err != nil {
		return nil, err
	}
	c.Storage, c.HTTP = storage, http
	return c, nil
}
