package metrics

import "github.com/prometheus/client_golang/prometheus"

// Outcome is how a request to a provider ended, in the words of an operator. It says whose fault a
// failure is.
type Outcome string

// The outcomes.
const (
	OK          Outcome = "ok"           // it answered; the gateway may have refused the answer
	RateLimited Outcome = "rate_limited" // 429
	Auth        Outcome = "auth"         // it refused our credential, or our quota there is used up
	BadRequest  Outcome = "bad_request"  // it refused the request: another 4xx
	ServerError Outcome = "server_error" // 5xx, a broken answer, or one that makes no sense
	Timeout     Outcome = "timeout"      // it took too long for something
	Connection  Outcome = "connection"   // it could not be reached, or left before it answered
	Canceled    Outcome = "canceled"     // the client left, or the gateway stopped
)

// Attempt is one ended request to a provider.
type Attempt struct {
	Provider string
	Code     string // the machine code; "" for success
	Outcome  Outcome
}

// ProviderUp is whether a model of the catalog works at a provider, or at one of its endpoints.
type ProviderUp struct {
	Provider, Model, Endpoint string // Endpoint "" for the only one
	Up                        bool
}

// providersUp collects a gauge for each target that has a record.
type providersUp struct {
	desc *prometheus.Desc
	list func() []ProviderUp
}

func newProvidersUp(list func() []ProviderUp) providersUp {
	return providersUp{prometheus.NewDesc(prometheus.BuildFQName(namespace, "provider", "up"),
		"1 if a model works at a provider, 0 since its calls failed; models that had a call within an hour.",
		[]string{"provider", "model", "endpoint"}, nil), list}
}

// Describe implements prometheus.Collector.
func (p providersUp) Describe(ch chan<- *prometheus.Desc) { ch <- p.desc }

// Collect implements prometheus.Collector.
func (p providersUp) Collect(ch chan<- prometheus.Metric) {
	for _, t := range p.list() {
		value := 0.0
		if t.Up {
			value = 1
		}
		ch <- prometheus.MustNewConstMetric(p.desc, prometheus.GaugeValue, value, t.Provider, t.Model, t.Endpoint)
	}
}

// CredentialLeft is how long a credential lives that a cloud gave for a provider, or for one of its
// endpoints.
type CredentialLeft struct {
	Provider, Endpoint string // Endpoint "" for the only one
	Seconds            float64
}

// credentialsLeft collects a gauge for each credential that expires.
type credentialsLeft struct {
	desc *prometheus.Desc
	list func() []CredentialLeft
}

func newCredentialsLeft(list func() []CredentialLeft) credentialsLeft {
	return credentialsLeft{prometheus.NewDesc(prometheus.BuildFQName(namespace, "provider", "credential_remaining_seconds"),
		"How long the token or key lives that a cloud gave for a provider; 0 without one.", []string{"provider", "endpoint"}, nil), list}
}

// Describe implements prometheus.Collector.
func (c credentialsLeft) Describe(ch chan<- *prometheus.Desc) { ch <- c.desc }

// Collect implements prometheus.Collector.
func (c credentialsLeft) Collect(ch chan<- prometheus.Metric) {
	for _, l := range c.list() {
		ch <- prometheus.MustNewConstMetric(c.desc, prometheus.GaugeValue, l.Seconds, l.Provider, l.Endpoint)
	}
}
