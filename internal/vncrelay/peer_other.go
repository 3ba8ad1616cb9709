//go:build !linux

package vncrelay

import "net"

// readAcknowledgements returns nil: here only keep-alive finds a peer that is gone, and only while
// nothing is on its way to it.
func readAcknowledgements(*net.TCPConn) func() (acknowledgements, bool) { return nil }

func limitRetransmit(*net.TCPConn) {}
