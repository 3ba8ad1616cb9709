//go:build !linux

package vnclocal

import "net"

// ofSameUser is not known here.
func ofSameUser(*net.TCPConn) bool { return true }
