package console

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/gatehouse-proxy/gatehouse/internal/console"
	"github.com/gatehouse-proxy/gatehouse/internal/websession"
)

const (
	defaultIdle = time.Hour
	defaultMax  = 12 * time.Hour
	// shortestSession leaves time for a page and its form.
	shortestSession = time.Minute
	// maxUser bounds the name of a user, in bytes.
	maxUser = 320
)

// life returns how long sessions live.
func (h *Console) life() (websession.Life, error) {
	l := websession.Life{Idle: cmp.Or(time.Duration(h.SessionIdle), defaultIdle), Max: cmp.Or(time.Duration(h.SessionMax), defaultMax)}
	switch {
	case l.Idle < shortestSession || l.Max < shortestSession:
		return l, fmt.Errorf("session_idle %v and session_max %v: a session lives for at least %v", l.Idle, l.Max, shortestSession)
	case l.Idle > l.Max && h.SessionIdle != 0:
		return l, fmt.Errorf("session_idle %v is longer than session_max %v", l.Idle, l.Max)
	}
	return l, nil
}

// checkURLs returns an error unless origin and trace_url are such.
func (h *Console) checkURLs() error {
	if h.Origin != "" {
		u, err := url.Parse(h.Origin)
		if err != nil || u.Scheme != "https" || u.Host == "" || u.String() != "https://"+u.Host || u.Host != strings.ToLower(u.Host) || u.Port() == "443" {
			return fmt.Errorf("origin %q: want https:// and a host as browsers send it, in lower case and without a path or :443, as in https://console.example.com", h.Origin)
		}
	}
	if h.TraceURL != "" {
		u, err := url.Parse(h.TraceURL)
		if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || !strings.Contains(h.TraceURL, "{trace_id}") {
			return fmt.Errorf("trace_url %q: want an address with {trace_id} in it, as in https://grafana.example.com/explore?trace={trace_id}", h.TraceURL)
		}
	}
	return nil
}

// users returns the keys of users.
func (s *SignIn) users(g app) (*console.Users, error) {
	knows := g.Knows
	if !strings.HasPrefix(s.User, "{") || !strings.HasSuffix(s.User, "}") || strings.Count(s.User, "{") != 1 {
		return nil, fmt.Errorf("sign_in user %q: want one placeholder, as in {http.auth.user.id}", s.User)
	}
	if len(s.Keys) == 0 && s.Others == "" {
		return nil, errors.New("sign_in user: no user has a key; name at least one, as in \"alice@example.com as ops\"")
	}
	for _, user := range slices.Sorted(maps.Keys(s.Keys)) {
		if user == "" || len(user) > maxUser {
			return nil, fmt.Errorf("sign_in user: the name of a user has 1 to %d bytes", maxUser)
		}
		if key := s.Keys[user]; !knows(key) {
			return nil, fmt.Errorf("sign_in user: %s as %s: the configuration has no key %q", user, key, key)
		}
	}
	if s.Others != "" && !knows(s.Others) {
		return nil, fmt.Errorf("sign_in user: * as %s: the configuration has no key %q", s.Others, s.Others)
	}
	return &console.Users{Of: s.userOf, Keys: s.Keys, Others: s.Others, Holder: g.CallerNamed}, nil
}

// userOf returns the user that the placeholder names, "" for nobody.
func (s *SignIn) userOf(r *http.Request) string {
	replacer, ok := r.Context().Value(caddy.ReplacerCtxKey).(*caddy.Replacer)
	if !ok {
		return ""
	}
	user := replacer.ReplaceAll(s.User, "")
	if len(user) > maxUser {
		return ""
	}
	return user
}
