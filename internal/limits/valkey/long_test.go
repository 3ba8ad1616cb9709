package valkey_test

import "os"

// long says that tests do more of the same, as make cluster-test wants it.
var long = os.Getenv("CLUSTER_LONG") != ""

func amount(usual, more int) int {
	if long {
		return more
	}
	return usual
}
