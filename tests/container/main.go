//go:build linux

// Command container builds the image of docs/deploy/Containerfile with podman, by the very commands
// in that file, and uses it: a configuration is checked, calls are made, the container is stopped
// and started again.
//
//	go run ./tests/container -caddy ./caddy [-results FILE]
//
// Images and containers are in a temporary folder, which is removed at the end. A podman that is
// not installed fails: there is no skipping.
package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/gatehouse-proxy/gatehouse/tests/process"
)

func main() {
	process.Main("container", "nothing", func(ctx context.Context, o process.Options) (bool, error) {
		ctx, cancel := context.WithTimeout(ctx, 4*time.Minute)
		defer cancel()
		began, result := time.Now(), process.NewResult("container podman")
		err := run(ctx, o.Caddy, result)
		result.Took = time.Since(began)
		if err != nil || result.Failed > 0 {
			fmt.Println(result.Details())
		}
		if reported := result.Report(o.Results); err == nil {
			err = reported
		}
		return result.Failed == 0, err
	})
}

func run(ctx context.Context, caddy string, r *process.Result) error {
	if _, err := exec.LookPath("podman"); err != nil {
		r.Missing("podman is not installed")
		return nil
	}
	dir, err := os.MkdirTemp("", "gatehouse-container-")
	if err != nil {
		return err
	}
	p, err := newPodman(dir)
	if err != nil {
		return err
	}
	defer p.remove() //nolint:contextcheck // also after an interrupt
	file, err := readContainerfile("docs/deploy/Containerfile")
	if err != nil {
		return err
	}
	// The commands run where the checkout would be, with the Caddyfile of a user.
	repository, err := os.Getwd()
	if err == nil {
		caddy, err = filepath.Abs(caddy)
	}
	for name, to := range map[string]string{"docs": filepath.Join(repository, "docs"), "caddy": caddy} {
		if err == nil {
			err = os.Symlink(to, filepath.Join(p.dir, name))
		}
	}
	if err == nil {
		//nolint:gosec // the user of the image reads it
		err = os.WriteFile(filepath.Join(p.dir, "Caddyfile"), []byte(caddyfile), 0o644)
	}
	if err != nil {
		return err
	}
	check(ctx, p, file, r)
	return ctx.Err()
}
