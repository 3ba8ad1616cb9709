package setup

import (
	"bytes"
	"crypto/rand"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"github.com/gatehouse-proxy/gatehouse/caddymodule/offline"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
)

// files are the two files, before they are written.
type files struct {
	caddyfile, env         string // their paths
	caddyfileText, envText []byte
	values                 map[string]string // of the variables
	missing                []string          // variables without a value
}

//go:embed Caddyfile.tmpl
var caddyfileText string

var caddyfileTemplate = template.Must(template.New("Caddyfile").Parse(caddyfileText))

// keyVariable has the key of the gateway.
const keyVariable = "GATEWAY_API_KEY"

// files makes both files. The secrets are those that were asked for, else those of the environment.
func (a *answers) files(getenv func(string) string) (*files, error) {
	if err := errors.Join(a.checkHost(), a.checkKey(), a.checkBudget()); err != nil {
		return nil, err
	}
	wanted, err := a.wanted()
	if err != nil {
		return nil, err
	}
	f := &files{caddyfile: a.caddyfile, env: a.env, values: make(map[string]string)}
	if f.values[keyVariable], err = keys.NewSecret(rand.Reader); err != nil {
		return nil, err
	}
	env := bytes.NewBufferString("# The secrets of " + a.caddyfile + ". Nobody else should be able to read this file.\n")
	fmt.Fprintf(env, "%s=%s\n", keyVariable, f.values[keyVariable])
	for _, w := range wanted {
		value := a.secrets[w.variable]
		if value == "" {
			value = getenv(w.variable)
		}
		if strings.ContainsAny(value, "\"'`\\$#\r\n \t") {
			return nil, fmt.Errorf("%s: the value has a character that an environment file cannot have: fill it in by hand, see {file./path} in docs/configuration.md", w.variable)
		}
		f.values[w.variable] = value
		if value == "" && !w.optional {
			f.missing = append(f.missing, w.variable)
		}
		fmt.Fprintf(env, "\n# %s\n%s=%s\n", w.what, w.variable, value)
	}
	f.envText = env.Bytes()
	f.caddyfileText, err = a.render(f.values)
	return f, err
}

// render makes the Caddyfile.
func (a *answers) render(values map[string]string) ([]byte, error) {
	providers, err := a.parseProviders()
	if err != nil {
		return nil, err
	}
	workstations, err := a.parseWorkstations()
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	err = caddyfileTemplate.Execute(&text, map[string]any{
		"Host": a.host, "InternalCA": a.internalCA, "Key": a.key, "Budget": a.budget, "Catalog": a.catalog, "Money": strings.Contains(a.budget, "usd"),
		"Providers": providers, "Workstations": workstations, "Values": values, "KeyVariable": keyVariable,
	})
	return text.Bytes(), err
}

// write loads the configuration, and then writes both files. Files that exist stay unless force is set.
func (f *files) write(force bool) error {
	for _, path := range []string{f.caddyfile, f.env} {
		if _, err := os.Lstat(path); err == nil && !force {
			return fmt.Errorf("%s exists: --force replaces it, --output and --secrets choose other files", path)
		}
	}
	caddyfile, err := written(f.caddyfile, f.caddyfileText)
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(caddyfile) }()
	for variable, value := range f.values {
		if err := os.Setenv(variable, value); err != nil {
			return err
		}
	}
	if _, _, err := offline.Load(caddyfile, "caddyfile"); err != nil {
		return fmt.Errorf("the configuration does not load, and nothing was written: %w", err)
	}
	env, err := written(f.env, f.envText)
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(env) }()
	const anyone = 0o644
	return errors.Join(os.Chmod(caddyfile, anyone), os.Rename(env, f.env), os.Rename(caddyfile, f.caddyfile))
}

// written writes a new file of mode 600 beside a path.
func written(path string, text []byte) (string, error) {
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-")
	if err != nil {
		return "", err
	}
	_, err = file.Write(text)
	return file.Name(), errors.Join(err, file.Close())
}
