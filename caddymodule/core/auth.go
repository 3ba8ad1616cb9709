package core

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/cloudauth"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
	"github.com/gatehouse-proxy/gatehouse/internal/secret"
)

// Auth is the account that authorizes the gateway, at a cloud or at an authorization server:
// exactly one of its members.
type Auth struct {
	// Google is an account of Google Cloud. Default: none.
	Google *GoogleAuth `json:"google,omitempty"`

	// AWS is an account of Amazon Web Services. Default: none.
	AWS *AWSAuth `json:"aws,omitempty"`

	// Azure is an account of Microsoft Entra ID. Default: none.
	Azure *AzureAuth `json:"azure,omitempty"`

	// OAuth is a client of an authorization server. Default: none.
	OAuth *OAuth `json:"oauth,omitempty"`
}

// GoogleAuth is an account of Google Cloud. Without a member the environment is asked as Google's
// SDKs do: GOOGLE_APPLICATION_CREDENTIALS, the file of gcloud, the metadata server.
type GoogleAuth struct {
	// File has the key of a service account, or says how workload identity federation gets tokens.
	// It is read for each token.
	File string `json:"file,omitempty"`

	// Metadata asks only the metadata server of a VM or of GKE.
	Metadata bool `json:"metadata,omitempty"`

	// QuotaProject pays for the calls. Default: that of the credential.
	QuotaProject string `json:"quota_project,omitempty"`
}

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

// AzureAuth is an account of Microsoft Entra ID. Without ClientSecret, Certificate, TokenFile and
// ManagedIdentity the variables of workload identity in Kubernetes say all.
type AzureAuth struct {
	// Tenant is the id or the domain of a directory. Default: AZURE_TENANT_ID.
	Tenant string `json:"tenant,omitempty"`

	// ClientID is that of the application, or of a user-assigned managed identity. Default:
	// AZURE_CLIENT_ID.
	ClientID string `json:"client_id,omitempty"`

	// ClientSecret is {env.NAME} or {file./path}; the file is read again when it changes.
	ClientSecret string `json:"client_secret,omitempty" placeholders:"yes"`

	// Certificate is a PEM file with a certificate and its RSA key.
	Certificate string `json:"certificate,omitempty"`

	// TokenFile has the token of another issuer. It is read for each token. Default:
	// AZURE_FEDERATED_TOKEN_FILE.
	TokenFile string `json:"token_file,omitempty"`

	// ManagedIdentity asks for the identity of the VM, the container or the App Service.
	ManagedIdentity bool `json:"managed_identity,omitempty"`

	// Scope is what tokens are for. Default: https://ai.azure.com/.default.
	Scope string `json:"scope,omitempty"`

	// Authority is that of a sovereign cloud. Default: https://login.microsoftonline.com.
	Authority string `json:"authority,omitempty"`
}

// credential returns the credential of an account, which an earlier configuration may have made.
// BaseURL is "" for that of the place. Know is called with each secret and the option that has it.
func (a *Auth) credential(baseURL string, at Place, held *heldCredentials, know func(text *secret.Text, option string)) (provider.Credential, error) {
	if err := a.check(at); err != nil {
		return nil, err
	}
	if base, err := url.Parse(baseURL); err == nil && baseURL != "" && a.AWS == nil { // AWS gets signatures
		if err := cloudauth.Secure(base); err != nil {
			return nil, fmt.Errorf("%q: %w: write https://", baseURL, err)
		}
	}
	make, err := a.prepare(at, know)
	if err != nil {
		return nil, fmt.Errorf("auth: %w", err)
	}
	made, err := held.get(struct {
		Auth            *Auth
		Region, Service string
	}{a, at.Region, at.Service}, make)
	if err != nil {
		return nil, fmt.Errorf("auth: %w", err)
	}
	return made, nil
}

