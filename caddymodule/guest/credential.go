package guest

import (
	"context"
	"net/http"
	"time"
)

// Account is a module of the namespace gatehouse.credentials. It is the member of its name in
// "auth" and, if it implements caddyfile.Unmarshaler, the block auth NAME of a provider, an
// endpoint or an MCP server.
type Account interface {
	// Prepare checks the account, resolves its secrets, and returns what makes its credential.
	// It may complete the place of the server. It sends nothing.
	Prepare(s *Server) (NewCredential, error)
}

// NewCredential makes a credential. It is called unless there is one of an equal account in this
// configuration or the one before. The end of ctx ends the credential's work in the background.
type NewCredential func(ctx context.Context) (Credential, error)

// Server is what an account is for.
type Server struct {
	// BaseURL is the configured one, "" if it follows from the place.
	BaseURL string
	// Place is where at a cloud the server is.
	Place Place
	// Resource is the URI of the server for tokens (RFC 8707), "" if it has none.
	Resource string
	// Secret resolves a text with a placeholder, {env.NAME} or {file./path}, and keeps its
	// value out of logs and errors. The returned function gives the value at present. It is
	// nil for "".
	Secret func(option, text string) (current func() string, err error)
}

// Place is where at a cloud a server is. Each member is "" if it is not configured.
type Place struct {
	Project    string // Google Cloud's, or Microsoft Foundry's
	Location   string // Google Cloud's
	APIVersion string // Google's
	Region     string // AWS
	Service    string // AWS
	Resource   string // Azure OpenAI or Foundry
}

// Credential authorizes requests. It is safe for concurrent use.
type Credential interface {
	// Sign sets what authorizes a request. It is the last change to the request, whose URL,
	// header and body are final: GetBody returns the body, and is nil for a request without
	// one. It is called for every attempt, also for one that is repeated on a new connection.
	// It may wait as long as the request's context lasts.
	Sign(r *http.Request) error
	// Refused notes that the server answered a signed request with 401 or 403, or said that
	// the credential has expired. It reports whether another request may have a new one.
	Refused(status int) bool
	// Secrets are what errors and logs do not show.
	Secrets() []string
	// Fetch asks the source of the credential for another one now.
	Fetch(ctx context.Context) error
	// Status says whether the source gives a credential. It asks nobody.
	Status() CredentialStatus
}

// CredentialStatus says whether a source gives a credential.
type CredentialStatus struct {
	Kind      string        // the name of the module
	Static    bool          // it does not expire
	Life      time.Duration // that is left; 0: there is none at present
	Refreshed time.Time     // when the last one came; zero: none has
	Err       error         // of the last attempt; nil: it succeeded, or there was none
}
