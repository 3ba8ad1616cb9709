package provider

import (
	"fmt"
	"net/http"
	"net/url"
	"sort"
	"strings"
)

// Operation is what a call asks of a provider.
type Operation string

// The operations of the gateway's API.
const (
	Chat      Operation = "chat"
	Responses Operation = "responses"
	Models    Operation = "models"
)

// Dialect is how a kind of provider wants to be spoken to. Implementations
// hold no state: one value serves every provider of its kind.
type Dialect interface {
	// Path is the operation's place below the base URL, "" where this kind
	// of provider has no such operation.
	Path(op Operation) string
	// Authorize puts the provider's credential into the request's header.
	Authorize(header http.Header, credential string)
	// OpenRouterFields tells that request fields which only OpenRouter knows
	// may be sent.
	OpenRouterFields() bool
}

// The dialects a provider block can name.
const (
	OpenAI     = "openai"     // any OpenAI-compatible base URL
	OpenRouter = "openrouter" // the same, with OpenRouter's own fields
	Test       = "test"       // built in, no network
)

var dialects = map[string]Dialect{
	OpenAI:     openAI{},
	OpenRouter: openAI{openRouterFields: true},
	Test:       openAI{},
}

// openRouterHost is known by name, so that a block that only says its base
// URL is spoken to rightly.
const openRouterHost = "openrouter.ai"

// dialectFor returns the dialect of this name; an empty name is OpenAI's,
// or OpenRouter's for that vendor's own host.
func dialectFor(name string, base *url.URL) (Dialect, error) {
	if name == "" {
		name = OpenAI
		if base.Hostname() == openRouterHost {
			name = OpenRouter
		}
	}
	d, ok := dialects[name]
	if !ok {
		return nil, fmt.Errorf("unknown dialect %q; known dialects: %s", name, strings.Join(dialectNames(), ", "))
	}
	return d, nil
}

func dialectNames() []string {
	names := make([]string, 0, len(dialects))
	for name := range dialects {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

// openAI is the dialect of OpenAI and of everything compatible with it.
type openAI struct {
	openRouterFields bool
}

func (openAI) Path(op Operation) string {
	switch op {
	case Chat:
		return "/chat/completions"
	case Responses:
		return "/responses"
	case Models:
		return "/models"
	}
	return ""
}

func (openAI) Authorize(header http.Header, credential string) {
	header["Authorization"] = []string{"Bearer " + credential}
}

func (d openAI) OpenRouterFields() bool { return d.openRouterFields }
