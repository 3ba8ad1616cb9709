package vnclocal

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
)

func TestAListenerTakesOneViewer(t *testing.T) {
	l, err := Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	viewer, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer viewer.Close()
	conn, err := l.Accept(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if conn.RemoteAddr().String() != viewer.LocalAddr().String() {
		t.Errorf("it took %v, want %v", conn.RemoteAddr(), viewer.LocalAddr())
	}
	if second, err := net.Dial("tcp", l.Addr().String()); err == nil {
		second.Close()
		t.Error("it listens for another viewer")
	}
}

func TestAListenerEndsWithItsContext(t *testing.T) {
	l, err := Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("the viewer has ended")
	cancel(why)
	if _, err := l.Accept(ctx); !errors.Is(err, why) {
		t.Errorf("%v", err)
	}
}

func TestAListenerIsOnTheLoopbackInterface(t *testing.T) {
	for _, address := range []string{"", "5901", ":5901", "0.0.0.0:0", "192.0.2.1:5901", "localhost:5901", "[::1]:0"} {
		if l, err := Listen(address); err == nil || !strings.Contains(err.Error(), "not on the loopback interface") {
			t.Errorf("%q: %v, %v", address, l, err)
		}
	}
}
