package provider

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// Dialect is the protocol of one kind of provider, and what follows from it. Each is one value in
// the file of its vendor and a row of dialects. A value serves every provider of its kind.
type Dialect struct {
	name string // what a provider block calls it

	// selects reports whether a block that has only this base URL is of this dialect; nil = never.
	selects func(base *url.URL) bool
	// bases are the base URLs at clouds and services, with "" that of the vendor itself. A word in
	// braces is an option, or the host of a location.
	bases map[string]string
	// versions are those of bases where api_version is not given.
	versions map[string]string
	// usualAt are the clouds and services most of whose models it serves.
	usualAt []string
	// catalogNames are what price maps call its models' provider, where it is not the name of the
	// cloud.
	catalogNames map[string]string
	// basePath is the path of a base URL that has none.
	basePath string
	// variants are what it is where the path of a base URL has such an end.
	variants map[string]*Dialect

	// path returns the path below the base URL, escaped, at which a model is asked for an
	// operation, or a request is made about a response; some providers have another one for
	// streams. It is "" if this kind of provider does not have the operation.
	path func(op Operation, name string, stream bool) string
	// keyField is the field of a request's header that has the API key, and its value.
	keyField func(key string) (name, value string)
	// header is sent with every request that has no value of its own; nil for none.
	header http.Header
	// modelsQuery is the query for the list of models. It is "" if this kind of provider has one
	// page.
	modelsQuery string
	// lists returns the addresses of the lists of models below a base URL; nil = the path of
	// Models.
	lists func(baseURL string) []string

	protocol         Protocol
	openRouterFields bool
}

// Protocol is what a provider speaks where it has none of the APIs that calls are made in.
type Protocol string

// dialects are all that a provider block can name. The first is that of a base URL that selects
// none.
var dialects = []*Dialect{openAI, openRouter, anthropic, builtIn, gemini, vertexAnthropic, bedrock, bedrockAnthropic}

// Name is what a provider block calls it.
func (d *Dialect) Name() string { return d.name }

// Protocol is what requests are translated into; "" if they are sent in the API that they are made
// in.
func (d *Dialect) Protocol() Protocol { return d.protocol }

// OpenRouterFields reports whether request fields that only OpenRouter knows may be sent.
func (d *Dialect) OpenRouterFields() bool { return d.openRouterFields }

// Has reports whether providers of the dialect have an operation.
func (d *Dialect) Has(op Operation) bool { return d.path(op, "", false) != "" }

// dialectNamed returns the dialect with this name, one without anything if there is none.
func dialectNamed(name string) *Dialect {
	i := slices.IndexFunc(dialects, func(d *Dialect) bool { return d.name == name })
	if i < 0 {
		return new(Dialect)
	}
	return dialects[i]
}

// dialectFor returns the dialect with this name at a base URL. An empty name means openai, or the
// dialect of a vendor's own host.
func dialectFor(name string, base *url.URL) (*Dialect, error) {
	if err := ValidDialect(name); err != nil {
		return nil, err
	}
	d := dialects[0]
	if name != "" {
		d = dialectNamed(name)
	} else if i := slices.IndexFunc(dialects, func(d *Dialect) bool { return d.selects != nil && d.selects(base) }); i >= 0 {
		d = dialects[i]
	}
	for end, variant := range d.variants {
		if strings.HasSuffix(base.Path, end) {
			return variant, nil
		}
	}
	return d, nil
}

// Dialects are the names of the dialects, sorted.
func Dialects() (names []string) {
	for _, d := range dialects {
		names = append(names, d.name)
	}
	slices.Sort(names)
	return names
}

// ValidDialect returns an error unless there is a dialect with this name. An empty name is the
// default.
func ValidDialect(name string) error {
	if names := Dialects(); name != "" && !slices.Contains(names, name) {
		return fmt.Errorf("unknown dialect %q; known dialects: %s", name, strings.Join(names, ", "))
	}
	return nil
}

// atHost selects a dialect by the host of a base URL.
func atHost(host string) func(*url.URL) bool {
	return func(base *url.URL) bool { return base.Hostname() == host }
}