// check refuses an account of one cloud at another one.
func (a *Auth) check(at Place) error {
	given := 0
	for _, c := range []struct {
		is      bool
		name    string
		foreign string // options of other clouds
	}{
		{a.Google != nil, "google", at.Region + at.Service + at.Resource},
		{a.AWS != nil, "aws", at.Project + at.Location + at.APIVersion + at.Resource},
		{a.Azure != nil, "azure", at.Region + at.Service + at.Location + at.APIVersion},
		{a.OAuth != nil, "oauth", at.Project + at.Location + at.APIVersion + at.Region + at.Service},
	} {
		if c.is && c.foreign != "" {
			return fmt.Errorf("auth %s: the address options (project, region, resource and the like) are those of another cloud", c.name)
		}
		if c.is {
			given++
		}
	}
	if given != 1 {
		return errors.New("auth: want exactly one of google, aws, azure and oauth")
	}
	return nil
}

// newCredential makes a credential. The context ends its work in the background.
type newCredential func(ctx context.Context) (cloudauth.Credential, error)

// validSecret returns an error if a secret cannot be sent.
func validSecret(value string) error {
	if strings.ContainsAny(value, " \t\r\n") {
		return errors.New("the value has characters that it cannot have, such as a line end")
	}
	return provider.ValidFieldValue(value)
}

// prepare resolves secrets, and returns what makes the credential.
func (a *Auth) prepare(at Place, know func(text *secret.Text, option string)) (newCredential, error) {
	var errs []error
	current := func(option, text string) func() string {
		if text == "" {
			return nil
		}
		parsed, err := secret.Parse(text)
		if err == nil {
			err = parsed.Check(validSecret)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", option, err))
			return nil
		}
		know(parsed, option)
		return parsed.Value
	}
	switch {
	case a.Google != nil:
		account := cloudauth.Google(*a.Google)
		return func(ctx context.Context) (cloudauth.Credential, error) {
			return cloudauth.NewGoogle(ctx, account, tokenClient(), time.Now)
		}, nil
	case a.AWS != nil:
		account := cloudauth.AWS{
			Region: at.Region, Service: at.Service, Profile: a.AWS.Profile, Instance: a.AWS.Instance, RoleARN: a.AWS.Role,
			SecretKey: current("secret_key", a.AWS.SecretKey), SessionToken: current("session_token", a.AWS.SessionToken),
		}
		if a.AWS.AccessKey != "" { // an id, which is no secret
			var err error
			account.AccessKey, _, err = secret.Resolve(a.AWS.AccessKey)
			errs = append(errs, err)
		}
		return func(ctx context.Context) (cloudauth.Credential, error) {
			return cloudauth.NewAWS(ctx, account, time.Now)
		}, errors.Join(errs...)
	}
	if a.OAuth != nil {
		client := cloudauth.OAuth{
			TokenURL: a.OAuth.TokenURL, ClientID: a.OAuth.ClientID, Secret: current("client_secret", a.OAuth.ClientSecret), Method: a.OAuth.AuthMethod,
			Scope: strings.Join(a.OAuth.Scopes, " "), Audience: a.OAuth.Audience, Resource: a.OAuth.Resource,
		}
		if client.Resource == noResource {
			client.Resource = ""
		}
		return func(ctx context.Context) (cloudauth.Credential, error) {
			return cloudauth.NewOAuth(ctx, client, tokenClient(), time.Now)
		}, errors.Join(errs...)
	}
	account := cloudauth.Azure{
		Tenant: a.Azure.Tenant, ClientID: a.Azure.ClientID, Scope: a.Azure.Scope, Authority: a.Azure.Authority,
		Secret:      current("client_secret", a.Azure.ClientSecret),
		Certificate: a.Azure.Certificate, TokenFile: a.Azure.TokenFile, Managed: a.Azure.ManagedIdentity,
	}
	return func(ctx context.Context) (cloudauth.Credential, error) {
		return cloudauth.NewAzure(ctx, account, tokenClient(), time.Now)
	}, errors.Join(errs...)
}
