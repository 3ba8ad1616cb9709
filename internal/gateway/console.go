package gateway

import (
	"errors"
	"net/netip"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/metrics"
	"github.com/gatehouse-proxy/gatehouse/internal/websession"
)

// consoles is what the consoles of a configuration say of the users whom another system signs in. It is
// set while the configuration is provisioned.
type consoles struct {
	several bool // the gateway is one of several
	number  int
	keysOf  []func(user string) (key string)
}

// serve reports whether a user may still use a key. Of several gateways, one without a console says
// nothing of the users of the others.
func (c *consoles) serve(user, key string) bool {
	if user == "" || c.several && c.number == 0 {
		return true
	}
	return slices.ContainsFunc(c.keysOf, func(keyOf func(string) string) bool { return keyOf(user) == key })
}

// keeps returns a function that reports whether somebody stays signed in. A key that cannot be found at
// present may be good. It is for one goroutine, which may ask for many: users have few keys, and to find
// one by its name takes long among many.
func (c Console) keeps() func(websession.Session) bool {
	good := make(map[string]bool) // by the names of keys
	return func(s websession.Session) bool {
		if s.User == "" {
			_, err := c.CallerOf(s.Tenant, s.Key, s.KeyHash)
			var refusal *apierror.Error
			return !errors.As(err, &refusal) || refusal.Code != apierror.InvalidAPIKey
		}
		if _, known := good[s.Key]; !known {
			_, err := c.CallerNamed(s.Key)
			good[s.Key] = err == nil
		}
		return good[s.Key] && c.gateway.consoles.serve(s.User, s.Key)
	}
}

// Serves notes a console of the configuration. KeyOf returns the key of a user, "" for none; nil: another
// system signs nobody in there.
func (c Console) Serves(keyOf func(user string) (key string)) {
	all := &c.gateway.consoles
	all.number++
	if keyOf != nil {
		all.keysOf = append(all.keysOf, keyOf)
	}
}

// Sessions are those who are signed in. They outlive the configuration. The store is there once Ready
// has returned.
func (c Console) Sessions() websession.Store { return c.gateway.state.stores.signedIn() }

// SignedIn counts a sign-in.
func (c Console) SignedIn() { c.gateway.state.Metrics.Console.SignIn(metrics.SignInOK) }

// SignInRefused counts and logs a sign-in with a key that is not valid. It returns how long its answer
// must wait; ok is false if too many wait, and then it is answered at once. The log is sampled: such
// requests cost an attacker nothing.
func (c Console) SignInRefused(from netip.Addr) (wait time.Duration, ok bool) {
	c.refused(metrics.SignInInvalidKey, from, "")
	return c.gateway.state.ConnLimiter.FailedSignIn(from)
}

// UserRefused counts and logs a user whom another system has signed in, and who has no valid key here.
func (c Console) UserRefused(from netip.Addr, user string) { c.refused(metrics.SignInUser, from, user) }

// Unavailable logs that sessions cannot be kept or found at present, and counts a sign-in that failed
// because of it. The log is sampled.
func (c Console) Unavailable(signIn bool, err error) {
	if signIn {
		c.gateway.state.Metrics.Console.SignIn(metrics.SignInUnavailable)
	}
	c.gateway.requests.Sampled().Error("sessions of the console are not available", zap.Error(err))
}

// Knows reports whether the configuration has a key of this name, valid or not.
func (c Console) Knows(key string) bool {
	_, ok := c.gateway.keyring.Named(key)
	return ok
}

func (c Console) refused(result string, from netip.Addr, user string) {
	c.gateway.state.Metrics.Console.SignIn(result)
	c.gateway.requests.Sampled().Warn("console sign-in refused", zap.String("result", result), zap.String("remote", from.String()),
		zap.String("user", c.gateway.requests.Redactor.Name(user)))
}
