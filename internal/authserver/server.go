package authserver

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"
)

// Server is the authorization server of a configuration. It is safe for concurrent use.
type Server struct {
	config   Config
	state    *State
	provider Provider
	logger   *zap.Logger
	keys     *secretKeys
	clients  *clients
	csrf     *http.CrossOriginProtection
	again    *asker
}

// With returns the server at work.
func (s *Server) With(state *State, provider Provider, logger *zap.Logger) *Server {
	at := *s
	at.state, at.provider, at.logger, at.again = state, provider, logger, &asker{state, provider, s.keys, logger}
	return &at
}

// New checks a configuration.
func New(c Config) (*Server, error) {
	c.TokenLife, c.RefreshLife = cmp.Or(c.TokenLife, DefaultTokenLife), cmp.Or(c.RefreshLife, DefaultRefreshLife)
	u, err := url.Parse(c.Origin)
	switch {
	case err != nil || u.Host == "" || u.Scheme+"://"+u.Host != c.Origin:
		return nil, fmt.Errorf("origin %q: want where clients reach the gateway, such as https://ai.example.com", c.Origin)
	case u.Scheme != "https" && !(u.Scheme == "http" && isLoopback(u.Hostname())):
		return nil, fmt.Errorf("origin %q: http is only possible on this machine (127.0.0.1, localhost)", c.Origin)
	case c.TokenLife < minLife || c.TokenLife > maxTokenLife:
		return nil, fmt.Errorf("token_life %v: want from %v to %v", c.TokenLife, minLife, maxTokenLife)
	case c.RefreshLife < c.TokenLife || c.RefreshLife > DefaultRefreshLife:
		return nil, fmt.Errorf("refresh_life %v: want from token_life to %v", c.RefreshLife, DefaultRefreshLife)
	}
	s := &Server{config: c, csrf: http.NewCrossOriginProtection()}
	_ = s.csrf.AddTrustedOrigin(c.Origin) // it was checked
	if s.keys, err = newKeys(c.Keys); err != nil {
		return nil, err
	}
	s.clients, err = newClients(&c, s.keys)
	return s, err
}

const (
	// minLife is what a client has time to refresh in.
	minLife = 10 * time.Second
	// maxTokenLife is how long somebody may work on who has left.
	maxTokenLife = 24 * time.Hour
)

func isLoopback(host string) bool {
	return host == "localhost" || host == "127.0.0.1" || host == "::1"
}

// ServeMetadata says where the endpoints are, and what clients can do there (RFC 8414).
func (s *Server) ServeMetadata(w http.ResponseWriter, _ *http.Request) {
	at := s.config.Origin
	writeJSON(w, http.StatusOK, struct {
		Issuer        string   `json:"issuer"`
		Authorization string   `json:"authorization_endpoint"`
		Device        string   `json:"device_authorization_endpoint"`
		Token         string   `json:"token_endpoint"`
		Revocation    string   `json:"revocation_endpoint"`
		Registration  string   `json:"registration_endpoint"`
		Grants        []string `json:"grant_types_supported"`
		Responses     []string `json:"response_types_supported"`
		Modes         []string `json:"response_modes_supported"`
		Challenges    []string `json:"code_challenge_methods_supported"`
		TokenAuth     []string `json:"token_endpoint_auth_methods_supported"`
		RevokeAuth    []string `json:"revocation_endpoint_auth_methods_supported"`
		NamesItself   bool     `json:"authorization_response_iss_parameter_supported"`
		Documents     bool     `json:"client_id_metadata_document_supported"`
		GatewayWire   int      `json:"gateway_protocol_version"` // of Claude Code's gateway protocol
	}{
		at, at + AuthorizePath, at + DevicePath, at + TokenPath, at + RevokePath, at + RegisterPath,
		slices.Sorted(maps.Keys(grants)), []string{"code"}, []string{"query"}, []string{"S256"}, []string{"none"}, []string{"none"},
		true, s.clients.documents != nil, 1,
	})
}

// ServeResource says where clients sign in for a resource (RFC 9728). It says the same of a server
// that is not there: who may not know of one must not learn of it.
func (s *Server) ServeResource(w http.ResponseWriter, r *http.Request) {
	resource, ok := strings.CutPrefix(r.URL.Path, ResourcePath)
	if !ok || !isResource(resource) {
		s.write(w, &refusal{status: http.StatusNotFound, code: invalidTarget, text: "want " + ResourcePath + MCPPath + "NAME"})
		return
	}
	writeJSON(w, http.StatusOK, struct {
		Resource string   `json:"resource"`
		Servers  []string `json:"authorization_servers"`
		Scopes   []string `json:"scopes_supported"`
		Methods  []string `json:"bearer_methods_supported"`
	}{s.config.Origin + resource, []string{s.config.Origin}, []string{ResourceScope}, []string{"header"}})
}

// Challenge is the WWW-Authenticate of a refusal at a resource: 401 to a request without a good
// token, 403 to one whose token has not the right (MCP 2026-07-28, "Authorization").
func (s *Server) Challenge(resource string, status int) string {
	if !isResource(resource) {
		return ""
	}
	challenge := `Bearer resource_metadata="` + s.config.Origin + ResourcePath + resource + `", scope="` + ResourceScope + `"`
	if status == http.StatusForbidden {
		challenge += `, error="insufficient_scope"`
	}
	return challenge
}

// ServeRegister registers a client (RFC 7591): its ID has all that it says of itself, and nothing
// is kept.
func (s *Server) ServeRegister(w http.ResponseWriter, r *http.Request) {
	client, err := s.clients.register(r.Body, s.state.now())
	if err != nil {
		s.write(w, err)
		return
	}
	writeJSON(w, http.StatusCreated, client)
}

// Find returns the sign-in of an access token, and when the token ends. It asks the identity
// provider again if the person has a role by a configuration that has changed. The error wraps
// ErrGone for a token that is not good, or ErrRefused or ErrUnavailable.
func (s *Server) Find(ctx context.Context, token string) (*SignIn, time.Time, error) {
	in, until, err := s.find(ctx, token)
	if err == nil {
		if err = s.again.current(ctx, in); err == nil {
			return s.find(ctx, token)
		}
	}
	return in, until, err
}

func (s *Server) find(ctx context.Context, token string) (*SignIn, time.Time, error) {
	if !strings.HasPrefix(token, accessPrefix) || len(token) > maxToken {
		return nil, time.Time{}, ErrGone
	}
	if in, until, ok := s.state.Held(sha256.Sum256([]byte(token))); ok {
		return in, until, nil
	}
	id, sum, ok := s.keys.parse(accessPrefix, token)
	if !ok {
		return nil, time.Time{}, ErrGone
	}
	r, err := s.state.get(ctx, id) // another gateway may have given it out a moment ago
	if err != nil {
		return nil, time.Time{}, err
	}
	s.state.apply(*r)
	if in, until, ok := s.state.Held(sum); ok {
		return in, until, nil
	}
	return nil, time.Time{}, ErrGone
}

// IsToken reports whether a text begins as tokens of the server do.
func IsToken(text string) bool {
	return slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(text, prefix) })
}

var prefixes = []string{accessPrefix, refreshPrefix, devicePrefix, codePrefix}

// maxToken bounds a token, in bytes.
const maxToken = 128
