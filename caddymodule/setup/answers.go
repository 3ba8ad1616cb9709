package setup

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/limits"
)

const (
	defaultKey   = "dev"
	testProvider = "test" // built in
)

// answers are what the files are made of.
type answers struct {
	host         string
	internalCA   bool
	providers    []string
	key          string
	budget       string
	catalog      string
	workstations []string
	caddyfile    string
	env          string
	secrets      map[string]string // by variable, as they were asked for
	kept         map[string]string // by variable, of the file that is replaced
}

// vendor is a provider that has an address of its own.
type vendor struct {
	Name, Variable string
	Options        []string // besides its key
}

var vendors = []vendor{
	{"openai", "OPENAI_API_KEY", []string{"base_url https://api.openai.com/v1", "models gpt-* o* chatgpt-*"}},
	{"openrouter", "OPENROUTER_API_KEY", []string{"base_url https://openrouter.ai/api/v1"}},
	{"anthropic", "ANTHROPIC_API_KEY", []string{"dialect anthropic"}},
	{"gemini", "GEMINI_API_KEY", []string{"dialect gemini"}},
	{"mistral", "MISTRAL_API_KEY", []string{"base_url https://api.mistral.ai/v1", "responses translate"}},
}

// server is a provider or a workstation with an address.
type server struct{ Name, Address, Variable string }

// chosen are the providers.
type chosen struct {
	Test    bool
	Vendors []vendor
	Own     []server
}

var (
	wordForm = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,62}$`)
	hostForm = regexp.MustCompile(`^[a-zA-Z0-9-]+(\.[a-zA-Z0-9-]+)+$`)
	// budgetForm keeps what a limit never has out of the Caddyfile: the limit itself is read by package limits.
	budgetForm = regexp.MustCompile(`^[a-zA-Z0-9. /]+$`)
)

func (a *answers) checkHost() error {
	if a.host != "" && !hostForm.MatchString(a.host) {
		return fmt.Errorf("host %q: want a name such as gateway.example.com", a.host)
	}
	return nil
}

func (a *answers) checkKey() error {
	if !wordForm.MatchString(a.key) {
		return fmt.Errorf("key %q: want lower-case letters, digits, and . _ - between them", a.key)
	}
	return nil
}

// checkBudget wants a limit that can be kept: money needs prices.
func (a *answers) checkBudget() error {
	switch {
	case a.budget == "":
		return nil
	case !budgetForm.MatchString(a.budget):
		return fmt.Errorf("budget %q: want such as 1M tokens/day or 20usd/month", a.budget)
	}
	budget, err := limits.ParseBudget(a.budget)
	if err != nil {
		return err
	}
	if budget.Unit == limits.Money && a.catalog == "" {
		return errors.New("a budget of money needs prices: give --catalog a file (docs/catalog.md says where to get one), or a budget such as 1M tokens/day")
	}
	return nil
}

// parseProviders reads the providers.
func (a *answers) parseProviders() (c chosen, err error) {
	var names []string
	for _, text := range a.providers {
		name, address, own := strings.Cut(text, "=")
		at := slices.IndexFunc(vendors, func(v vendor) bool { return v.Name == name })
		switch {
		case slices.Contains(names, name):
			return c, fmt.Errorf("provider %s is given twice", name)
		case own && !isURL(address):
			return c, fmt.Errorf("provider %s: want its address, such as %s=http://127.0.0.1:11434/v1", text, name)
		case own && (!wordForm.MatchString(name) || name == testProvider):
			return c, fmt.Errorf("provider %q: want another name, of lower-case letters, digits, and . _ - between them", name)
		case own:
			c.Own = append(c.Own, server{name, address, variable(name, "_API_KEY")})
		case name == testProvider:
			c.Test = true
		case at < 0:
			return c, fmt.Errorf("provider %q is not known here: want openai, openrouter, anthropic, gemini, mistral, test, or NAME=URL", name)
		default:
			c.Vendors = append(c.Vendors, vendors[at])
		}
		names = append(names, name)
	}
	c.Test = c.Test || len(names) == 0
	return c, nil
}

func isURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && u.User == nil && !strings.ContainsAny(text, "{}\"`' \t\n#")
}

// parseWorkstations reads the workstations.
func (a *answers) parseWorkstations() (list []server, err error) {
	for _, text := range a.workstations {
		name, address, _ := strings.Cut(text, "=")
		host, port, err := net.SplitHostPort(address)
		if err != nil || host == "" || port == "" || !wordForm.MatchString(name) || strings.ContainsAny(address, "{}\"`' \t\n#") {
			return nil, fmt.Errorf("workstation %q: want NAME=HOST:PORT, such as desk1=10.0.0.7:5901", text)
		}
		if slices.ContainsFunc(list, func(s server) bool { return s.Name == name }) {
			return nil, fmt.Errorf("workstation %s is given twice", name)
		}
		list = append(list, server{name, address, variable(name, "_VNC_PASSWORD")})
	}
	return list, nil
}

// variable names the secret of a provider or a workstation.
func variable(name, ending string) string {
	return strings.ToUpper(strings.NewReplacer(".", "_", "-", "_").Replace(name)) + ending
}

// wanted is a secret.
type wanted struct {
	variable, what string
	optional       bool // what it is for works without it
}

// wanted are the secrets, but the key of the gateway.
func (a *answers) wanted() (list []wanted, err error) {
	providers, err := a.parseProviders()
	if err != nil {
		return nil, err
	}
	workstations, err := a.parseWorkstations()
	if err != nil {
		return nil, err
	}
	for _, v := range providers.Vendors {
		list = append(list, wanted{v.Variable, "API key of " + v.Name, false})
	}
	for _, own := range providers.Own {
		list = append(list, wanted{own.Variable, "API key of " + own.Name + ", if it has one", true})
	}
	for _, w := range workstations {
		list = append(list, wanted{w.Variable, "VNC password of " + w.Name + ", if it has one", true})
	}
	for i := range list {
		if slices.ContainsFunc(list[:i], func(w wanted) bool { return w.variable == list[i].variable }) {
			return nil, fmt.Errorf("two names would have the variable %s: choose other names", list[i].variable)
		}
	}
	return list, nil
}
