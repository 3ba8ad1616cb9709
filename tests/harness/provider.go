package harness

import (
	"context"
	"net"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/faults"
)

// Provider is the fake provider behind a gateway.
type Provider struct {
	t      *testing.T
	Origin string
	Fake   *faults.Provider // what it received, and what it does next
}

func newProvider(t *testing.T) *Provider {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Provider{t, "http://" + listener.Addr().String(), faults.New()}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- p.Fake.Serve(ctx, listener) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error("the fake provider:", err)
		}
	})
	return p
}

// Request is the newest request that the provider received, once there are n.
func (p *Provider) Request(n int) faults.Request {
	p.t.Helper()
	list := p.Wait(func(list []faults.Request) bool { return len(list) >= n })
	return list[len(list)-1]
}

// Wait waits until done returns true for the provider's record.
func (p *Provider) Wait(done func([]faults.Request) bool) []faults.Request {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), WaitLimit)
	defer cancel()
	list, err := p.Fake.Wait(ctx, done)
	if err != nil {
		p.t.Fatalf("the provider's record did not get there: %d requests: %+v", len(list), list)
	}
	return list
}
