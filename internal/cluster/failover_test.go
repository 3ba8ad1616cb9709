package cluster_test

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/cluster"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/enginetest"
	"github.com/gatehouse-proxy/gatehouse/internal/valkey"
)

// chargeText counts a charge once, under its ID.
//
//	ARGV  ID
const chargeText = `
if redis.call('SADD', T .. 'charges', ARGV[4]) == 1 then
	redis.call('INCR', T .. 'spent')
end
return redis.call('GET', T .. 'spent')`

var (
	charge      = cluster.NewScript("charge", "local no = lease() or fence()\nif no then return no end\n"+chargeText)
	chargeAgain = cluster.NewScript("charge again", "local no = lease()\nif no then return no end\n"+chargeText)
)

// payer is a node that charges, and remembers what it has charged.
type payer struct {
	*cluster.Node
	engine *valkey.Client

	mu      sync.Mutex
	charged []string
	replays int
}

func newPayer(t *testing.T, name string, engine valkey.Config) *payer {
	t.Helper()
	p := &payer{engine: valkey.New(engine)}
	p.Node = cluster.New(cluster.Config{Name: "prod", Node: name, Engine: p.engine, Logger: zap.NewNop(), Lease: 3 * time.Second, Beat: 200 * time.Millisecond})
	p.Join(cluster.Part{Name: "payer", Replay: func(ctx context.Context, _ bool) error {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.replays++
		for _, id := range p.charged {
			if _, err := p.Run(ctx, chargeAgain, id); err != nil {
				return err
			}
		}
		return nil
	}})
	if err := p.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Stop(); p.engine.Close() })
	return p
}

