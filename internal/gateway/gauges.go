package gateway

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/metrics"
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall"
	"github.com/gatehouse-proxy/gatehouse/internal/policy"
	"github.com/gatehouse-proxy/gatehouse/internal/version"
)

// scrape is what the metrics show of a configuration.
type scrape struct {
	names           metrics.Names           // that labels can have
	budgeted        func() []limits.Subject // that have a budget
	certificateEnds func() time.Time        // nil without VNC
}

func newScrape(g *Gateway, c *Config) scrape {
	allowed := c.Limits
	return scrape{metricNames(g, c.Routes), sync.OnceValue(func() []limits.Subject { return withBudgets(allowed) }), c.VNCCertificateEnds}
}

// gauges are the values that the metrics read at each scrape.
func (s *State) gauges() metrics.Gauges {
	build := version.Read()
	return metrics.Gauges{
		Build:        map[string]string{"version": build.Version, "commit": build.Commit, "caddy_version": build.Caddy, "goversion": build.GoVersion},
		ActivityLost: func() float64 { return float64(s.stores.dropped()) },
		StoreQueue:   func() float64 { return float64(s.stores.status().Waiting) },
		StoreUp: func() float64 {
			if s.stores.status().Err != nil {
				return 0
			}
			return 1
		},
		InFlight:          func() float64 { return float64(s.generations.inFlight()) },
		BodyMemory:        func() float64 { return float64(s.Bodies.Used()) },
		BodyMemoryLimit:   func() float64 { return float64(s.Bodies.Limit()) },
		AnswerMemory:      func() float64 { return float64(s.Answers.Used()) },
		AnswerMemoryLimit: func() float64 { return float64(s.Answers.Limit()) },
		Sessions:          func() float64 { return float64(s.Workstations.Open()) },
		HalfOpen:          func() float64 { return float64(s.ConnLimiter.Pending()) },
		CertificateEnds:   s.certificateEnds,
		Providers:         s.providersUp,
		Credentials:       func() []metrics.CredentialLeft { return credentialsLeft(s.generations.current()) },
		Features:          s.featureGauges,
		Sources:           s.sourcesUp,
		Queues:            s.queues,
		Budgets:           s.budgetsSpent,
	}
}

// featureGauges are those of the features of the current configuration.
func (s *State) featureGauges() (all []metrics.Collector) {
	if current := s.generations.current(); current != nil {
		for _, f := range current.gateway.features {
			all = append(all, f.Gauges...)
		}
	}
	return all
}

// certificateEnds returns when the certificate of viewers expires, the zero time without one.
func (s *State) certificateEnds() time.Time {
	if current := s.generations.current(); current != nil && current.gateway.scrape.certificateEnds != nil {
		return current.gateway.scrape.certificateEnds()
	}
	return time.Time{}
}

// sourcesUp reports of each source of workstations whether it answers.
func (s *State) sourcesUp() map[string]bool {
	up := make(map[string]bool)
	if current := s.generations.current(); current != nil && current.workstations != nil {
		for name, source := range current.workstations.Sources.All() {
			_, down := source.Down()
			up[name] = !down
		}
	}
	return up
}

// queues returns how many calls wait for a concurrency slot.
func (s *State) queues() map[metrics.Queue]int {
	lengths := make(map[metrics.Queue]int)
	s.Concurrency.EachQueue(func(subject string, waiting int) { lengths[metrics.QueueOf(subject)] += waiting })
	return lengths
}

// scrapeTimeout bounds how long a scrape waits for the ledger. The one in SQLite has all balances in
// memory.
const scrapeTimeout = time.Second

// budgetsSpent returns the fullest budgets of the present configuration, and none of them if the
// ledger does not answer in time.
func (s *State) budgetsSpent() []metrics.BudgetSpent {
	current := s.generations.current()
	if current == nil {
		return nil
	}
	select {
	case <-current.ready:
	default: // it has no ledger yet
		return nil
	}
	g := current.gateway
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTimeout)
	defer cancel()
	var worst []metrics.BudgetSpent
	for part := range slices.Chunk(g.scrape.budgeted(), limits.MaxSubjects) {
		balances, err := g.requests.Ledger.Status(ctx, g.now(), part)
		if err != nil {
			return nil
		}
		for _, b := range balances {
			worst = append(worst, metrics.BudgetSpent{Scope: b.Subject, Budget: b.Budget.String(), Ratio: float64(b.Spent) / float64(b.Budget.Limit)})
		}
		if len(worst) >= 2*metrics.MostBudgets {
			worst = fullest(worst)
		}
	}
	return fullest(worst)
}

// fullest returns the budgets with the highest ratio, as many as a scrape shows.
func fullest(budgets []metrics.BudgetSpent) []metrics.BudgetSpent {
	slices.SortStableFunc(budgets, func(a, b metrics.BudgetSpent) int { return cmp.Compare(b.Ratio, a.Ratio) })
	return budgets[:min(len(budgets), metrics.MostBudgets)]
}

// withBudgets returns the subjects that have a budget.
func withBudgets(l *policy.Limits) []limits.Subject {
	return slices.DeleteFunc(l.Subjects(), func(s limits.Subject) bool { return len(s.Budgets) == 0 })
}

// metricNames returns the values that labels can have in this configuration.
func metricNames(g *Gateway, routes []string) metrics.Names {
	names := metrics.Names{
		Routes: routes, Attempts: modelcall.UsualAttempts, Tenants: g.keyring.Tenants(), Guardrails: g.requests.Guardrails.Names(),
	}
	for _, p := range g.requests.Providers {
		names.Providers = append(names.Providers, p.Name)
	}
	if g.desktops.workstations != nil {
		names.Refusals = desktop.RefusalCodes()
	}
	return names
}
