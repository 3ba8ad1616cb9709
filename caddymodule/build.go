package caddymodule

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/memory"
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall"
	"github.com/gatehouse-proxy/gatehouse/internal/recording"
	"github.com/gatehouse-proxy/gatehouse/internal/upload"
)

// built is what a configuration says, checked and resolved.
type built struct {
	gateway.Config
	features
}

// build turns the configuration into the gateway's: it resolves secrets, reads files and checks
// everything. Errors name what is wrong and never a secret.
func (a *App) build() (built, error) {
	none := built{}
	specs, secrets, err := keySpecs(a)
	if err != nil {
		return none, err
	}
	keyring, err := keys.NewKeyring(specs)
	if err != nil {
		return none, err
	}
	models, err := readCatalogs(a.Catalogs)
	if err != nil {
		return none, err
	}
	providers, err := buildProviders(a.ctx, a.Providers, models, a.credentials)
	if err != nil {
		return none, err
	}
	tools, err := buildMCP(a, &providers.accounts)
	if err != nil {
		return none, err
	}
	index, err := catalog.NewCatalog(append(models, providers.models...), providers.sources)
	if err != nil {
		return none, fmt.Errorf("catalog: %w", err)
	}
	timeouts, err := a.Timeouts.resolve()
	if err != nil {
		return none, err
	}
	if err := a.WebSocket.check(); err != nil {
		return none, fmt.Errorf("responses_websocket: %w", err)
	}
	bodies := cmp.Or(a.BodyMemory, memory.Default(upload.MinMemory))
	if bodies < upload.MinMemory {
		return none, fmt.Errorf("body_memory: %d bytes is too small for one body of the largest size; at least %d are needed", bodies, upload.MinMemory)
	}
	answers := cmp.Or(a.AnswerMemory, memory.Default(modelcall.MinAnswers))
	if answers < modelcall.MinAnswers {
		return none, fmt.Errorf("answer_memory: %d bytes is too small for one answer of the largest size; at least %d are needed", answers, modelcall.MinAnswers)
	}
	allowed, err := buildLimits(a)
	if err != nil {
		return none, err
	}
	runtime, err := a.RuntimeKeys.build(a, allowed)
	if err != nil {
		return none, err
	}
	identities, err := buildIdentities(a)
	if err != nil {
		return none, err
	}
	if runtime != nil || identities != nil {
		if err := shareLimits(a, allowed); err != nil {
			return none, err
		}
	}
	if err := identities.Check(allowed); err != nil {
		return none, err
	}
	if most := max(allowed.MaxBody(), runtime.MaxBody(), identities.MaxBody()); bodies < 2*most {
		return none, fmt.Errorf("max_body %d: body_memory, %d bytes, is too small for one body of that size; it must be at least twice max_body", most, bodies)
	}
	guardrails, hookSecrets, err := buildGuardrails(a)
	if err != nil {
		return none, err
	}
	secrets = append(secrets, hookSecrets...)
	workstations, logins, err := a.VNC.build(a.ctx, a.state, sessionLevels(a.Tenants, a.Keys))
	if err != nil {
		return none, fmt.Errorf("vnc: %w", err)
	}
	secrets = append(secrets, logins...)
	var recorded *recording.Settings
	if a.VNC != nil {
		if recorded, logins, err = a.VNC.Record.build(a.logger, a.stateDir); err != nil {
			return none, fmt.Errorf("vnc: record: %w", err)
		}
		secrets = append(secrets, logins...)
	}
	shared, err := a.Cluster.build(a.logger)
	if err == nil && shared.cluster != nil {
		err = checkShared(a, runtime)
	}
	if err != nil {
		return none, fmt.Errorf("cluster: %w", err)
	}
	secrets = append(secrets, shared.secrets...)
	b := built{features: features{
		made: runtime, identities: identities, cluster: shared.cluster, recorded: recorded, tools: tools, automation: a.VNC.automation(),
		sockets: a.WebSocket.limits(),
	}}
	b.Config = gateway.Config{
		Limits: allowed, Guardrails: guardrails, Keyring: keyring, Workstations: workstations,
		Catalog: index, Providers: providers.providers, Issued: issuedTo(tools), Discover: providers.discover, Aliases: a.Aliases.build(),
		Secrets: append(secrets, providers.secrets...), SecretFiles: append(providers.files, shared.files...),
		State: a.state, BodyMemory: bodies, AnswerMemory: answers, NoEndUser: a.Activity.NoEndUser,
		Timeouts: timeouts, Logger: a.logger, Now: time.Now,
	}
	b.Features = b.features.list
	if shared.cluster != nil {
		b.Cluster = shared.cluster
	}
	return b, nil
}

func readCatalogs(paths []string) ([]catalog.Model, error) {
	var all []catalog.Model
	for _, path := range paths {
		data, err := readBounded("catalog", path, catalog.MaxCatalogBytes)
		if err != nil {
			return nil, err
		}
		models, err := catalog.Parse(data)
		if err != nil {
			return nil, fmt.Errorf("catalog %q: %w", path, err)
		}
		all = append(all, models...)
	}
	return all, nil
}

// readBounded reads a file that an option names, if it has at most that many bytes. Errors begin with
// the option.
func readBounded(option, path string, most int64) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", option, err)
	}
	if info.Size() > most {
		return nil, fmt.Errorf("%s %q has %d bytes; at most %d are read", option, path, info.Size(), most)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", option, err)
	}
	defer f.Close()
	// A device or a pipe has no size, and a file may grow.
	text := bytes.NewBuffer(make([]byte, 0, info.Size()+bytes.MinRead))
	if _, err := text.ReadFrom(io.LimitReader(f, most+1)); err != nil {
		return nil, fmt.Errorf("%s: %w", option, err)
	}
	if int64(text.Len()) > most {
		return nil, fmt.Errorf("%s %q has more than %d bytes", option, path, most)
	}
	return text.Bytes(), nil
}
