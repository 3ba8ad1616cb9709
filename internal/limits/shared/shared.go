// Package shared keeps the limits of several gateways together, in Valkey or Redis.
//
//	ledger, err := shared.NewLedger(shared.LedgerConfig{Node: node, Writer: writer, DB: db, Crashed: …})
//	…                                  // as any limits.Ledger
//	err = ledger.Close(ctx)            // sends the settlements that wait
//
// [Ledger] keeps hard and soft budgets. What a call may use is reserved by one script, which judges all
// its budgets and takes from all or from none. What it used is sent later, in groups. What was spent is
// also written to PostgreSQL, which is the book: the engine gets its figures from there when it has lost
// them all.
package shared
