package provider

import (
	"context"
	"net"
	"syscall"
	"testing"
)

func TestAConnectionBoundsWhatIsNotAcknowledged(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	dial := ReadToEnd(new(net.Dialer).DialContext)
	conn, err := dial(context.Background(), "tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	raw, err := conn.(*connection).Conn.(*net.TCPConn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	got := 0
	if err := raw.Control(func(fd uintptr) { got, err = syscall.GetsockoptInt(int(fd), syscall.IPPROTO_TCP, tcpUserTimeout) }); err != nil || got != 60_000 {
		t.Errorf("%d ms, %v", got, err)
	}
	if err := boundUnacknowledged(new(net.UnixConn), unacknowledged); err != nil {
		t.Errorf("of another network: %v", err)
	}
}
