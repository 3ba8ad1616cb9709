//go:build unix && !race

package clustertest_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/tests/clustertest"
)

// waitLimit is how long a test waits for what should happen at once.
const waitLimit = 30 * time.Second

// secret is that of a key of keys.
func secret(key string) string { return "gk-proof-" + key + "-71d0e94a365f2b8c" }

// keys has one key for each limit, with its secret in the environment. All but other belong to one tenant.
var keys, environment = func() (text string, environment []string) {
	text = "runtime_keys {\nscopes chat:write models:read\n}\n"
	for _, k := range []struct{ name, scopes, options string }{
		{"plain", "chat:write models:read", ""},
		{"crowd", "chat:write models:read", "budget 0.3usd/total"},
		{"hard", "chat:write models:read", "budget 1000usd/total"},
		{"soft", "chat:write models:read", "budget 1000usd/total soft"},
		{"rated", "chat:write models:read", "rate 40/h"},
		{"gated", "chat:write models:read", "concurrency 4"},
		{"queued", "chat:write models:read", "concurrency 2 queue 50 20s"},
		{"held", "chat:write models:read", "concurrency 4\nbudget 1000usd/total"},
		{"other", "chat:write models:read activity:read", "tenant other"},
		{"reader", "activity:read", ""},
		{"manager", "keys:manage activity:read", ""},
		{"desk", "workstations:connect workstations:manage", ""},
	} {
		variable := "PROOF_KEY_" + k.name
		environment = append(environment, variable+"="+secret(k.name))
		text += "key " + k.name + " {\nsecret {env." + variable + "}\nscopes " + k.scopes + "\n" + k.options + "\n}\n"
	}
	return text, environment
}()

// proof is a cluster under test.
type proof struct {
	*clustertest.Cluster
	t      *testing.T
	random *rand.Rand // of the test alone
}

// start returns a cluster of gateways that share a Redis or Valkey and PostgreSQL.
func start(t *testing.T, gateways int) *proof {
	t.Helper()
	return startOn(t, gateways, clustertest.StartEngines(t))
}

func startOn(t *testing.T, gateways int, engines *clustertest.Engines) *proof {
	t.Helper()
	c := clustertest.Start(t, clustertest.Config{Caddy: caddy(t), Gateways: gateways, Engines: engines, Options: keys, Environment: environment})
	t.Cleanup(func() {
		if t.Failed() {
			for _, g := range c.Gateways {
				t.Logf("%s wrote:\n%s", g.Name, complaints(g.Log()))
			}
			t.Logf("the balancer wrote:\n%s", complaints(c.Balancer.Log()))
		}
	})
	return newProof(t, c)
}

func newProof(t *testing.T, c *clustertest.Cluster) *proof {
	return &proof{c, t, rand.New(rand.NewPCG(*seedFlag, 1))}
}

// complaints are the last lines of a log that are above INFO.
func complaints(text string) string {
	const lines = 25
	var all []string
	for line := range strings.Lines(text) {
		if !slices.ContainsFunc(usual, func(text string) bool { return strings.Contains(line, text) }) {
			all = append(all, line)
		}
	}
	return strings.Join(all[max(0, len(all)-lines):], "")
}

// usual are texts of lines that say nothing here.
var usual = []string{`"level":"info"`, "without a valid key", "is not formatted", "requires TLS", "discover is off", `"code":"gone"`, `"msg":"call"`}

// at is a client of gateway i, counted from 0.
func (p *proof) at(i int, key string) clustertest.Client {
	return clustertest.Client{Origin: p.Gateways[i].Origin, Key: secret(key)}
}

// balanced is a client of the balancer.
func (p *proof) balanced(key string) clustertest.Client {
	return clustertest.Client{Origin: p.Balancer.Origin, Key: secret(key)}
}

const chatPath = "/v1/chat/completions"

// do makes a call that must be answered, with any status.
func (p *proof) do(c clustertest.Client, method, path, body string) clustertest.Answer {
	p.t.Helper()
	a, err := c.Do(p.t.Context(), method, path, body)
	if err != nil {
		p.t.Fatalf("%s %s: %v", method, path, err)
	}
	return a
}

