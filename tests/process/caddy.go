//go:build unix

package process

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

const (
	// readyTimeout is how long a gateway may take until it is ready.
	readyTimeout = 30 * time.Second
	// pollInterval is the pause between two attempts of a check.
	pollInterval = 50 * time.Millisecond
)

var errEnded = errors.New("it has ended")

// StartCaddy runs the gateway with this Caddyfile and this environment besides its own. Its
// Caddyfile, log and data are in dir. It returns when ready returns nil; if that takes too long, it
// shows the log and returns the last error.
func StartCaddy(ctx context.Context, caddy, dir, caddyfile string, env []string, ready func() error) (*Process, error) {
	file := filepath.Join(dir, "Caddyfile")
	if err := os.WriteFile(file, []byte(caddyfile), 0o600); err != nil {
		return nil, err
	}
	cmd := exec.Command(caddy, "run", "--config", file, "--adapter", "caddyfile")
	cmd.Env = append(os.Environ(), "XDG_DATA_HOME="+filepath.Join(dir, "data"), "XDG_CONFIG_HOME="+filepath.Join(dir, "config"))
	cmd.Env = append(cmd.Env, env...)
	p, err := Start(cmd, filepath.Join(dir, "caddy.log"))
	if err != nil {
		return nil, fmt.Errorf("starting the gateway: %w", err)
	}
	starting, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case <-p.Exited:
			cancel(errEnded)
		case <-starting.Done():
		}
	}()
	if err := Eventually(starting, readyTimeout, ready); err != nil {
		p.ShowLog(os.Stderr)
		p.Stop()
		if errors.Is(context.Cause(starting), errEnded) {
			err = errEnded
		}
		return nil, fmt.Errorf("the gateway is not ready: %w", err)
	}
	return p, nil
}

// RootCA is the file with the root certificate of a gateway that StartCaddy has started in dir.
func RootCA(dir string) string {
	return filepath.Join(dir, "data", "caddy", "pki", "authorities", "local", "root.crt")
}

// Secret returns a new gateway key.
func Secret() string { return "gh-" + rand.Text() + rand.Text() }

// Eventually calls check until it returns nil, and returns its last error after the timeout or the
// end of ctx.
func Eventually(ctx context.Context, timeout time.Duration, check func() error) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	for {
		err := check()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(pollInterval):
		}
	}
}
