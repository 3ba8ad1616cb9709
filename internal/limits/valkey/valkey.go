// Package valkey keeps the limits of several gateways together, in Valkey or Redis.
//
//	ledger, err := valkey.NewLedger(valkey.LedgerConfig{Node: node, Writer: writer, DB: db, Crashed: …})
//	…                                  // as any limits.Ledger
//	err = ledger.Close(ctx)            // sends the settlements that wait
//
// [Ledger] keeps hard and soft budgets. What a call may use is reserved by one script, which judges all
// its budgets and takes from all or from none. What it used is sent later, in groups. What was spent is
// also written to PostgreSQL, which is the book: the engine gets its figures from there when it has lost
// them all.
//
//	rates := valkey.NewRates(valkey.RatesConfig{Node: node, Local: local, Limiter: limiter, Logger: logger})
//	…                                  // as any limits.Rates; the limiter shares its slots
//	err = rates.Close(ctx)         // gives back what is not used
//
// [Rates] counts rates, and shares the slots of calls at once. One message does both for a call,
// and a call without either sends none. While the engine does not answer, each gateway has its part.
package valkey
