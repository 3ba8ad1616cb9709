package gateway

import "github.com/gatehouse-proxy/gatehouse/internal/limits"

// ReplaceLedger puts another ledger in the place of the one that a started gateway has.
func ReplaceLedger(g *Gateway, replace func(limits.Ledger) limits.Ledger) {
	g.ledger = replace(g.ledger)
}
