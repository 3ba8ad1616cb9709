//go:build linux

package enginetest

import (
	"fmt"
	"os"
	"testing"
)

func TestAPortIsGivenOnceAndNotToConnections(t *testing.T) {
	text, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range")
	if err != nil {
		t.Skip(err)
	}
	var first, last int
	if _, err := fmt.Sscan(string(text), &first, &last); err != nil {
		t.Fatal(err)
	}
	given := map[int]bool{}
	for range 500 {
		port := freePort(t)
		if given[port] || port >= first && port <= last {
			t.Fatalf("%d: given before %v, ports of connections are %d to %d", port, given[port], first, last)
		}
		given[port] = true
	}
}
