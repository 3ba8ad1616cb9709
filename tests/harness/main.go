// Package harness boots the real Caddy with the real modules in front of a fake provider, and has what
// tests need to call it as clients, providers, viewers and operators do.
//
// Caddy exists once per process: a package that uses the harness runs its tests one after the other,
// and packages run side by side. Each has its own home, and each test its own folder and ports.
package harness

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	caddycmd "github.com/caddyserver/caddy/v2/cmd"

	"github.com/rogpeppe/go-internal/testscript"
)

// commands are the programs that the test binary plays when it is called by their name (testscript
// and child processes do).
var commands = map[string]func(){"caddy": caddycmd.Main}

// HomeEnv is set if HOME is one of the tests' own.
const HomeEnv = "GATEHOUSE_TEST_HOME"

// Main is the TestMain of each package. It runs the tests in a process with its own home: Caddy's
// packages read HOME and XDG_* while they are initialised, before any test could set them.
func Main(m *testing.M) {
	_, command := commands[filepath.Base(os.Args[0])]
	if command || os.Getenv(HomeEnv) != "" {
		testscript.Main(m, commands) // does not return
	}
	os.Exit(runAtHome())
}

func runAtHome() int {
	home, err := os.MkdirTemp("", "gatehouse-tests-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(home) }()
	self, err := os.Executable()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	child := exec.Command(self, os.Args[1:]...)
	child.Env = append(os.Environ(), HomeEnv+"="+home, "HOME="+home,
		"XDG_DATA_HOME="+home+"/data", "XDG_CONFIG_HOME="+home+"/config", "XDG_CACHE_HOME="+home+"/cache")
	child.Stdin, child.Stdout, child.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := child.Run(); err != nil {
		if child.ProcessState == nil {
			fmt.Fprintln(os.Stderr, err)
		}
		return 1
	}
	return 0
}
