package browser

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
)

// The flags have the places of a checkout after .ci/suites has installed everything.
var (
	caddy    = flag.String("caddy", "../../caddy", "the gateway")
	chromium = flag.String("chromium", "chromium", "the browser of all tests")
	firefox  = flag.String("firefox", "firefox-esr", "the browser of those tests that run in each")
	packages = flag.String("packages", "../../.cache/browser-node/node_modules", "the folder of axe-core and noVNC, as npm has installed them")
	manyrows = flag.String("manyrows", "../../.cache/manyrows", "the program that makes the data of a month")
	keep     = flag.String("keep", "", "write screenshots of all pages into this folder")
)

// chrome is the one Chromium of all tests. Each tab has its own cookies.
var chrome context.Context

func TestMain(m *testing.M) {
	flag.Parse()
	code, err := runAll(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "browser:", err)
		code = 1
	}
	os.Exit(code)
}

func runAll(m *testing.M) (code int, err error) {
	program, err := exec.LookPath(*chromium)
	if err != nil {
		return 1, err
	}
	if *caddy, err = filepath.Abs(*caddy); err != nil {
		return 1, err
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(program),
		chromedp.NoSandbox, // Chromium has none for root
		chromedp.Flag("lang", "en"),
		chromedp.Flag("ignore-certificate-errors", true), // Caddy's own authority
	)
	allocator, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	defer cancel()
	browser, stop := chromedp.NewContext(allocator)
	defer stop()
	if err := chromedp.Do(browser); err != nil {
		return 1, fmt.Errorf("starting %s: %w", program, err)
	}
	chrome = browser
	defer stopSites()
	defer stopFirefox()
	return m.Run(), nil
}
