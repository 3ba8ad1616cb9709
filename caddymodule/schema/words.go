package schema

import (
	"math"
	"reflect"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddytls"

	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/judge"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
)

// types have a form of their own.
var types = map[reflect.Type]schema{
	reflect.TypeFor[caddy.Duration]():              {"type": []string{"string", "integer"}, "examples": []string{"30s", "5m", "12h", "7d"}},
	reflect.TypeFor[desktop.Automation]():          {"type": "string", "enum": desktop.AutomationWords()},
	reflect.TypeFor[caddytls.ConnectionPolicies](): {"type": "array", "items": schema{"type": "object"}},
}

var (
	scopes = keys.Scope(math.MaxUint16).Names()
	served = []string{"native", "translate"}
)

// words are the values of fields that have a fixed set of them.
var words = map[string][]string{
	"Auth.Scopes":                scopes,
	"Rights.Scopes":              scopes,
	"RuntimeKeys.Scopes":         scopes,
	"Rights.Unpriced":            {"allow"},
	"RuntimeKeys.Unpriced":       {"allow"},
	"LimitPolicy.OnStoreFailure": {"open", "closed"},
	"Provider.Chat":              served,
	"Provider.Responses":         served,
	"Provider.Messages":          served,
	"Provider.MaxTokensField":    {"max_tokens", "max_completion_tokens"},
	"Provider.Cost":              {"reported"},
	"Translate.UnknownTools":     {"drop", "refuse"},
	"Guardrail.On":               {"input", "output", "both"},
	"GuardRule.Guardrail":        {string(judge.Deny), string(judge.Redact)},
	"GuardRule.Detector":         texts(judge.Detectors()),
	"GuardWebhook.OnFailure":     {"open", "closed"},
	"VNCSettings.OnConflict":     {"refuse", "replace", "share"},
}

func texts[T ~string](words []T) (all []string) {
	for _, w := range words {
		all = append(all, string(w))
	}
	return all
}
