package authserver

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"go.uber.org/zap"
)

// The paths of the server. Clients find them by MetadataPath (RFC 8414).
const (
	MetadataPath = "/.well-known/oauth-authorization-server"
	DevicePath   = "/oauth/device_authorization"
	TokenPath    = "/oauth/token"
	RevokePath   = "/oauth/revoke"
	PagePath     = "/oauth/device"
	StylePath    = "/oauth/style.css"
)

// Server is the authorization server of a configuration. It is safe for concurrent use.
type Server struct {
	config   Config
	state    *State
	provider Provider
	logger   *zap.Logger
	keys     *secretKeys
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
	s.keys, err = newKeys(c.Keys)
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

// ServeMetadata says where the other endpoints are (RFC 8414).
func (s *Server) ServeMetadata(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, struct {
		Issuer      string   `json:"issuer"`
		Device      string   `json:"device_authorization_endpoint"`
		Token       string   `json:"token_endpoint"`
		Revocation  string   `json:"revocation_endpoint"`
		Grants      []string `json:"grant_types_supported"`
		Responses   []string `json:"response_types_supported"`
		TokenAuth   []string `json:"token_endpoint_auth_methods_supported"`
		RevokeAuth  []string `json:"revocation_endpoint_auth_methods_supported"`
		GatewayWire int      `json:"gateway_protocol_version"` // of Claude Code's gateway protocol
	}{
		s.config.Origin, s.config.Origin + DevicePath, s.config.Origin + TokenPath, s.config.Origin + RevokePath,
		[]string{deviceGrant, refreshGrant}, []string{}, []string{"none"}, []string{"none"}, 1,
	})
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
	return strings.HasPrefix(text, accessPrefix) || strings.HasPrefix(text, refreshPrefix) || strings.HasPrefix(text, devicePrefix)
}

// maxToken bounds a token, in bytes.
const maxToken = 128
