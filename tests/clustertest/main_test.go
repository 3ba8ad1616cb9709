//go:build unix && !race

package clustertest_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	_ "github.com/caddyserver/caddy/v2/modules/standard"
	_ "github.com/mholt/caddy-l4/modules/l4proxy" // the balancer of viewers

	_ "github.com/gatehouse-proxy/gatehouse/caddymodule"
)

var (
	caddyFlag = flag.String("caddy", "", "the gateway; without one, this program plays it")
	longFlag  = flag.Bool("long", false, "run the long tests too")
	seedFlag  = flag.Uint64("seed", 1, "of what happens by chance")
)

// playsCaddy is the name under which this program is the gateway.
const playsCaddy = "caddy"

func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == playsCaddy {
		caddycmd.Main()
		return
	}
	flag.Parse()
	if skip := flag.Lookup("test.skip"); !*longFlag && skip.Value.String() == "" {
		_ = skip.Value.Set("^TestLong")
	}
	os.Exit(m.Run())
}

// caddy returns the program that is the gateway.
func caddy(t *testing.T) string {
	t.Helper()
	if *caddyFlag != "" {
		path, err := filepath.Abs(*caddyFlag)
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), playsCaddy)
	if err := os.Symlink(self, link); err != nil {
		t.Fatal(err)
	}
	return link
}
