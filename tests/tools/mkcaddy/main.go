// Command mkcaddy builds the Caddy that a manifest describes.
//
//	mkcaddy [-manifest xcaddy.json] [-o caddy] [-v]
//
// The manifest is the JSON form of [xcaddy.Builder]: Caddy's version, plugins, replacements. Local
// replacements are relative to the manifest's folder.
//
// A module with a local replacement need not exist anywhere else, and no proxy is asked for it.
// Published modules are downloaded first. The build itself then runs with GOPROXY=off. So it works
// behind a proxy that refuses unknown modules, and never uses another module with our name.
package main

import (
	"bytes"
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/caddyserver/xcaddy"
)

func main() {
	manifest := flag.String("manifest", "xcaddy.json", "what to build")
	output := flag.String("o", "caddy", "the binary to write")
	verbose := flag.Bool("v", false, "show what the go command says")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *manifest, *output, *verbose); err != nil {
		fmt.Fprintln(os.Stderr, "mkcaddy:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, manifest, output string, verbose bool) error {
	b, err := readManifest(manifest)
	if err != nil {
		return err
	}
	var quiet bytes.Buffer
	log := io.Writer(&quiet)
	if verbose {
		log = os.Stderr
	}

	// With a warm module cache the first attempt is enough.
	if buildOffline(ctx, b, output, log) != nil && ctx.Err() == nil {
		fmt.Println("mkcaddy: downloading modules")
		quiet.Reset()
		if err = download(ctx, b, log); err == nil {
			err = buildOffline(ctx, b, output, log)
		}
	}
	if err = cmp.Or(ctx.Err(), err); err != nil {
		_, _ = os.Stderr.Write(quiet.Bytes())
		return err
	}

	abs, err := filepath.Abs(output)
	if err != nil {
		return err
	}
	version, err := exec.CommandContext(ctx, abs, "version").Output()
	if err != nil {
		return fmt.Errorf("running %q: %w", output, err)
	}
	fmt.Printf("mkcaddy: %s is %s", filepath.Base(output), version)
	return nil
}

// buildOffline needs everything in the module cache. Its content was verified when it was
// downloaded, so no checksum database is asked either.
func buildOffline(ctx context.Context, b xcaddy.Builder, output string, log io.Writer) error {
	b.Env = append(os.Environ(), "GOPROXY=off", "GOSUMDB=off")
	return build(ctx, b, output, log)
}

// download fills the module cache: with the dependencies of each module that a folder replaces, and
// with those of Caddy and the published plugins.
func download(ctx context.Context, b xcaddy.Builder, log io.Writer) error {
	for _, r := range b.Replacements {
		dir := r.New.String()
		if !filepath.IsAbs(dir) {
			continue
		}
		cmd := exec.CommandContext(ctx, "go", "mod", "download")
		cmd.Dir, cmd.Stdout, cmd.Stderr = dir, log, log
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("downloading the dependencies of %q: %w", r.Old.String(), err)
		}
	}
	b.Plugins = slices.DeleteFunc(slices.Clone(b.Plugins), func(p xcaddy.Dependency) bool {
		return slices.ContainsFunc(b.Replacements, func(r xcaddy.Replace) bool {
			return filepath.IsAbs(r.New.String()) && within(p.PackagePath, r.Old.String())
		})
	})
	b.Replacements = slices.DeleteFunc(slices.Clone(b.Replacements), func(r xcaddy.Replace) bool {
		return filepath.IsAbs(r.New.String())
	})
	b.SkipBuild = true
	return build(ctx, b, os.DevNull, log)
}

func within(pkg, module string) bool {
	return pkg == module || strings.HasPrefix(pkg, module+"/")
}

func build(ctx context.Context, b xcaddy.Builder, output string, log io.Writer) error {
	b.Plugins = slices.Clone(b.Plugins) // Build rewrites them
	b.OnStep = func(e *xcaddy.StepEvent) error {
		_, err := io.Copy(log, e.Output)
		return err
	}
	return b.Build(ctx, output)
}
