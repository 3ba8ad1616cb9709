package gateway

import (
	"context"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/report"
	"github.com/gatehouse-proxy/gatehouse/internal/store"
	"github.com/gatehouse-proxy/gatehouse/internal/version"
)

// About is what a key may know of the gateway that serves it.
type About struct {
	Object string `json:"object"` // "about"
	version.Build
	Desktops    *AboutDesktops `json:"desktops"`     // null: it has no workstations
	RuntimeKeys bool           `json:"runtime_keys"` // keys can be made at run time
	// NewKeys is for those who make keys, where they can be made.
	NewKeys *AboutNewKeys `json:"new_keys,omitempty"`
	Cluster *AboutCluster `json:"cluster"` // null: it is the only gateway
	// AboutStore is for those who read the activity.
	*AboutStore
	// Condition and Certificates are for operators.
	Condition    *report.Condition    `json:"condition,omitempty"`
	Certificates []report.Certificate `json:"certificates,omitempty"`
}

// AboutNewKeys is the most that a key made at run time may have, in the words of POST /api/v1/keys. An
// empty list bounds nothing, but for that of tools, and neither does null.
type AboutNewKeys struct {
	Scopes      []string `json:"scopes"`
	Models      []string `json:"models"`
	Tools       []string `json:"mcp"` // empty: none
	Rates       []string `json:"rates"`
	Budgets     []string `json:"budgets"`
	Concurrency *string  `json:"concurrency"`
	MaxOutput   *int64   `json:"max_output_tokens"`
}

// AboutDesktops says where viewers connect.
type AboutDesktops struct {
	Domain string `json:"domain"`
	Port   int    `json:"port"`
}

// AboutCluster names a gateway among several.
type AboutCluster struct {
	Name string `json:"name"`
	Node string `json:"node"`
}

// AboutStore says since when the configuration is in use, and what is kept.
type AboutStore struct {
	Configured time.Time `json:"configured_at"`
	Keep       struct {
		Rows   int64 `json:"rows_seconds"`   // the age at which a row of the activity is deleted
		Series int64 `json:"series_seconds"` // the age at which sums are
		Size   int64 `json:"size_bytes"`     // of rows at most
	} `json:"keep"`
	Store struct {
		Bytes int64 `json:"bytes"` // of this gateway's database
		// RowsBytes is the size of the rows that a cluster keeps; null without one, or if its database
		// does not answer.
		RowsBytes *int64 `json:"rows_bytes"`
	} `json:"store"`
}

// ReadAbout returns what a key may know of g, after Ready.
func ReadAbout(ctx context.Context, g *Gateway, key *keys.Key) About {
	a := About{Object: "about", Build: version.Read()}
	if g.desktops.workstations != nil {
		p := g.desktops.workstations.Policy()
		a.Desktops = &AboutDesktops{p.Domain, p.Port}
	}
	if shared := g.state.stores.inCluster(); shared != nil {
		a.Cluster = new(AboutCluster)
		a.Cluster.Name, a.Cluster.Node = shared.Names()
	}
	for _, f := range g.features {
		if f.About != nil {
			f.About(&a, key)
		}
	}
	if key.AllTenants || key.Has(keys.ActivityRead) {
		a.AboutStore = g.aboutStore(ctx)
	}
	if key.AllTenants {
		condition := ReadCondition(g)
		a.Condition, a.Certificates = &condition, g.conditions.shown()
	}
	return a
}

// status tells endpoints how a gateway is.
type status struct{ gateway *Gateway }

// About is [ReadAbout].
func (s status) About(ctx context.Context, key *keys.Key) any { return ReadAbout(ctx, s.gateway, key) }

// Condition is [ReadCondition].
func (s status) Condition() report.Condition { return ReadCondition(s.gateway) }

// sizeTimeout bounds the question how large the rows of a cluster are.
const sizeTimeout = 2 * time.Second

func (g *Gateway) aboutStore(ctx context.Context) *AboutStore {
	s := &AboutStore{Configured: g.generation.begun.UTC().Truncate(time.Millisecond)}
	keep := g.generation.keep.OrDefault()
	s.Keep.Rows, s.Keep.Series, s.Keep.Size = int64(keep.Age.Seconds()), int64(keep.Series.Seconds()), keep.Size
	if opened := g.state.stores.opened.Load(); opened != nil {
		s.Store.Bytes = store.Size(opened)
	}
	if shared := g.state.stores.inCluster(); shared != nil {
		ctx, cancel := context.WithTimeout(ctx, sizeTimeout)
		defer cancel()
		if size, err := shared.RowsSize(ctx); err == nil {
			s.Store.RowsBytes = &size
		}
	}
	return s
}
