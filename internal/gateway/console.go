package gateway

import (
	"net/netip"
	"time"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/metrics"
	"github.com/gatehouse-proxy/gatehouse/internal/websession"
)

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
