package core

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/gatehouse-proxy/gatehouse/caddymodule/guest"
	"github.com/gatehouse-proxy/gatehouse/internal/caddykit"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
	"github.com/gatehouse-proxy/gatehouse/internal/secret"
)

// Auth is the account that authorizes the gateway, at a cloud or at an authorization server:
// exactly one of its members.
type Auth map[string]json.RawMessage

// JSONShape returns a struct with the members that the modules of the build are.
func (Auth) JSONShape() any {
	var members []reflect.StructField
	for _, m := range caddy.GetModules(string(InAuth)) {
		name := m.ID.Name()
		members = append(members, reflect.StructField{
			Name: strings.ToUpper(name[:1]) + name[1:], Type: reflect.TypeOf(m.New()), Tag: reflect.StructTag(`json:"` + name + `,omitempty"`),
		})
	}
	return reflect.Zero(reflect.StructOf(members)).Interface()
}

// Of reports whether it is an account of a kind.
func (a Auth) Of(kind string) bool { return a[kind] != nil }

// kind returns the only member, or an error if it is not the only one, or not in the build.
func (a Auth) kind() (kind string, err error) {
	if len(a) != 1 {
		return "", fmt.Errorf("auth: want exactly one of %s", anyOf(InAuth.names(), "and"))
	}
	for kind = range a {
		err = InAuth.has(kind)
	}
	return kind, err
}

// account loads the module of an account.
func (a Auth) account(ctx caddy.Context) (guest.Account, error) {
	kind, err := a.kind()
	if err != nil {
		return nil, err
	}
	module, err := ctx.LoadModuleByID(string(InAuth)+"."+kind, a[kind])
	if err == nil {
		err = caddykit.CheckPlaceholders(module)
	}
	if err != nil {
		return nil, fmt.Errorf("auth: %w", err)
	}
	account, ok := module.(guest.Account)
	if !ok {
		return nil, fmt.Errorf("auth: %s is a %T, which is no account", kind, module)
	}
	return account, nil
}

// credential returns the credential of an account, which an earlier configuration may have made,
// and completes the place.
func (a Auth) credential(ctx caddy.Context, s *guest.Server, held *heldCredentials) (provider.Credential, error) {
	account, err := a.account(ctx)
	if err != nil {
		return nil, err
	}
	make, err := account.Prepare(s)
	if err != nil {
		return nil, err
	}
	made, err := held.get(struct {
		Auth                      Auth
		Region, Service, Resource string
	}{a, s.Place.Region, s.Place.Service, s.Resource}, make)
	if err != nil {
		return nil, fmt.Errorf("auth: %w", err)
	}
	return made, nil
}

// secretOf returns what resolves the secrets of an account. Know is called with each.
func secretOf(know func(text *secret.Text, option string)) func(option, text string) (func() string, error) {
	return func(option, text string) (func() string, error) {
		if text == "" {
			return nil, nil
		}
		parsed, err := secret.Parse(text)
		if err == nil {
			err = parsed.Check(validSecret)
		}
		if err != nil {
			return nil, fmt.Errorf("auth: %s: %w", option, err)
		}
		know(parsed, option)
		return parsed.Value, nil
	}
}

// validSecret returns an error if a secret cannot be sent.
func validSecret(value string) error {
	if strings.ContainsAny(value, " \t\r\n") {
		return errors.New("the value has characters that it cannot have, such as a line end")
	}
	return provider.ValidFieldValue(value)
}

// readAuth reads the account of a cloud, or of what else is in the build:
//
//	auth google|aws|azure|… { … }
func (a *Access) readAuth(d *caddyfile.Dispenser) error {
	var kind string
	if !d.AllArgs(&kind) {
		return d.ArgErr()
	}
	if names := slices.DeleteFunc(InAuth.names(), func(name string) bool { return name == oauth }); !slices.Contains(names, kind) {
		return d.Errf("auth %q: want %s", kind, anyOf(names, "or"))
	}
	return a.readAccount(d, kind)
}

// readOAuth reads a client of an authorization server:
//
//	oauth client_credentials { … }
func (a *Access) readOAuth(d *caddyfile.Dispenser) error {
	var grant string
	if !d.AllArgs(&grant) {
		return d.ArgErr()
	}
	if grant != "client_credentials" {
		return d.Errf("oauth %q: want client_credentials", grant)
	}
	return a.readAccount(d, oauth)
}

// oauth is the member of auth that has an option of its own in the Caddyfile.
const oauth = "oauth"

func (a *Access) readAccount(d *caddyfile.Dispenser, kind string) error {
	if a.Auth != nil {
		return d.Err("auth and oauth: give only one of them")
	}
	if err := InAuth.has(kind); err != nil {
		return d.Errf("auth %v", err)
	}
	module, err := caddyfile.UnmarshalModule(d, string(InAuth)+"."+kind)
	if err != nil {
		return err
	}
	a.Auth = Auth{kind: caddyconfig.JSON(module, nil)}
	return nil
}
