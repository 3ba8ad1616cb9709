package cloudauth

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"
	"time"
)

// Azure says how the gateway gets tokens of Microsoft Entra ID.
type Azure struct {
	Tenant    string // directory id or domain; "" = AZURE_TENANT_ID
	ClientID  string // of the application, or of a user-assigned managed identity; "" = AZURE_CLIENT_ID
	Scope     string // "" = AzureScope
	Authority string // of a sovereign cloud; "" = https://login.microsoftonline.com

	// One of these. Without any the file of AZURE_FEDERATED_TOKEN_FILE, which workload identity in
	// Kubernetes sets.
	Secret      func() string
	Certificate string // PEM file with a certificate and its RSA key
	TokenFile   string // of workload identity federation; read again for each token
	Managed     bool   // the managed identity of a VM, a container or App Service
}

// AzureScope is that of Azure OpenAI's v1 and of Foundry. AzureClassicScope is that of older addresses.
const (
	AzureScope        = "https://ai.azure.com/.default"
	AzureClassicScope = "https://cognitiveservices.azure.com/.default"
)

const (
	azureAuthority = "https://login.microsoftonline.com"
	azureEarly     = 5 * time.Minute

	// The metadata server of VMs, and the version of its API and of that of App Service.
	azureMetadata   = "http://169.254.169.254/metadata/identity/oauth2/token"
	metadataVersion = "2018-02-01"
	appService      = "2019-08-01"

	assertionType = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
)

var (
	tenantForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9.-]{0,127}$`)
	clientForm = regexp.MustCompile(`^[A-Za-z0-9-]{1,64}$`)
)

// NewAzure returns a credential of Microsoft Entra ID. The context ends its work in the background.
func NewAzure(ctx context.Context, a Azure, client *http.Client, now func() time.Time) (Credential, error) {
	a.Scope = cmp.Or(a.Scope, AzureScope)
	a.ClientID = cmp.Or(a.ClientID, os.Getenv("AZURE_CLIENT_ID"))
	if scope, err := url.Parse(a.Scope); err != nil || scope.Scheme != "https" || !strings.HasSuffix(a.Scope, "/.default") {
		return nil, fmt.Errorf("scope %q: write one such as %s", a.Scope, AzureScope)
	}
	if a.ClientID != "" && !clientForm.MatchString(a.ClientID) {
		return nil, fmt.Errorf("client_id %q: want the id of an application", a.ClientID)
	}
	fetch, err := a.source(client, now)
	if err != nil {
		return nil, err
	}
	return newBearer(ctx, "azure", now, azureEarly, func(ctx context.Context) (token, time.Time, error) {
		r, err := fetch(ctx)
		if err != nil {
			return token{}, time.Time{}, err
		}
		value, expires, err := askToken(client, r, now, 0)
		return token{value: value}, expires, err
	}), nil
}

// source returns what makes the request for a token.
func (a *Azure) source(client *http.Client, now func() time.Time) (func(context.Context) (*http.Request, error), error) {
	given := 0
	for _, is := range []bool{a.Secret != nil, a.Certificate != "", a.TokenFile != "", a.Managed} {
		if is {
			given++
		}
	}
	if given > 1 {
		return nil, errors.New("client_secret, certificate, token_file and managed_identity: give only one of them")
	}
	if a.Managed {
		return a.managed, managedElsewhere()
	}
	a.Tenant = cmp.Or(a.Tenant, os.Getenv("AZURE_TENANT_ID"))
	switch {
	case !tenantForm.MatchString(a.Tenant):
		return nil, fmt.Errorf("tenant %q: want the id or the domain of a directory", a.Tenant)
	case a.ClientID == "":
		return nil, errors.New("client_id is missing: it is the id of an application in the directory")
	}
	authority, err := url.Parse(cmp.Or(a.Authority, azureAuthority))
	if err != nil || authority.Host == "" || authority.RawQuery != "" || Secure(authority) != nil {
		return nil, fmt.Errorf("authority %q: write an address such as %s", a.Authority, azureAuthority)
	}
	endpoint := strings.TrimRight(authority.String(), "/") + "/" + a.Tenant + "/oauth2/v2.0/token"
	assert := a.federated
	switch {
	case a.Secret != nil:
		assert = func(form url.Values) error {
			form.Set("client_secret", a.Secret())
			return nil
		}
	case a.Certificate != "":
		signer, err := readCertificate(a.Certificate)
		if err != nil {
			return nil, err
		}
		assert = func(form url.Values) error {
			assertion, err := signer.assertion(endpoint, a.ClientID, now())
			form.Set("client_assertion_type", assertionType)
			form.Set("client_assertion", assertion)
			return err
		}
	default:
		if a.TokenFile = cmp.Or(a.TokenFile, os.Getenv("AZURE_FEDERATED_TOKEN_FILE")); a.TokenFile == "" {
			return nil, errors.New("write client_secret, certificate, token_file or managed_identity: nothing says how the gateway proves who it is")
		}
	}
	return func(ctx context.Context) (*http.Request, error) {
		form := url.Values{"client_id": {a.ClientID}, "scope": {a.Scope}, "grant_type": {"client_credentials"}}
		if err := assert(form); err != nil {
			return nil, err
		}
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, endpoint, strings.NewReader(form.Encode()))
		if err == nil {
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		}
		return r, err
	}, nil
}

// federated sends the token of another issuer, such as Kubernetes. Its file changes.
func (a *Azure) federated(form url.Values) error {
	text, err := readFile(a.TokenFile)
	form.Set("client_assertion_type", assertionType)
	form.Set("client_assertion", strings.TrimSpace(string(text)))
	return err
}

// managedElsewhere is an error where managed identities have a protocol of their own, by the variables that
// Microsoft's SDKs look at.
func managedElsewhere() error {
	switch endpoint, header := os.Getenv("IDENTITY_ENDPOINT"), os.Getenv("IDENTITY_HEADER"); {
	case endpoint != "" && os.Getenv("IDENTITY_SERVER_THUMBPRINT") != "":
		return errors.New("managed_identity: that of Service Fabric is not supported; use client_secret, certificate or token_file")
	case endpoint != "" && header == "":
		return errors.New("managed_identity: IDENTITY_ENDPOINT is set without IDENTITY_HEADER, as for Azure Arc, which is not supported; " +
			"use client_secret, certificate or token_file")
	}
	return nil
}

// managed asks for a token of the managed identity: App Service, Functions and Container Apps name their
// address in the environment, VMs have one address.
func (a *Azure) managed(ctx context.Context) (*http.Request, error) {
	address, query := azureMetadata, url.Values{"api-version": {metadataVersion}, "resource": {strings.TrimSuffix(a.Scope, "/.default")}}
	field, value := "Metadata", "true"
	if own := os.Getenv("IDENTITY_ENDPOINT"); own != "" {
		address = own
		field, value = "X-IDENTITY-HEADER", os.Getenv("IDENTITY_HEADER")
		query.Set("api-version", appService)
	}
	if a.ClientID != "" {
		query.Set("client_id", a.ClientID)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address+"?"+query.Encode(), nil)
	if err == nil {
		r.Header.Set(field, value)
	}
	return r, err
}
