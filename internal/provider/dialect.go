package provider

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// Dialect is the protocol of one kind of provider, and what follows from it. Each is one value of
// its vendor's package. A value serves every provider of its kind, and does not change after
// Register.
type Dialect struct {
	Name    string                   // what a provider block calls it
	Selects func(base *url.URL) bool // reports whether a block that has only this base URL is of this dialect; nil = never

	// bases are the base URLs at clouds and services, with "" that of the vendor itself. A word in
	// braces is an option, or the host of a location.
	Bases        map[string]string
	Versions     map[string]string   // of bases where api_version is not given
	UsualAt      []string            // the clouds and services most of whose models it serves
	CatalogNames map[string]string   // what price maps call its models' provider, where it is not the name of the cloud
	BasePath     string              // of a base URL that has none
	Variants     map[string]*Dialect // what it is where the path of a base URL has such an end

	// path returns the path below the base URL, escaped, at which a model is asked for an
	// operation, or a request is made about a response; some providers have another one for
	// streams. It is "" if this kind of provider does not have the operation.
	Path        func(op Operation, name string, stream bool) string
	KeyField    func(key string) (name, value string) // of a request's header that has the API key
	Header      http.Header                           // of every request that has no value of its own; nil for none
	ModelsQuery string                                // for the list of models; "" if this kind of provider has one page
	Lists       func(baseURL string) []string         // the addresses of the lists of models; nil = the path of Models

	OpenRouterFields bool // request fields that only OpenRouter knows may be sent
	Unnamed          bool // no body names its model, the address does
}

// dialects are all that a provider block can name. The first is that of a base URL that selects
// none.
var dialects = []*Dialect{openAI, openRouter, anthropic, builtIn}

// Register adds a dialect to those that a provider block can name. It must be called before the
// program begins.
func Register(d *Dialect) { dialects = append(dialects, d) }

// Has reports whether providers of the dialect have an operation.
func (d *Dialect) Has(op Operation) bool { return d.Path(op, "", false) != "" }

// dialectNamed returns the dialect with this name, one without anything if there is none.
func dialectNamed(name string) *Dialect {
	i := slices.IndexFunc(dialects, func(d *Dialect) bool { return d.Name == name })
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
	} else if i := slices.IndexFunc(dialects, func(d *Dialect) bool { return d.Selects != nil && d.Selects(base) }); i >= 0 {
		d = dialects[i]
	}
	for end, variant := range d.Variants {
		if strings.HasSuffix(base.Path, end) {
			return variant, nil
		}
	}
	return d, nil
}

// Dialects are the names of the dialects, sorted.
func Dialects() (names []string) {
	for _, d := range dialects {
		names = append(names, d.Name)
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

// The names of the dialects of features.
const (
	Gemini           = "gemini"            // generateContent, at the Gemini API or on Vertex AI
	VertexAnthropic  = "vertex-anthropic"  // Claude on Vertex AI: rawPredict
	Bedrock          = "bedrock"           // Converse
	BedrockAnthropic = "bedrock-anthropic" // Claude: InvokeModel
)
