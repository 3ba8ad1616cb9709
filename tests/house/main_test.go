// Package house tests what the repository is made of, and starts no gateway: the shape of the code,
// and whether the documentation, its Caddyfiles and the files for deployment are true.
package house

import (
	"fmt"
	"os"
	"testing"

	"github.com/caddyserver/caddy/v2"
	_ "github.com/caddyserver/caddy/v2/modules/standard"
	_ "github.com/mholt/caddy-l4/modules/l4proxyprotocol" // a build with xcaddy has all of caddy-l4

	_ "github.com/gatehouse-proxy/gatehouse/caddymodule"
)

// TestMain keeps what Caddy writes while it validates a Caddyfile out of the user's home.
func TestMain(m *testing.M) {
	home, err := os.MkdirTemp("", "gatehouse-house-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	for _, name := range []string{"XDG_DATA_HOME", "XDG_CONFIG_HOME"} {
		os.Setenv(name, home)
	}
	caddy.DefaultStorage.Path = caddy.AppDataDir()
	code := m.Run()
	os.RemoveAll(home)
	os.Exit(code)
}
