// Package tests tests Gatehouse from outside: it boots the real Caddy with the real modules in
// front of a fake provider, and checks what a client, a provider and an operator see.
//
// Caddy exists once per process, so no test here is parallel.
package tests

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

// homeEnv is set if HOME is one of the tests' own.
const homeEnv = "GATEHOUSE_TEST_HOME"

// TestMain runs the tests in a process with its own home: Caddy's packages read HOME and XDG_*
// while they are initialised, before any test could set them.
func TestMain(m *testing.M) {
	_, command := commands[filepath.Base(os.Args[0])]
	if command || os.Getenv(homeEnv) != "" {
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
	child.Env = append(os.Environ(), homeEnv+"="+home, "HOME="+home,
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
