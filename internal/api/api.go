// Package api is how the SDKs of each family want to be answered: errors, rates, model lists and
// chat answers. The Responses API has the same shapes in both families.
package api

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall"
)

// API is a family of SDKs.
type API interface {
	modelcall.API
	// Name is the family's name in records and in the configuration.
	Name() string
	// ShowsGenerationID reports whether the family's clients look for X-Generation-Id.
	ShowsGenerationID() bool
	AppendError(dst []byte, e *apierror.Error) []byte
	// ShowRefusedRate sets the headers that show a rate in the 429 that it led to.
	ShowRefusedRate(h http.Header, r *apierror.Rate, now time.Time)
	AppendModel(dst []byte, m catalog.Model) []byte
	AppendModels(dst []byte, models []catalog.Model, p Page) []byte
}

// The prefixes of the families. All paths below them belong to the gateway, unknown ones too.
const (
	OpenAIPrefix     = "/v1/"
	OpenRouterPrefix = "/api/v1/"
)

// Of returns the family that a path belongs to. Ok is false outside both.
func Of(path string) (a API, ok bool) {
	switch {
	case strings.HasPrefix(path, OpenRouterPrefix):
		return OpenRouter{}, true
	case strings.HasPrefix(path, OpenAIPrefix):
		return OpenAI{}, true
	}
	return nil, false
}

// Parse returns the family of a name.
func Parse(name string) (API, error) {
	for _, a := range []API{OpenAI{}, OpenRouter{}} {
		if a.Name() == name {
			return a, nil
		}
	}
	return nil, fmt.Errorf("unknown family %q; known families: openai, openrouter", name)
}