// pay makes charges. A charge whose effect is unknown counts: the replay makes it.
func (p *payer) pay(ctx context.Context, n int) error {
	for range n {
		id := p.ID() + "/" + strconv.Itoa(len(p.charged))
		_, err := p.Run(ctx, charge, id)
		if err == nil || errors.Is(err, valkey.ErrUnavailable) && !errors.Is(err, valkey.ErrNotDone) {
			p.mu.Lock()
			p.charged = append(p.charged, id)
			p.mu.Unlock()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// payAgain waits until charges work again.
func (p *payer) payAgain(t *testing.T) {
	t.Helper()
	within(t, 20*time.Second, "node "+p.ID()+" can charge", func() bool { return p.pay(t.Context(), 1) == nil })
}

// spent fails the test unless the engine has counted each charge of the nodes once.
func spent(t *testing.T, payers ...*payer) {
	t.Helper()
	want := 0
	for _, p := range payers {
		want += len(p.charged)
	}
	reply, err := payers[0].engine.Do(t.Context(), "GET", payers[0].Key("spent"))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := reply.ToString(); err != nil || got != strconv.Itoa(want) {
		t.Errorf("spent %s, want %d (%v)", got, want, err)
	}
}

func TestAFailoverThatLosesWritesLosesNoCharge(t *testing.T) {
	t.Parallel()
	master := enginetest.Redis(t)
	link := enginetest.NewProxy(t, master.Addr)
	replica := enginetest.Replica(t, link.Addr)
	config := valkey.Config{Sentinel: enginetest.MasterName}
	sentinels := enginetest.Sentinels(t, master)
	for _, s := range sentinels {
		config.Addresses = append(config.Addresses, s.Addr)
	}
	a, b := newPayer(t, "a", config), newPayer(t, "b", config)
	for _, p := range []*payer{a, b} {
		if err := p.pay(t.Context(), 20); err != nil {
			t.Fatal(err)
		}
	}
	replica.Wait(t, "GET {gh:prod}spent", "40")
	link.Hold()
	for _, p := range []*payer{a, b} {
		if err := p.pay(t.Context(), 30); err != nil {
			t.Fatal(err)
		}
	}
	master.Kill()
	killed := time.Now()
	link.Cut()
	if answer, err := replica.Ask("GET {gh:prod}spent"); err != nil || answer != "$2\r\n40\r\n" {
		t.Fatalf("the replica has everything: %q, %v", answer, err)
	}
	a.payAgain(t)
	b.payAgain(t)
	t.Logf("charges go on %v after the master was killed", time.Since(killed).Round(time.Millisecond))
	spent(t, a, b)

	// The old master comes back as a replica, and is promoted again.
	master.MustStart(t)
	master.Wait(t, "REPLICAOF 127.0.0.1 "+strconv.Itoa(replica.Port()), "OK")
	master.Wait(t, "INFO replication", "master_link_status:up")
	master.Wait(t, "GET {gh:prod}spent", strconv.Itoa(len(a.charged)+len(b.charged)))
	sentinels[0].Wait(t, "SENTINEL FAILOVER "+enginetest.MasterName, "OK")
	master.Wait(t, "INFO replication", "role:master")
	// Until the other one is told that it is a replica it counts charges, which are made again.
	for _, p := range []*payer{a, b} {
		within(t, 20*time.Second, "two replays", func() bool {
			_ = p.pay(t.Context(), 1)
			p.mu.Lock()
			defer p.mu.Unlock()
			return p.replays >= 2
		})
		p.payAgain(t)
	}
	spent(t, a, b)
}

func TestAnEngineThatCrashesBeforeItSyncsLosesNoCharge(t *testing.T) {
	t.Parallel()
	e := enginetest.Redis(t, "appendonly", "yes", "appendfsync", "everysec")
	a := newPayer(t, "a", at(e))
	if err := a.pay(t.Context(), 100); err != nil {
		t.Fatal(err)
	}
	e.Kill()
	e.MustStart(t)
	a.payAgain(t)
	spent(t, a)
}

func TestAPausedEngineIsNotWaitedForAndNothingIsCountedTwice(t *testing.T) {
	t.Parallel()
	e := enginetest.Redis(t)
	a, b := newPayer(t, "a", at(e)), newPayer(t, "b", at(e))
	if err := e.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(2 * time.Second); time.Now().Before(end); {
		start := time.Now()
		if a.pay(t.Context(), 1) == nil {
			t.Fatal("a stopped engine answers")
		}
		if took := time.Since(start); took > 1200*time.Millisecond {
			t.Errorf("a call waited for %v", took)
		}
		if errors.Is(a.pay(t.Context(), 1), valkey.ErrNotDone) {
			<-time.After(10 * time.Millisecond)
		}
	}
	if err := e.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	a.payAgain(t)
	b.payAgain(t)
	// A charge whose answer was lost is repeated under its ID.
	for _, id := range a.charged {
		if _, err := a.Run(t.Context(), charge, id); err != nil {
			t.Error(err)
		}
	}
	spent(t, a, b)
}

func TestAMasterWithoutReplicasRefusesCharges(t *testing.T) {
	t.Parallel()
	master := enginetest.Redis(t, "min-replicas-max-lag", "2")
	link := enginetest.NewProxy(t, master.Addr)
	enginetest.Replica(t, link.Addr)
	master.Wait(t, "CONFIG SET min-replicas-to-write 1", "OK")
	a := newPayer(t, "a", at(master))
	a.payAgain(t)
	link.Hold()
	within(t, 5*time.Second, "the master refuses", func() bool { return errors.Is(a.pay(t.Context(), 1), valkey.ErrNotDone) })
	link.Pass()
	a.payAgain(t)
	spent(t, a)
}

func TestANodeThatIsCutOffIsReapedOnceAndComesBack(t *testing.T) {
	t.Parallel()
	e := enginetest.Redis(t)
	link := enginetest.NewProxy(t, e.Addr)
	cut := join(t, "cut", valkey.Config{Addresses: []string{link.Addr}}, nil)
	b, c := join(t, "b", at(e), nil), join(t, "c", at(e), nil)
	link.Hold()
	within(t, 10*lease, "it is reaped", func() bool { return b.has("reap cut.1") || c.has("reap cut.1") })
	link.Pass()
	within(t, 10*time.Second, "it is back", func() bool { return cut.has("rejoin") && cut.ok(t.Context()) == nil })
	if n := b.count("reap cut.1") + c.count("reap cut.1"); n != 1 || cut.ID() != "cut.2" {
		t.Errorf("reaped %d times, now %s", n, cut.ID())
	}
}

func TestNodesUseAClusterByOneTag(t *testing.T) {
	t.Parallel()
	var config valkey.Config
	for _, e := range enginetest.Masters(t) {
		config.Addresses = append(config.Addresses, e.Addr)
	}
	heard := make(chan string, 1)
	a, b := newMember(t, "a", config, nil), join(t, "b", config, nil)
	a.On("free", func(text string) { heard <- text })
	if err := a.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	whole(t, a, b)
	if err := b.Publish(t.Context(), "free", "m1"); err != nil {
		t.Fatal(err)
	}
	select {
	case <-heard:
	case <-time.After(5 * time.Second):
		t.Error("no event")
	}
	within(t, 5*time.Second, "the engine is known", func() bool { return a.Status().Server.Cluster })
	b.engine.Close()
	within(t, 10*lease, "a dead node is reaped", func() bool { return a.has("reap b.1") })
}
