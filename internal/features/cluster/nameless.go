package cluster

import (
	"context"
	"net/netip"
	"strings"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/cluster"
	"github.com/gatehouse-proxy/gatehouse/internal/connlimit"
)

const (
	// eventNameless says that a viewer sent no host name, or was asked for a password since: the
	// node, "add" or "take", the address.
	eventNameless = "nameless"
	// namelessTimeout bounds how long a viewer waits until the others are told. One that they do
	// not know has to connect twice more.
	namelessTimeout = 100 * time.Millisecond
)

// shareNameless lets all nodes know of viewers that sent no host name. It must be called before the
// node starts.
func shareNameless(l *connlimit.Limiter, node *cluster.Node, name string) {
	node.On(eventNameless, func(text string) {
		from, rest, _ := strings.Cut(text, " ")
		what, addr, _ := strings.Cut(rest, " ")
		if viewer, err := netip.ParseAddr(addr); err == nil && from != name {
			l.HearNameless(viewer, what == "take")
		}
	})
	l.Share(func(viewer netip.Addr, taken bool) {
		ctx, cancel := context.WithTimeout(context.Background(), namelessTimeout)
		defer cancel()
		what := "add"
		if taken {
			what = "take"
		}
		_ = node.Publish(ctx, eventNameless, name+" "+what+" "+viewer.String())
	})
}
