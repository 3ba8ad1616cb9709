package house

// arrowsOfClusters are those of the packages that only several gateways need.
var arrowsOfClusters = []struct{ from, to, why string }{
	{"internal/cluster", "internal/valkey", "leases, events and scripts"},
	{"internal/clusterimport", "internal/activity", "calls and their sums"},
	{"internal/clusterimport", "internal/owners", "who owns what is stored"},
	{"internal/clusterimport", "internal/postgres", "where rows go"},
	{"internal/clusterimport", "internal/runtimekeys", "keys of both kinds of table"},
	{"internal/clusterimport", "internal/store", "where rows come from"},
	{"internal/clusterimport", "internal/valkey", "whether gateways run"},
	{"internal/clusterimport", "internal/workstation", "records of workstations"},
	{"internal/clusterimport", "pgx", "one transaction"},
	{"internal/enginetest", "pgx", "whether a server answers"},
	{"internal/limits/shared", "internal/cluster", "its scripts, its lease, what the engine may have lost"},
	{"internal/limits/shared", "internal/limits", "it is the ledger of several gateways"},
	{"internal/limits/shared", "internal/postgres", "the book of what was spent"},
	{"internal/limits/shared", "internal/valkey", "answers of the engine"},
	{"internal/limits/shared", "pgx", "rows of the book"},
	{"internal/postgres", "internal/store", "rows wait on this machine while the database is away"},
	{"internal/postgres", "pgx", "connections, transactions"},
	{"internal/valkey", "valkey-go", "the one package that knows the client"},
	{"internal/workstation/shared", "internal/cluster", "scripts, events, the end of other nodes"},
	{"internal/workstation/shared", "internal/postgres", "the records of workstations"},
	{"internal/workstation/shared", "internal/valkey", "answers of the engine"},
	{"internal/workstation/shared", "internal/workstation", "tokens, sessions and records that gateways share"},
	{"internal/workstation/shared", "pgx", "rows and transactions"},
}
