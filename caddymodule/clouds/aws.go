package clouds

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/gatehouse-proxy/gatehouse/caddymodule/guest"
	"github.com/gatehouse-proxy/gatehouse/internal/caddykit"
	"github.com/gatehouse-proxy/gatehouse/internal/cloudauth"
	"github.com/gatehouse-proxy/gatehouse/internal/secret"
)

// AWSAuth is an account of AWS. Without a member the chain of AWS' SDKs is asked: environment,
// shared configuration files, web identity, container.
type AWSAuth struct {
	// AccessKey is the id of a key that does not change; {env.NAME} or {file./path} too.
	AccessKey string `json:"access_key,omitempty" placeholders:"yes"`

	// SecretKey belongs to AccessKey: {env.NAME} or {file./path}.
	SecretKey string `json:"secret_key,omitempty" placeholders:"yes"`

	// SessionToken belongs to a temporary AccessKey: {env.NAME} or {file./path}. Default: none.
	SessionToken string `json:"session_token,omitempty" placeholders:"yes"`

	// Profile is one of AWS' shared configuration files.
	Profile string `json:"profile,omitempty"`

	// Instance also asks the metadata service of an EC2 instance.
	Instance bool `json:"instance,omitempty"`

	// Role is the ARN of a role that the gateway takes on with what the others give.
	Role string `json:"role,omitempty"`
}

// CaddyModule returns the module's information.
func (AWSAuth) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "gatehouse.credentials.aws", New: func() caddy.Module { return new(AWSAuth) }}
}

// UnmarshalCaddyfile reads the account. Its block may be missing:
//
//	auth aws {
//		access_key ID
//		secret_key {env.NAME}
//		session_token {env.NAME}
//		profile NAME
//		instance
//		role ARN
//	}
func (a *AWSAuth) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next()
	return caddykit.Options{
		"access_key":    caddykit.Word(&a.AccessKey),
		"secret_key":    caddykit.Word(&a.SecretKey),
		"session_token": caddykit.Word(&a.SessionToken),
		"profile":       caddykit.Word(&a.Profile),
		"instance":      caddykit.Flag(&a.Instance),
		"role":          caddykit.Word(&a.Role),
	}.Block(d)
}

// Prepare implements [guest.Account]. What it gives signs requests, so plain http is possible.
func (a *AWSAuth) Prepare(s *guest.Server) (guest.NewCredential, error) {
	at := &s.Place
	at.Region = cmp.Or(at.Region, os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION"))
	if err := check(s, "aws", at.Project+at.Location+at.APIVersion+at.Resource, false); err != nil {
		return nil, err
	}
	account := cloudauth.AWS{Region: at.Region, Service: at.Service, Profile: a.Profile, Instance: a.Instance, RoleARN: a.Role}
	var err, noKey, noSession error
	account.SecretKey, noKey = s.Secret("secret_key", a.SecretKey)
	account.SessionToken, noSession = s.Secret("session_token", a.SessionToken)
	if a.AccessKey != "" { // an id, which is no secret
		if account.AccessKey, _, err = secret.Resolve(a.AccessKey); err != nil {
			err = fmt.Errorf("auth: %w", err)
		}
	}
	return func(ctx context.Context) (guest.Credential, error) {
		return cloudauth.NewAWS(ctx, account, time.Now)
	}, errors.Join(noKey, noSession, err)
}
