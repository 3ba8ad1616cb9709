package vnc

import (
	"regexp"

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// How the layer-4 handler waits for TLS, besides harness.WaitForTLS. It need not where all viewers of
// a test wait for the greeting.
const (
	silent = "tls_first_wait off\n"
	both   = "tls_first_wait 400ms\n" // the default
)

// dropKey is vncKeys without one of them.
func dropKey(name string) string {
	return regexp.MustCompile(`(?s)key `+name+` \{.*?\n\t\}`).ReplaceAllString(harness.VNCKeys, "")
}
