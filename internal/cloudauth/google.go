package cloudauth

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"cloud.google.com/go/auth"
	"cloud.google.com/go/auth/credentials"
)

// Google says where tokens of Google Cloud come from.
type Google struct {
	// File is a key of a service account, the file of workload identity federation, or a developer's
	// (gcloud auth application-default login). It is read again for each token.
	File string
	// Metadata asks the metadata server of a VM or of GKE. Without it and File, the environment is asked
	// as Google's SDKs do: GOOGLE_APPLICATION_CREDENTIALS, a developer's file, the metadata server.
	Metadata bool
	// QuotaProject pays for the calls instead of the project of the credential; "" = that of the file.
	QuotaProject string
}

const (
	googleScope = "https://www.googleapis.com/auth/cloud-platform"
	// googleEarly is before the end of a token: the metadata server gives the same one until then.
	googleEarly = 225 * time.Second
	// metadataHost is that of Google's metadata server, where GCE_METADATA_HOST names no other one.
	metadataHost = "metadata.google.internal"
	metadataPath = "/computeMetadata/v1/instance/service-accounts/default/token"

	maxCredentialFile = 1 << 20 // bytes
)

// googleTypes are the kinds of files that are taken. Others name programs to run.
var googleTypes = []credentials.CredType{
	credentials.ServiceAccount, credentials.AuthorizedUser, credentials.ExternalAccount, credentials.ImpersonatedServiceAccount,
}

// NewGoogle returns a credential of Google Cloud. The context ends its work in the background.
func NewGoogle(ctx context.Context, g Google, client *http.Client, now func() time.Time) (Credential, error) {
	fetch := g.fromEnvironment(client)
	switch {
	case g.File != "" && g.Metadata:
		return nil, errors.New("file and metadata: give only one of them")
	case g.Metadata:
		fetch = g.fromMetadata(client, now)
	case g.File != "":
		if _, err := g.read(); err != nil { // now, so that a wrong file fails the load
			return nil, err
		}
		fetch = g.fromFile(client)
	}
	return newBearer(ctx, "google", now, googleEarly, fetch), nil
}

// googleFile is a file with a credential.
type googleFile struct {
	text []byte
	typ  credentials.CredType
}

func (g *Google) read() (googleFile, error) {
	text, err := readFile(g.File)
	if err != nil {
		return googleFile{}, err
	}
	var f struct {
		Type   string `json:"type"`
		Source struct {
			Executable json.RawMessage `json:"executable"`
		} `json:"credential_source"`
	}
	if err := json.Unmarshal(text, &f); err != nil {
		return googleFile{}, fmt.Errorf("%s is no JSON", g.File)
	}
	if !slices.Contains(googleTypes, credentials.CredType(f.Type)) {
		return googleFile{}, fmt.Errorf("%s: credentials of type %q are not taken; use a key of a service account or workload identity", g.File, f.Type)
	}
	if f.Source.Executable != nil {
		return googleFile{}, fmt.Errorf("%s runs a program for its tokens, which is not done", g.File)
	}
	return googleFile{text, credentials.CredType(f.Type)}, nil
}

func (g *Google) fromFile(client *http.Client) fetch[token] {
	return func(ctx context.Context) (token, time.Time, error) {
		f, err := g.read()
		if err != nil {
			return token{}, time.Time{}, err
		}
		return g.ask(ctx, client, func(o *credentials.DetectOptions) (*auth.Credentials, error) {
			return credentials.NewCredentialsFromJSON(f.typ, f.text, o)
		})
	}
}

func (g *Google) fromEnvironment(client *http.Client) fetch[token] {
	return func(ctx context.Context) (token, time.Time, error) {
		return g.ask(ctx, client, credentials.DetectDefault)
	}
}

// ask makes credentials, which have no token yet, and gets one.
func (g *Google) ask(ctx context.Context, client *http.Client, find func(*credentials.DetectOptions) (*auth.Credentials, error)) (token, time.Time, error) {
	client, refused := noted(client)
	made, err := find(&credentials.DetectOptions{Scopes: []string{googleScope}, Client: client, DisableAsyncRefresh: true})
	var t *auth.Token
	if err == nil {
		t, err = made.Token(ctx)
	}
	if err != nil {
		return token{}, time.Time{}, cmp.Or(refused.last, failure(err))
	}
	project, _ := made.QuotaProjectID(ctx)
	return token{t.Value, cmp.Or(g.QuotaProject, project)}, t.Expiry, nil
}

func (g *Google) fromMetadata(client *http.Client, now func() time.Time) fetch[token] {
	host := cmp.Or(os.Getenv("GCE_METADATA_HOST"), metadataHost)
	return func(ctx context.Context) (token, time.Time, error) {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+host+metadataPath, nil)
		if err != nil {
			return token{}, time.Time{}, err
		}
		r.Header.Set("Metadata-Flavor", "Google")
		t, expires, err := askToken(client, r, now, 0)
		return token{t, g.QuotaProject}, expires, err
	}
}

// failure drops what can follow the SDK's own words in an error: an answer, which can repeat what it was
// an answer to.
func failure(err error) error {
	text := err.Error()
	if i := strings.IndexAny(text, "{\n"); i >= 0 {
		text = text[:i]
	}
	return errors.New(text)
}
