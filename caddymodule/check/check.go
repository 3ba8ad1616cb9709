// Package check looks for what is allowed in a configuration and most likely a mistake: keys that can
// call nothing, models that nobody serves, limits that never bind, missing prices, secrets in the open.
//
//	for _, f := range check.Run("/etc/caddy/Caddyfile", "", false, time.Now()) { … }
package check

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gatehouse-proxy/gatehouse/caddymodule/offline"
)

// Severity orders findings; its number is the command's exit status.
type Severity int

const (
	Note    Severity = iota // worth knowing
	Warning                 // something does not do what it seems to
	Failure                 // something cannot work
)

func (s Severity) String() string { return [...]string{"note", "warning", "error"}[s] }

// MarshalText makes the JSON have the word.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Finding is one thing that check has to say.
type Finding struct {
	// Severity is note, warning or error.
	Severity Severity `json:"severity"`
	// Subject is what it is about: "key dev", "provider openai".
	Subject string `json:"subject"`
	// Problem is what was found.
	Problem string `json:"problem"`
	// Advice is what to do; absent if nothing.
	Advice string `json:"advice,omitempty"`
}

// inspected is a configuration at a time.
type inspected struct {
	*offline.Config
	now time.Time
}

// checks are what check looks at, in the order of its output.
var checks = []func(*inspected) []Finding{
	checkKeys, checkModelNames, checkAliases, checkProviders, checkMCP, checkAutomation, checkNeverBinding, checkPrices, checkSites, checkCertificate, checkEngineTLS,
}

// Run returns the findings of a configuration file, the worst first. Dial also asks the network.
func Run(path, adapter string, dial bool, now time.Time) []Finding {
	found := find(path, adapter, dial, now)
	slices.SortStableFunc(found, func(a, b Finding) int { return int(b.Severity) - int(a.Severity) })
	return found
}

func find(path, adapter string, dial bool, now time.Time) (found []Finding) {
	config, warnings, err := offline.Load(path, adapter)
	for _, w := range warnings {
		found = append(found, Finding{Note, fmt.Sprintf("%s:%d", w.File, w.Line), w.Message, ""})
	}
	const first = "Correct that first: the rest was not looked at."
	switch {
	case errors.Is(err, offline.ErrNoApp):
		return append(found, Finding{Failure, path, err.Error(), "Add it: docs/configuration.md has its options."})
	case errors.As(err, new(offline.ProvisionError)):
		return append(found, Finding{Failure, path, "it does not load: " + err.Error(), first})
	case err != nil:
		return append(found, Finding{Failure, path, err.Error(), first})
	}
	c := &inspected{config, now}
	if dial {
		found = append(found, dialProviders(c)...) // before the others: they then know the providers' lists
		found = append(found, dialMCP(c)...)
	}
	for _, check := range checks {
		found = append(found, check(c)...)
	}
	if dial {
		found = append(found, dialCluster(c)...)
		found = append(found, dialDesktops(c)...)
	}
	return found
}

// some returns the first few of a list of names.
func some(names []string) string {
	const most = 5
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", len(names)-most)
}
