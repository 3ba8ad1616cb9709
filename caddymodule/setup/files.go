package setup

import (
	"bytes"
	"cmp"
	"crypto/rand"
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
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

// files makes both files. The secrets are those that were asked for, else those of the environment or
// of the file that is replaced, which loses none.
func (a *answers) files(getenv func(string) string) (*files, error) {
	if err := errors.Join(a.checkHost(), a.checkKey(), a.checkBudget()); err != nil {
		return nil, err
	}
	wanted, err := a.wanted()
	if err != nil {
		return nil, err
	}
	f := &files{caddyfile: a.caddyfile, env: a.env, values: make(map[string]string)}
	if f.values[keyVariable] = a.kept[keyVariable]; f.values[keyVariable] == "" {
		if f.values[keyVariable], err = keys.NewSecret(rand.Reader); err != nil {
			return nil, err
		}
	}
	env := bytes.NewBufferString("# The secrets of " + a.caddyfile + ". Nobody else should be able to read this file.\n")
	fmt.Fprintf(env, "%s=%s\n", keyVariable, f.values[keyVariable])
	for _, w := range wanted {
		value := cmp.Or(a.secrets[w.variable], getenv(w.variable), a.kept[w.variable])
		if strings.ContainsAny(value, "\"'`\\$#\r\n \t") {
			return nil, fmt.Errorf("%s: the value has a character that an environment file cannot have: fill it in by hand, see {file./path} in docs/configuration.md", w.variable)
		}
		f.values[w.variable] = value
		if value == "" && !w.optional {
			f.missing = append(f.missing, w.variable)
		}
		fmt.Fprintf(env, "\n# %s\n%s=%s\n", w.what, w.variable, value)
	}
	for _, name := range slices.Sorted(maps.Keys(a.kept)) {
		if _, written := f.values[name]; !written {
			fmt.Fprintf(env, "\n# of the file before\n%s=%s\n", name, a.kept[name])
		}
	}
	f.envText = env.Bytes()
	f.caddyfileText, err = a.render(f.values)
	return f, err
}

// keep reads the variables of a file that is to be replaced, if there is one.
func (a *answers) keep() error {
	text, err := os.ReadFile(a.env)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	a.kept = make(map[string]string)
	for line := range strings.Lines(string(text)) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok && !strings.HasPrefix(name, "#") {
			a.kept[name] = value
		}
	}
	return err
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
