package messagesonchat

import (
	"github.com/gatehouse-proxy/gatehouse/internal/anthropic"
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// fields is the table of the fields of a Messages request: Anthropic's, with those of its betas,
// and those that OpenRouter adds. A test holds docs/messages.md to it.
var fields = translate.Fields{
	"temperature": translate.Kept,
	"top_p":       translate.Kept,

	"cache_control":  translate.Mapped,
	"max_tokens":     translate.Mapped,
	"messages":       translate.Mapped,
	"metadata":       translate.Mapped,
	"model":          translate.Mapped,
	"output_config":  translate.Mapped,
	"output_format":  translate.Mapped,
	"service_tier":   translate.Mapped,
	"stop_sequences": translate.Mapped,
	"stream":         translate.Mapped,
	"system":         translate.Mapped,
	"thinking":       translate.Mapped,
	"tool_choice":    translate.Mapped,
	"tools":          translate.Mapped,
	"top_k":          translate.Mapped,

	// The gateway chooses model and provider. The rest is the bookkeeping of OpenRouter, and betas
	// that save tokens or time and change nothing else.
	"context_management":    translate.Ignored,
	"diagnostics":           translate.Ignored,
	"fallback_credit_token": translate.Ignored,
	"fallbacks":             translate.Ignored,
	"models":                translate.Ignored,
	"provider":              translate.Ignored,
	"route":                 translate.Ignored,
	"session_id":            translate.Ignored,
	"speed":                 translate.Ignored,
	"trace":                 translate.Ignored,

	"container":     translate.Refused,
	"inference_geo": translate.Refused,
	"mcp_servers":   translate.Refused,
	"plugins":       translate.Refused,
}

// sampling are the fields that the newer version of the API no longer has.
var sampling = []string{"temperature", "top_p", "top_k"}

// check refuses what has no counterpart, and what the caller's version of the API does not have.
func check(body translate.Reader, version string) {
	if version == anthropic.Version2026 {
		for _, key := range sampling {
			if body.Get(key) != nil {
				body.Fail(notInVersion(key))
			}
		}
	}
	fields.Check(body, nil)
}

// notInVersion refuses what the newer version of the API does not have.
func notInVersion(param string) *apierror.Error {
	return apierror.New(apierror.UnsupportedParameter, "%q is not permitted in the version %q of the Messages API, which the request asks for",
		param, anthropic.Version2026).WithParam(param)
}
