//go:build unix

// Command core uses a Caddy that was built with caddymodule/core alone: what the two specifications
// ask for is there, and a block of a feature is refused with the path that has it.
//
//	go run ./tests/core -caddy .cache/caddy-core -python .cache/venv/bin/python [-results FILE]
//
// With -features, it builds the core with one feature after the other by -mkcaddy, and starts each
// with the feature's smallest configuration; -python is not needed then.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gatehouse-proxy/gatehouse/tests/process"
)

func main() {
	python := flag.String("python", "", "a Python with the SDK of OpenAI")
	mkcaddy := flag.String("mkcaddy", "", "the program that builds a Caddy; with it, each feature is built alone")
	process.Main("core", "features", func(ctx context.Context, o process.Options) (bool, error) {
		dir, err := os.MkdirTemp("", "gatehouse-core-")
		if err != nil {
			return false, err
		}
		defer os.RemoveAll(dir)
		began, result := time.Now(), process.NewResult("core")
		if *mkcaddy != "" {
			for _, f := range features {
				if o.Only.MatchString(f.name) {
					result.Check("a build with the core and "+f.name, f.try(ctx, *mkcaddy, filepath.Join(dir, f.name)))
				}
			}
		} else if err = use(ctx, o.Caddy, *python, dir, result); err != nil {
			return false, err
		}
		result.Took = time.Since(began)
		fmt.Println(result.Details())
		return result.Failed == 0, result.Report(o.Results)
	})
}
