package metrics

import "github.com/prometheus/client_golang/prometheus"

// How a sign-in to the console ended.
const (
	SignInOK          = "ok"
	SignInInvalidKey  = "invalid_key"
	SignInUser        = "user_refused" // by single sign-on: the user has no valid key here
	SignInUnavailable = "unavailable"  // sessions could not be kept
)

// Console counts who signs in to the console.
type Console struct {
	signIns *prometheus.CounterVec
}

func newConsole() *Console {
	c := &Console{
		signIns: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: namespace, Name: "console_sign_ins_total",
			Help: "Sign-ins to the console, by result.",
		}, []string{"result"}),
	}
	for _, result := range []string{SignInOK, SignInInvalidKey, SignInUser, SignInUnavailable} {
		c.signIns.WithLabelValues(result)
	}
	return c
}

func (c *Console) collectors() []prometheus.Collector {
	return []prometheus.Collector{c.signIns}
}

// SignIn counts one sign-in.
func (c *Console) SignIn(result string) { c.signIns.WithLabelValues(result).Inc() }
