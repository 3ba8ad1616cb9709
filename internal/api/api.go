// Package api is how the SDKs of each family want to be answered: errors, rates, model lists and
// chat answers. The Responses API has the same shapes in the families of OpenAI and OpenRouter.
package api

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/anthropic"
	"github.com/gatehouse-proxy/gatehouse/internal/gemini"
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall/wire"
	"github.com/gatehouse-proxy/gatehouse/internal/request"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
)

// API is a family of SDKs.
type API interface {
	wire.API
	// Name is the family's name in records and in the configuration.
	Name() string
	// ShowIDs sets the headers by which the family's clients name a request.
	ShowIDs(h http.Header, ids request.IDs)
	// AppendError appends the body of a refusal. RequestID is the gateway's.
	AppendError(dst []byte, e *apierror.Error, requestID string) []byte
	// ShowRefusal sets the headers of a refusal that only this family has: a rate, in the 429 that it
	// led to.
	ShowRefusal(h http.Header, e *apierror.Error, now time.Time)
	// ParsePage reads which part of the list of models is asked for. The error is a 400.
	ParsePage(q url.Values) (Page, error)
	AppendModel(dst []byte, m catalog.Model) []byte
	// AppendModels appends a page of the list of models, which it may change.
	AppendModels(dst []byte, models []catalog.Model, p Page) []byte
}

// ModelsFunc appends an answer about a page of the list of models, which it may change.
type ModelsFunc func(dst []byte, models []catalog.Model, p Page) []byte

// The headers that name a request.
const (
	RequestIDHeader    = "X-Request-Id"
	GenerationIDHeader = "X-Generation-Id"
)

// The prefixes of the families, below which Anthropic's SDKs have their paths too. All paths below them belong to the gateway, unknown ones too.
const (
	OpenAIPrefix     = "/v1/"
	OpenRouterPrefix = "/api/v1/"
	GooglePrefix     = "/v1beta/"

	GoogleAlphaPrefix = "/v1alpha/" // the same
	MCPPrefix         = "/mcp/"
)

// Of returns the family that a path belongs to. Ok is false outside all.
func Of(path string) (a API, ok bool) {
	switch {
	case strings.HasPrefix(path, OpenRouterPrefix):
		return OpenRouter{}, true
	case strings.HasPrefix(path, OpenAIPrefix):
		return OpenAI{}, true
	case strings.HasPrefix(path, GooglePrefix), strings.HasPrefix(path, GoogleAlphaPrefix):
		return Google{}, true
	case strings.HasPrefix(path, MCPPrefix):
		return MCP{}, true
	}
	return nil, false
}

// ByHeader returns the family of a request for a path that several families have: Anthropic for one with
// its version header, Google for one with a header of its SDKs, else a.
func ByHeader(h http.Header, a API) API {
	switch {
	case h.Get(anthropic.VersionHeader) != "":
		return Anthropic{}
	case h.Get(gemini.KeyHeader) != "" || h.Get(gemini.ClientHeader) != "":
		return Google{}
	}
	return a
}

// Parse returns the family of a name.
func Parse(name string) (API, error) {
	for _, a := range []API{OpenAI{}, OpenRouter{}, Anthropic{}, Google{}, MCP{}} {
		if a.Name() == name {
			return a, nil
		}
	}
	return nil, fmt.Errorf("unknown family %q; known families: openai, openrouter, anthropic, google, mcp", name)
}
