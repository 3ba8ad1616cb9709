// Command mkcaddy builds the Caddy that a manifest describes.
//
//	mkcaddy [-manifest xcaddy.json] [-o caddy] [-platform OS/ARCH] [-v]
//
// The manifest is the JSON form of [xcaddy.Builder]: Caddy's version, plugins, replacements. Local
// replacements are relative to the manifest's folder. The same source makes the same program, byte
// for byte, wherever that folder is. The program knows its commit if the source is a git work tree.
//
// A module with a local replacement need not exist anywhere else, and no proxy is asked for it.
// Published modules are downloaded first. The build itself then runs with GOPROXY=off. So it works
// behind a proxy that refuses unknown modules, and never uses another module with our name.
package main

import (
	"bytes"
	"cmp"
	"context"
	"debug/buildinfo"
	"errors"
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
	"time"

	"github.com/caddyserver/xcaddy"
)

func main() {
	manifest := flag.String("manifest", "xcaddy.json", "what to build")
	output := flag.String("o", "caddy", "the binary to write")
	platform := flag.String("platform", "", "what the binary is for, such as linux/arm64 (default: this machine)")
	verbose := flag.Bool("v", false, "show what the go command says")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *manifest, *output, *platform, *verbose); err != nil {
		fmt.Fprintln(os.Stderr, "mkcaddy:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, manifest, output, platform string, verbose bool) error {
	b, err := readManifest(manifest)
	if err != nil {
		return err
	}
	if err := stamp(ctx, &b); err != nil {
		return err
	}
	b.OS, b.Arch, _ = strings.Cut(platform, "/")
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

	// It may be for another platform, so it is read and not run.
	info, err := buildinfo.ReadFile(output)
	if err != nil {
		return err
	}
	for _, m := range info.Deps {
		if m.Path == "github.com/caddyserver/caddy/v2" {
			fmt.Printf("mkcaddy: %s is Caddy %s, %s\n", filepath.Base(output), m.Version, info.GoVersion)
		}
	}
	return nil
}

// buildOffline needs everything in the module cache. Its content was verified when it was
// downloaded, so no checksum database is asked either.
func buildOffline(ctx context.Context, b xcaddy.Builder, output string, log io.Writer) error {
	b.Env = append(os.Environ(), "GOPROXY=off", "GOSUMDB=off")
	remove, err := linkSources(&b)
	if err != nil {
		return err
	}
	return errors.Join(build(ctx, b, output, log), remove())
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
	if b.BuildFlags != "" {             // else xcaddy would leave out its own
		b.BuildFlags += " -v" // it names each package
	}
	b.OnStep = func(e *xcaddy.StepEvent) error { return progress{os.Stdout, log, time.Now}.follow(e.Output) }
	return b.Build(ctx, output)
}
