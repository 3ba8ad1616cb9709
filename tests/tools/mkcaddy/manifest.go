package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/caddyserver/xcaddy"
)

// readManifest decodes a builder. A field that xcaddy does not know is an error, so that a typing
// error cannot quietly build something else.
func readManifest(path string) (xcaddy.Builder, error) {
	f, err := os.Open(path)
	if err != nil {
		return xcaddy.Builder{}, err
	}
	defer f.Close()
	var b xcaddy.Builder
	dec := json.NewDecoder(f)
	dec.DisallowUnknownFields()
	if err := dec.Decode(&b); err != nil {
		return xcaddy.Builder{}, fmt.Errorf("reading %q: %w", path, err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return xcaddy.Builder{}, fmt.Errorf("reading %q: more than one value", path)
	}
	if b.CaddyVersion == "" {
		return xcaddy.Builder{}, fmt.Errorf("reading %q: caddy_version is missing", path)
	}
	dir, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return xcaddy.Builder{}, err
	}
	for i, r := range b.Replacements {
		if local := r.New.String(); isLocal(local) {
			b.Replacements[i].New = xcaddy.ReplacementPath(filepath.Join(dir, local))
		}
	}
	return b, nil
}

// isLocal reports whether a path is relative and not a module path, as the go command decides.
func isLocal(path string) bool {
	return path == "." || path == ".." || strings.HasPrefix(path, "./") || strings.HasPrefix(path, "../")
}
