package vncrelay

import (
	"net"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/vncrelaytest"
)

type (
	conversation = vncrelaytest.Conversation
	options      = vncrelaytest.Options
)

const (
	domain   = vncrelaytest.Domain
	greets   = vncrelaytest.Greets
	says38   = vncrelaytest.Says38
	accepted = vncrelaytest.Accepted
	pointer  = vncrelaytest.Pointer
	request  = vncrelaytest.Request

	viewerAddress = "192.0.2.1:40000"
	patient       = 20 * time.Second // only a test that fails waits it out
)

var (
	refusal, join   = vncrelaytest.Refusal, vncrelaytest.Join
	desktopInit     = vncrelaytest.DesktopInit
	roots, loopback = vncrelaytest.Roots, vncrelaytest.Loopback
)

// viewer is a connection that is closed at the end of its session, and how that ended.
type viewer struct {
	net.Conn
	end End
}

func (v *viewer) Socket() net.Conn { return Lowest(v.Conn) }
func (v *viewer) HangUp(end End)   { v.end = end }
func (v *viewer) Drain()           { _ = v.Close() }
