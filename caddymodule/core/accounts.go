package core

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/caddymodule/guest"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
	"github.com/gatehouse-proxy/gatehouse/internal/secret"
)

// Account is an address of a provider, and what authorizes the gateway there.
type Account struct {
	// BaseURL is the base URL as an SDK would use it. Required, except for dialect "test". Default:
	// what follows from the place at a cloud; for the dialects anthropic and gemini that of the
	// vendor.
	BaseURL string `json:"base_url,omitempty"`

	// Place is where at a cloud the provider is.
	Place

	Access
}

// Endpoint is one of several addresses or accounts of a provider.
type Endpoint struct {
	// Name is shown in logs and metrics. Required, unique in the provider; a-z, 0-9 and "-".
	Name string `json:"name"`

	// Account replaces that of the provider, field by field.
	Account
}

// Place is where at a cloud a provider is: the options of one cloud.
type Place struct {
	// Project is Google Cloud's; with Resource it is the project at Microsoft Foundry whose
	// deployments are listed. Default: none.
	Project string `json:"project,omitempty"`

	// Location is Google Cloud's, such as "us-central1", "eu" or "global". Default: global.
	Location string `json:"location,omitempty"`

	// APIVersion is that of Google's API. Default: v1beta for the Gemini API; on Vertex AI v1beta1
	// for dialect gemini, else v1.
	APIVersion string `json:"api_version,omitempty"`

	// Region is AWS's. Default: none.
	Region string `json:"region,omitempty"`

	// Service is AWS's, also the name that requests are signed for: "bedrock", "bedrock-mantle" or
	// "aws-external-anthropic". With a base URL it can be another one. Default: bedrock.
	Service string `json:"service,omitempty"`

	// Resource is that of Azure OpenAI or Microsoft Foundry: the first part of its host. Default:
	// none.
	Resource string `json:"resource,omitempty"`
}

// accounts resolves the accounts of providers and MCP servers.
type accounts struct {
	ctx     caddy.Context
	logger  *zap.Logger
	secrets []string
	files   []*secret.File // of secrets that change

	credentials *heldCredentials
}

// of returns the endpoints of a provider. It is empty for an optional provider without secrets.
func (a *accounts) of(p *Provider) (endpoints []provider.EndpointConfig, err error) {
	configured := p.Endpoints
	if len(configured) == 0 {
		configured = []Endpoint{{}}
	}
	for _, e := range configured {
		account := e.Account.over(p.Account)
		owner := fmt.Sprintf("provider %q", p.Name)
		if e.Name != "" {
			owner += fmt.Sprintf(" endpoint %q", e.Name)
		}
		made, err := a.endpoint(owner, account, "")
		switch {
		case errors.Is(err, secret.ErrUnset) && p.Optional && e.Name == "":
			a.logger.Info("an optional provider is left out: its api_key is not set", zap.String("provider", p.Name), zap.Error(err))
			continue
		case errors.Is(err, secret.ErrUnset) && p.Optional:
			a.logger.Info("an endpoint of an optional provider is left out: its api_key is not set",
				zap.String("provider", p.Name), zap.String("endpoint", e.Name), zap.Error(err))
			continue
		case err != nil && e.Name != "":
			return nil, fmt.Errorf("endpoint %q: %w", e.Name, err)
		case err != nil:
			return nil, err
		}
		made.Name = e.Name
		endpoints = append(endpoints, made)
	}
	return endpoints, nil
}

// endpoint resolves an account. Resource is the URI of the server for tokens, "" if it has none.
func (a *accounts) endpoint(owner string, account Account, resource string) (e provider.EndpointConfig, err error) {
	e.BaseURL, e.Place = account.BaseURL, provider.Place(account.Place)
	if account.Auth != nil {
		know := func(text *secret.Text, option string) { a.know(text, owner+" "+option) }
		s := &guest.Server{BaseURL: account.BaseURL, Place: guest.Place(account.Place), Resource: resource, Secret: secretOf(know)}
		if e.Auth, err = account.Auth.credential(a.ctx, s, a.credentials); err != nil {
			return e, err
		}
		e.Place = provider.Place(s.Place)
	}
	if account.APIKey != "" {
		key, err := secret.Parse(account.APIKey)
		if err != nil {
			return e, err
		}
		if err := key.Check(provider.ValidCredential); err != nil {
			return e, err
		}
		a.know(key, owner)
		e.Credential = key.Value
	}
	for _, name := range slices.Sorted(maps.Keys(account.Header)) {
		value, err := secret.Expand(account.Header[name])
		if err != nil {
			return e, fmt.Errorf("header %s: %w", name, err)
		}
		if err := value.Check(provider.ValidFieldValue); err != nil {
			return e, fmt.Errorf("header %s: %w", name, err)
		}
		field := provider.HeaderField{Name: name, Value: value.Value}
		if !value.Literal() || provider.NamesSecret(name) {
			a.know(value, owner+" header "+name)
			field.Secret = value.Secret
		}
		e.Header = append(e.Header, field)
	}
	for name, value := range account.Query {
		if strings.ContainsAny(value, "{}") {
			return e, fmt.Errorf("query %s: a placeholder is not possible: a secret belongs in a header, because addresses are logged", name)
		}
		if e.Query == nil {
			e.Query = url.Values{}
		}
		e.Query.Set(name, value)
	}
	return e, nil
}

// know notes a secret that is sent elsewhere.
func (a *accounts) know(text *secret.Text, owner string) {
	if text.Literal() {
		WarnOfLiteral(a.logger, owner)
	}
	if f := text.File(); f != nil {
		a.files = append(a.files, f)
	} else {
		a.secrets = append(a.secrets, text.Secret())
	}
}

// over returns the account with its gaps filled from another one. One that has a place of its own
// takes no base URL, which would be of another place.
func (a Account) over(other Account) Account {
	if a.BaseURL == "" && a.Place == (Place{}) {
		a.BaseURL = other.BaseURL
	}
	a.Place = a.Place.over(other.Place)
	if a.APIKey == "" && a.Auth == nil {
		a.APIKey, a.Auth = other.APIKey, other.Auth
	}
	a.Header, a.Query = united(a.Header, other.Header, strings.EqualFold), united(a.Query, other.Query, func(a, b string) bool { return a == b })
	return a
}

func (p Place) over(other Place) Place {
	return Place{
		Project: cmp.Or(p.Project, other.Project), Location: cmp.Or(p.Location, other.Location),
		APIVersion: cmp.Or(p.APIVersion, other.APIVersion), Region: cmp.Or(p.Region, other.Region),
		Service: cmp.Or(p.Service, other.Service), Resource: cmp.Or(p.Resource, other.Resource),
	}
}

// united returns the own members, and those of the other map that have no equal name.
func united(own, other map[string]string, equal func(a, b string) bool) map[string]string {
	all := maps.Clone(other)
	maps.DeleteFunc(all, func(name, _ string) bool {
		return slices.ContainsFunc(slices.Collect(maps.Keys(own)), func(n string) bool { return equal(n, name) })
	})
	if all == nil {
		return own
	}
	maps.Copy(all, own)
	return all
}
