package l4vnc

import (
	"crypto/tls"
	"net"
	"testing"

	"github.com/mholt/caddy-l4/layer4"
	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/rfb"
)

// proxied is a connection behind a load balancer, as caddy-l4's proxy_protocol hands it over.
type proxied struct{ net.Conn }

func (p proxied) Raw() net.Conn { return p.Conn }

func TestTheSocketIsFoundBelowEveryWrapper(t *testing.T) {
	socket, other := net.Pipe()
	defer func() { _ = socket.Close(); _ = other.Close() }()
	for name, conn := range map[string]net.Conn{
		"alone":             socket,
		"as handed over":    layer4.WrapConnection(socket, nil, zap.NewNop()),
		"VeNCrypt":          tls.Server(rfb.Replay(layer4.WrapConnection(socket, nil, zap.NewNop()), nil), nil),
		"an earlier tls":    layer4.WrapConnection(tls.Server(layer4.WrapConnection(socket, nil, zap.NewNop()), nil), nil, zap.NewNop()),
		"a PROXY header":    layer4.WrapConnection(proxied{layer4.WrapConnection(socket, nil, zap.NewNop())}, nil, zap.NewNop()),
		"that and VeNCrypt": tls.Server(proxied{socket}, nil),
	} {
		if got := transport(conn); got != socket {
			t.Errorf("%s: %T", name, got)
		}
	}
}
