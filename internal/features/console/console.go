// Package console is the feature of a gateway that signs people in to its console.
package console

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
	"github.com/gatehouse-proxy/gatehouse/internal/metrics"
	"github.com/gatehouse-proxy/gatehouse/internal/store"
	"github.com/gatehouse-proxy/gatehouse/internal/websession"
	"github.com/gatehouse-proxy/gatehouse/internal/websession/sqlite"
)

// Console signs people in at the consoles of a configuration.
type Console struct {
	gateway.Callers
	core     gateway.Core
	signedIn *websession.Current // outlives the configuration

	// Set by Serves, while the configuration is provisioned.
	number int
	keysOf []func(user string) (key string)
}

// Feature lets people sign in at consoles. Those who are signed in stay so, as long as the newest
// configuration lets them.
func Feature(c gateway.Core) gateway.Feature {
	s := &Console{Callers: c.Callers, core: c, signedIn: SignedIn(c.Slots, c.Requests.Now)}
	f := gateway.Feature{
		Offers:   s,
		Schemas:  []store.Schema{sqlite.Schema},
		Activate: func() { s.Sessions().Retain(s.keeps()) },
		MayUse:   s.mayUse,
		Gauges: []metrics.Collector{metrics.NewGauge("console_sessions",
			"Browsers that are signed in to the console; of all gateways in a cluster.", nil, func(put metrics.Show) {
				put(float64(s.Sessions().Len()))
			})},
	}
	if !c.Several { // else Valkey has them
		f.Open = func(ctx context.Context, opened *store.Store) error {
			return s.signedIn.Open(ctx, sqlite.NewTable(opened))
		}
	}
	return f
}

// SignedIn returns where a process keeps who is signed in.
func SignedIn(s *gateway.Slots, now func() time.Time) *websession.Current {
	return gateway.Kept(s, func() *websession.Current { return websession.NewCurrent(now) })
}

// mayUse reports whether a user may still use a key. Of several gateways, one without a console
// says nothing of the users of the others.
func (c *Console) mayUse(user, key string) bool {
	if user == "" || c.core.Several && c.number == 0 {
		return true
	}
	return slices.ContainsFunc(c.keysOf, func(keyOf func(string) string) bool { return keyOf(user) == key })
}

// keeps returns a function that reports whether somebody stays signed in. A key that cannot be
// found at present may be good. It is for one goroutine, which may ask for many: users have few
// keys, and to find one by its name takes long among many.
func (c *Console) keeps() func(websession.Session) bool {
	good := make(map[string]bool) // by the names of keys
	return func(s websession.Session) bool {
		if s.Grant != "" || s.User != "" && s.KeyHash != "" {
			return true // a person: each page, and each thing that is open, asks whom it belongs to
		}
		if s.User == "" {
			_, err := c.CallerOf(s.Tenant, s.Key, s.KeyHash)
			var refusal *apierror.Error
			return !errors.As(err, &refusal) || refusal.Code != apierror.InvalidAPIKey
		}
		if _, known := good[s.Key]; !known {
			_, err := c.CallerNamed(s.Key)
			good[s.Key] = err == nil
		}
		return good[s.Key] && c.mayUse(s.User, s.Key)
	}
}

// Serves notes a console of the configuration. KeyOf returns the key of a user, "" for none; nil:
// another system signs nobody in there.
func (c *Console) Serves(keyOf func(user string) (key string)) {
	c.number++
	if keyOf != nil {
		c.keysOf = append(c.keysOf, keyOf)
	}
}

// Ready waits until the gateway has started.
func (c *Console) Ready(ctx context.Context) error { return c.core.Ready(ctx) }

// Sessions are those who are signed in. They outlive the configuration. The store is there once
// Ready has returned.
func (c *Console) Sessions() websession.Store { return c.signedIn.Store() }

// SignedIn counts a sign-in.
func (c *Console) SignedIn() { c.core.Requests.Metrics.Console.SignIn(metrics.SignInOK) }

// SignInRefused counts and logs a sign-in with a key that is not valid. It returns how long its
// answer must wait; ok is false if too many wait, and then it is answered at once. The log is
// sampled: such requests cost an attacker nothing.
func (c *Console) SignInRefused(from netip.Addr) (wait time.Duration, ok bool) {
	c.refused(metrics.SignInInvalidKey, from, "")
	return c.core.VNC.ConnLimiter().FailedSignIn(from)
}

// UserRefused counts and logs a user whom another system has signed in, and who has no valid key
// here.
func (c *Console) UserRefused(from netip.Addr, user string) {
	c.refused(metrics.SignInUser, from, user)
}

// Unavailable logs that sessions cannot be kept or found at present, and counts a sign-in that
// failed because of it. The log is sampled.
func (c *Console) Unavailable(signIn bool, err error) {
	if signIn {
		c.core.Requests.Metrics.Console.SignIn(metrics.SignInUnavailable)
	}
	c.core.Requests.Sampled().Error("sessions of the console are not available", zap.Error(err))
}

func (c *Console) refused(result string, from netip.Addr, user string) {
	c.core.Requests.Metrics.Console.SignIn(result)
	c.core.Requests.Sampled().Warn("console sign-in refused", zap.String("result", result), zap.String("remote", from.String()),
		zap.String("user", c.core.Requests.Redactor.Name(user)))
}
