package tests

// arrowsOfTests are those of the programs that test the gateway from outside.
var arrowsOfTests = []struct{ from, to, why string }{
	{"tests/fakeprovider", "internal/testprovider/faults", "the provider in a process of its own"},
	{"tests/clients", "internal/testprovider/faults", "the provider, and what it received"},
	{"tests/bench", "tests/process", "runs the servers"},
	{"tests/clients", "tests/process", "runs the gateway"},
	{"tests/viewers", "tests/process", "runs the gateway, desktops and viewers"},
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
