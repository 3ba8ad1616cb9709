package browser

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/tests/process"
)

// caddyfile takes the ports of the admin endpoint, of the VNC addresses and of the site, and more
// workstations.
const caddyfile = `{
	admin 127.0.0.1:%[1]d
	persist_config off
	skip_install_trust
	grace_period 3s
	gatehouse {
		key ops {
			secret {env.BROWSER_OPS}
			scopes chat:write models:read activity:read workstations:connect workstations:manage keys:manage limits:read providers:read mcp:call recordings:read recordings:manage
			mcp demo
			mcp away
		}
		key reader {
			secret {env.BROWSER_READER}
			scopes models:read
		}
		key desks {
			secret {env.BROWSER_DESKS}
			scopes workstations:connect workstations:automate
		}
		provider test {
			dialect test
		}
		mcp demo {
			demo
		}
		mcp away {
			url http://127.0.0.1:9/mcp
		}
		runtime_keys {
			scopes chat:write models:read activity:read
			max 100
		}
		vnc {
			domain vnc.localhost
			port %[2]d
			automation control
			workstation demo {
				test_card
			}
%[4]s		}
	}
	layer4 {
		127.0.0.1:%[2]d {
			route {
				vnc
			}
		}
	}
}

http://127.0.0.1:%[3]d {
	bind 127.0.0.1
	gatehouse_health
	gatehouse_console
	gatehouse
}
`

// site is a gateway with its console.
type site struct {
	process *process.Process
	dir     string
	scheme  string            // of its URLs
	host    string            // of its URLs
	secrets map[string]string // of its keys, by their names
	file    string            // the text of its Caddyfile
	admin   int               // port
}

var (
	sitesLock sync.Mutex
	sites     []*site
	shared    = sync.OnceValues(func() (*site, error) { return startSite("", nil, nil) })
	filled    sync.Once
)

// sharedSite is the gateway of the tests that change nothing that others see.
func sharedSite(t *testing.T) *site {
	t.Helper()
	s, err := shared()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// demoSite is that gateway after calls of all kinds.
func demoSite(t *testing.T) *site {
	t.Helper()
	s := sharedSite(t)
	filled.Do(func() { s.demo(t) })
	return s
}

// ownSite is a gateway for one test, with workstations and variables of its own.
func ownSite(t *testing.T, workstations string, env ...string) *site {
	t.Helper()
	s, err := startSite(workstations, env, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.process.Stop)
	return s
}

// startSite starts a gateway. Fill, if it is not nil, puts something into its data directory before.
func startSite(workstations string, env []string, fill func(dir string) error) (*site, error) {
	dir, err := os.MkdirTemp("", "gatehouse-browser-")
	if err != nil {
		return nil, err
	}
	ports, err := process.FreePorts(3)
	if err != nil {
		return nil, err
	}
	s := &site{dir: dir, scheme: "http", host: fmt.Sprintf("127.0.0.1:%d", ports[2]), admin: ports[0], secrets: map[string]string{}}
	for _, name := range []string{"ops", "reader", "desks"} {
		s.secrets[name] = process.Secret()
		env = append(env, "BROWSER_"+strings.ToUpper(name)+"="+s.secrets[name])
	}
	sitesLock.Lock()
	sites = append(sites, s)
	sitesLock.Unlock()
	if fill != nil {
		if err := fill(filepath.Join(dir, "data", "caddy", "gatehouse")); err != nil {
			return nil, err
		}
	}
	s.file = fmt.Sprintf(caddyfile, ports[0], ports[1], ports[2], workstations)
	s.process, err = process.StartCaddy(context.Background(), *caddy, dir, s.file, env, s.ready)
	return s, err
}

// stopSites ends all gateways and removes their data.
func stopSites() {
	sitesLock.Lock()
	defer sitesLock.Unlock()
	for _, s := range sites {
		if s.process != nil {
			s.process.Stop()
		}
		_ = os.RemoveAll(s.dir)
	}
}

func (s *site) ready() error {
	answer, err := http.Get(s.url("/readyz"))
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("/readyz: %s", answer.Status)
	}
	return nil
}

func (s *site) url(path string) string { return s.scheme + "://" + s.host + path }

// call asks the API as the key ops, and fails the test if the answer is no success.
func (s *site) call(t *testing.T, method, path string, body, into any) {
	t.Helper()
	var sent bytes.Buffer
	if body != nil {
		if err := json.NewEncoder(&sent).Encode(body); err != nil {
			t.Fatal(err)
		}
	}
	const timeout = 20 * time.Second
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, s.url(path), &sent)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+s.secrets["ops"])
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode >= 300 {
		t.Fatalf("%s %s: %s %s (%v)", method, path, answer.Status, text, err)
	}
	if into != nil {
		if err := json.Unmarshal(text, into); err != nil {
			t.Fatal(err)
		}
	}
}

// change is the Caddyfile with one text in place of another.
func (s *site) change(t *testing.T, from, to string) string {
	t.Helper()
	if strings.Count(s.file, from) != 1 {
		t.Fatalf("the Caddyfile does not have %q once", from)
	}
	return strings.Replace(s.file, from, to, 1)
}

// reload gives the gateway another Caddyfile.
func (s *site) reload(t *testing.T, file string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, fmt.Sprintf("http://127.0.0.1:%d/load", s.admin), strings.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "text/caddyfile")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if text, _ := io.ReadAll(answer.Body); answer.StatusCode != http.StatusOK {
		t.Fatalf("the reload failed: %s %s", answer.Status, text)
	}
	s.file = file
}

// log is what the gateway has written.
func (s *site) log(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(s.dir, "caddy.log"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