// chat makes a call of a model.
func (p *proof) chat(c clustertest.Client, model string) clustertest.Answer {
	p.t.Helper()
	return p.do(c, "POST", chatPath, clustertest.Chat(model, "", `,"max_tokens":100`))
}

// want is do with the status that it must have.
func (p *proof) want(status int, c clustertest.Client, method, path, body string) clustertest.Answer {
	p.t.Helper()
	a := p.do(c, method, path, body)
	if a.Status != status {
		p.t.Fatalf("%s %s: %s, want %d", method, path, a, status)
	}
	return a
}

// soon waits until check returns nil.
func (p *proof) soon(what string, check func() error) {
	p.t.Helper()
	p.within(waitLimit, what, check)
}

// within is soon with a bound of its own, and returns how long it took.
func (p *proof) within(limit time.Duration, what string, check func() error) time.Duration {
	p.t.Helper()
	began := time.Now()
	if err := clustertest.Eventually(p.t.Context(), limit, check); err != nil {
		p.t.Fatalf("%s: %v after %v", what, err, limit)
	}
	return time.Since(began)
}

// tally counts answers: "200", "429 rate_limit_exceeded", "error …".
type tally struct {
	mu      sync.Mutex
	counts  map[string]int
	slowest time.Duration
}

func (c *tally) add(a clustertest.Answer, err error) (what string) {
	what = fmt.Sprint(a.Status)
	if err != nil {
		what = "error " + err.Error()
	} else if code := a.Code(); code != "" {
		what += " " + code
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.counts == nil {
		c.counts = make(map[string]int)
	}
	c.counts[what]++
	c.slowest = max(c.slowest, a.Took)
	return what
}

// of is how many there were.
func (c *tally) of(what string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.counts[what]
}

func (c *tally) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []string
	for _, what := range slices.Sorted(maps.Keys(c.counts)) {
		all = append(all, fmt.Sprintf("%s: %d", what, c.counts[what]))
	}
	return strings.Join(all, ", ") + fmt.Sprintf("; the slowest took %v", c.slowest.Round(time.Millisecond))
}

// only reports whether all answers are of these kinds.
func (c *tally) only(kinds ...string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for what := range c.counts {
		if !slices.Contains(kinds, what) {
			return false
		}
	}
	return true
}

// load is calls that go on until its end.
type load struct {
	tally
	over    chan struct{}
	workers sync.WaitGroup
}

// load begins workers that call one after another. call makes the n-th call.
func (p *proof) load(workers int, call func(n int) (clustertest.Answer, error)) *load {
	l := &load{over: make(chan struct{})}
	var n atomic.Int64
	for range workers {
		l.workers.Go(func() {
			for {
				select {
				case <-l.over:
					return
				default:
					l.add(call(int(n.Add(1) - 1)))
				}
			}
		})
	}
	return l
}

// stop ends the load and returns its answers.
func (l *load) stop() *tally {
	close(l.over)
	l.workers.Wait()
	return &l.tally
}

// calls makes n calls, workers at a time.
func (p *proof) calls(n, workers int, call func(n int) (clustertest.Answer, error)) *tally {
	var counts tally
	var next atomic.Int64
	var all sync.WaitGroup
	for range workers {
		all.Go(func() {
			for {
				i := int(next.Add(1) - 1)
				if i >= n {
					return
				}
				counts.add(call(i))
			}
		})
	}
	all.Wait()
	return &counts
}

// errReserved says that something is reserved.
var errReserved = errors.New("something is reserved")

// containsAll reports whether text has all these texts.
func containsAll(text string, all ...string) bool {
	return !slices.ContainsFunc(all, func(one string) bool { return !strings.Contains(text, one) })
}

// quick is a call of a metered model, at the gateways in turn.
func (p *proof) quick(key string) func(n int) (clustertest.Answer, error) {
	return p.call(key, "metered/quick")
}

func (p *proof) call(key, model string) func(n int) (clustertest.Answer, error) {
	body := clustertest.Chat(model, key, `,"max_tokens":100`)
	return func(n int) (clustertest.Answer, error) {
		return p.at(n%len(p.Gateways), key).Do(p.t.Context(), "POST", chatPath, body)
	}
}
