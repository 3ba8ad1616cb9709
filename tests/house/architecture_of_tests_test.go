package house

// arrowsOfTests are those of the programs that test the gateway from outside.
var arrowsOfTests = []struct{ from, to, why string }{
	{"tests/fakeprovider", "internal/testprovider/faults", "the provider in a process of its own"},
	{"tests/clients", "internal/testprovider/faults", "the provider, and what it received"},
	{"tests/bench", "tests/process", "runs the servers"},
	{"tests/clients", "tests/process", "runs the gateway"},
	{"tests/viewers", "tests/process", "runs the gateway and viewers"},
	{"tests/viewers", "tests/desktop", "desktops, and what viewers show of them"},
	{"tests/desktop", "tests/process", "runs X servers"},
	{"tests/manyrows", "internal/activity", "rows of a month"},
	{"tests/manyrows", "internal/store", "where they are kept"},
	{"tests/sdk/run", "tests/process", "runs the gateway and the fake provider"},
	{"tests/clustertest", "tests/process", "runs gateways, Sentinels and the balancer"},
	{"tests/clustertest", "internal/enginetest", "runs what gateways share"},
	{"tests/clustertest", "internal/testprovider/faults", "the provider, besides models with random costs"},
	{"tests/cluster", "tests/clustertest", "runs a cluster"},
	{"tests/cluster", "tests/process", "a key"},
	{"tests/bench", "tests/clustertest", "the engines of shared limits"},
	{"tests/viewers", "tests/clustertest", "two gateways in the place of one"},
	{"tests/sdk/run", "tests/clustertest", "two gateways in the place of one"},
}
